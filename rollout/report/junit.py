"""Results of checks as a JUnit file: one suite a host, one case a check.

The elements and attributes are those that Jenkins, GitLab and pytest agree on. A warning is a case that passed, with
its words in `system-out`.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rollout.checks.model import CheckResult, HostResults

# XML 1.0 has no way to write these, not even escaped.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(hosts: Iterable[HostResults], taken_at: datetime, seconds: float = 0.0) -> bytes:
    """Render the results as one UTF-8 document; `seconds` is what the whole verification took."""
    hosts = tuple(hosts)
    root = Element("testsuites", {"name": "rollout verify", **_counts([r for host in hosts for r in host.results])})
    root.set("time", f"{seconds:.3f}")
    for host in hosts:
        _suite(root, host, taken_at)
    indent(root)
    body: bytes = tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + body + b"\n"


def _counts(results: Iterable[CheckResult]) -> dict[str, str]:
    states = [result.status for result in results]
    counted = {"tests": len(states), "failures": states.count("fail"), "errors": 0}
    return {name: str(number) for name, number in counted.items()}


def _suite(root: Element, host: HostResults, taken_at: datetime) -> None:
    skipped = sum(result.status == "skip" for result in host.results)
    suite = SubElement(root, "testsuite", {"name": _clean(host.name), **_counts(host.results), "skipped": str(skipped)})
    suite.set("time", "0.000")
    suite.set("timestamp", taken_at.strftime("%Y-%m-%dT%H:%M:%S"))
    suite.set("hostname", _clean(host.name))
    for result in host.results:
        _case(suite, host.name, result)


def _case(suite: Element, host: str, result: CheckResult) -> None:
    case = SubElement(suite, "testcase", {"classname": f"rollout.{_clean(host)}", "name": result.id, "time": "0.000"})
    message = f"expected {result.expected}, found {result.found}"
    if result.status == "fail":
        failure = SubElement(case, "failure", {"message": _clean(message), "type": result.cause or result.id})
        failure.text = _clean(result.evidence)
    elif result.status == "skip":
        SubElement(case, "skipped", {"message": _clean(result.found)})
    elif result.status == "warn":
        SubElement(case, "system-out").text = _clean(f"warning: {message}\n{result.evidence}")


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
