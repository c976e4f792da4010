"""One pytest item a check and host."""

from collections.abc import Iterator
from typing import Any

import pytest

from rollout.checks.model import CheckResult
from rollout.checks.registry import CHECK_IDS, REACHABLE
from rollout.pytest_plugin.looks import Looks

WARNING = "rollout_warning"  # the user property that carries a warning to the summary, from other processes too


class CheckFailed(Exception):
    """A check failed; its result says how."""

    def __init__(self, result: CheckResult) -> None:
        super().__init__(result.found)
        self.result = result


class CheckedHost(pytest.Collector):
    """The checks of one host."""

    def __init__(self, *, looks: Looks, **parts: Any) -> None:
        super().__init__(**parts)
        self.looks = looks

    def collect(self) -> Iterator["CheckItem"]:
        """Yield an item for each check, `reachable` first."""
        for check in (REACHABLE, *CHECK_IDS):
            yield CheckItem.from_parent(self, name=check, looks=self.looks)


class CheckItem(pytest.Item):
    """One check on one host; the host is probed when the first of its items runs."""

    def __init__(self, *, looks: Looks, **parts: Any) -> None:
        super().__init__(**parts)
        self.looks = looks
        self.add_marker("rollout")

    @property
    def host_name(self) -> str:
        """The host's name in the inventory."""
        return self.parent.name if self.parent else ""

    def runtest(self) -> None:
        """Pass, fail, skip, or pass with a warning, as the check says."""
        results = self.looks.results(self.host_name)
        result = results.get(self.name)
        if result is None:
            pytest.skip(f"{self.host_name} was not reached")
        if result.status == "fail":
            raise CheckFailed(result)
        if result.status == "skip":
            pytest.skip(result.found)
        if result.status == "warn":
            self.user_properties.append((WARNING, f"{self.host_name} {self.name}: {result.found}"))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Say what was expected and found, and show the evidence."""
        if not isinstance(excinfo.value, CheckFailed):
            return super().repr_failure(excinfo, style)
        result = excinfo.value.result
        cause = f"cause:    {result.cause} (rollout explain {result.cause})\n" if result.cause else ""
        return f"expected: {result.expected}\nfound:    {result.found}\n{cause}{result.evidence}"

    def reportinfo(self) -> tuple[Any, None, str]:
        """Name the item in reports."""
        return self.path, None, f"{self.host_name}: {self.name}"
