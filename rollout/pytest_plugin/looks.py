"""One probe a host, however many checks ask, and however many processes pytest is spread over."""

import fcntl
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from rollout.checks.model import CheckResult
from rollout.checks.registry import unreachable
from rollout.engine.verify import verdicts
from rollout.errors import RolloutError
from rollout.facts.form import facts_from_json, facts_to_json
from rollout.facts.model import Facts
from rollout.pytest_plugin.targets import Target, Targets
from rollout.remote.pool import Done, run_on_all
from rollout.remote.probing import look_at
from rollout.settings import Host

Look = Facts | str  # the facts, or why there are none


class Looks:
    """The looks of one process. With a `shared` folder the processes of one session share theirs.

    `probes` counts what this process really asked of hosts.
    """

    def __init__(self, targets: Targets, *, shared: Path | None = None, forks: int = 20) -> None:
        self.targets = targets
        self.probes = 0
        self._shared = shared
        self._forks = forks
        self._looks: dict[str, Look] = {}
        self._results: dict[str, Mapping[str, CheckResult]] = {}

    def prefetch(self, names: Iterable[str]) -> None:
        """Look at all these hosts at once, unless other processes do their part of it."""
        missing = [name for name in names if name not in self._looks]
        if self._shared is not None or len(missing) < 2:
            return
        ended = run_on_all([self.targets.by_name[name].host for name in missing], self._probe_host, self._forks)
        for name, end in ended.items():
            self._looks[name] = end.value if isinstance(end, Done) else end.error.message

    def look(self, name: str) -> Look:
        """Return the look at a host; it is taken on the first call."""
        if name not in self._looks:
            target = self.targets.by_name[name]
            self._looks[name] = self._shared_look(target) if self._shared else self._safe_probe(target)
        return self._looks[name]

    def results(self, name: str) -> Mapping[str, CheckResult]:
        """Return the results of all checks of a host by id; of one that was not reached, that one alone."""
        if name not in self._results:
            self._results[name] = {result.id: result for result in self._check(name, self.look(name))}
        return self._results[name]

    def _check(self, name: str, look: Look) -> tuple[CheckResult, ...]:
        if isinstance(look, str):
            return unreachable(look)
        host = self.targets.by_name[name].host
        return verdicts(look, host.settings, self.targets.kinds)

    def _probe_host(self, host: Host) -> Facts:
        return self._probe(self.targets.by_name[host.name])

    def _probe(self, target: Target) -> Facts:
        self.probes += 1
        transport = target.connect()
        try:
            return look_at(transport, target.host).facts
        finally:
            transport.close()

    def _safe_probe(self, target: Target) -> Look:
        try:
            return self._probe(target)
        except RolloutError as error:
            return error.message

    def _shared_look(self, target: Target) -> Look:
        """Take the look of whichever process asked first; a lock on the host's file lets the others wait for it."""
        folder = self._shared or Path()
        file = folder / hashlib.sha256(target.host.name.encode()).hexdigest()
        with file.open("a+") as shared:
            fcntl.flock(shared, fcntl.LOCK_EX)
            shared.seek(0)
            text = shared.read()
            if text:
                return _from_text(text)
            look = self._safe_probe(target)
            shared.write(_to_text(look))
            return look


def _to_text(look: Look) -> str:
    return json.dumps({"error": look} if isinstance(look, str) else {"facts": facts_to_json(look)})


def _from_text(text: str) -> Look:
    document = json.loads(text)
    return str(document["error"]) if "error" in document else facts_from_json(document["facts"])
