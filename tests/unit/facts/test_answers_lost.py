"""Each answer of a real probe, lost or spoiled in turn: facts become unknown, and none becomes another value."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollout.facts.form import facts_to_json
from rollout.facts.frame import parse_frames
from rollout.facts.parse import parse_probe
from rollout.facts.unknown import Unknown
from rollout.resources import shipped

RAW = (shipped("inventories") / "example" / "db4" / "probe.out").read_bytes()
WHOLE = parse_probe("db4", RAW)
NAMES = list(dict.fromkeys(row.name for row in parse_frames(RAW[: RAW.rindex(b"\nreceived ")]).rows))
# What tells when the probe was sent, and the answers that hold a value only on other hosts or in other states.
NOTHING_LOST = {
    *("refusal", "safe-options", "manager-environment", "no-environment-file", "backup-version", "unattended"),
}


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield every fact by its path."""
    if is_dataclass(value) and not isinstance(value, Unknown):
        for item in fields(value):
            yield from leaves(getattr(value, item.name), f"{path}.{item.name}".lstrip("."))
    else:
        yield path, value


def with_answer(name: str, output: bytes, status: int, complaint: bytes) -> bytes:
    """Put another answer in place of every one of that name."""
    mark = re.escape(parse_frames(RAW[: RAW.rindex(b"\nreceived ")]).mark.encode())
    pattern = rb"(%s begin %s [^\n]*\n).*?(\n%s err )\d+\n.*?(\n%s end\n)" % (mark, name.encode(), mark, mark)
    frame = rb"\g<1>%s\g<2>%d" % (output, status)
    spoiled, count = re.subn(pattern, frame + rb"\n%s\g<3>" % complaint, RAW, flags=re.DOTALL)
    assert count
    return spoiled


@pytest.mark.parametrize("name", [name for name in NAMES if name != "sent"])
def test_a_command_that_is_missing_takes_only_its_own_facts(name: str) -> None:
    """What a missing program would have told is unknown with the reason; everything else is as before."""
    facts = parse_probe("db4", with_answer(name, b"", 127, b"sh: 1: %s: not found" % name.encode()))
    before = dict(leaves(WHOLE))
    changed = {path: value for path, value in leaves(facts) if value != before.get(path, "absent")}
    programs = {"server.client", "server.backup_tool", "notes", "unit"}
    wrong = {path: value for path, value in changed.items() if not isinstance(value, Unknown) and path not in programs}
    nested = ("packages.items", "unit.drop_ins", "unit.environment_files", "unit.fragment", "allocator.libraries")
    assert not {path for path in wrong if not path.startswith(nested)}
    gone = set(facts_to_json(facts)["unknown"]) - set(facts_to_json(WHOLE)["unknown"])
    assert gone or changed or name in NOTHING_LOST


@pytest.mark.parametrize("output", [b"\xff\xfe -1 -1\n" * 9, b"\t" * 99 + b"\n=: |;\n"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "sent"])
def test_an_answer_that_is_nonsense_never_breaks_the_rest(name: str, output: bytes) -> None:
    """Whatever a host prints, the parsers return facts."""
    facts = parse_probe("db4", with_answer(name, output, 0, b""))
    assert facts.host == "db4"
    facts_to_json(facts)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([name for name in NAMES if name != "sent"]), st.binary(max_size=80), st.integers(0, 255))
def test_any_bytes_as_any_answer(name: str, output: bytes, status: int) -> None:
    """No bytes of a host make the parsers raise."""
    facts_to_json(parse_probe("db4", with_answer(name, output.replace(b"\\", b"/"), status, b"no")))
