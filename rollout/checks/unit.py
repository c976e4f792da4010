"""Checks of the systemd unit, its drop-in, and what the running process still maps."""

from rollout.checks.model import Judgement, Situation, asked, first_unknown, held, not_known, skipped
from rollout.facts.model import Facts, Unit
from rollout.facts.unknown import Known, Unknown, known_or

MARKER = "# Written by rollout;"


def _unit(situation: Situation, expected: str) -> Unit | Judgement:
    """Return the unit, or the judgement where there is none to look at."""
    unit = situation.after.unit
    if isinstance(unit, Unknown):
        return not_known(expected, unit)
    return unit or Judgement("fail", expected, "systemd knows no unit of a database server here")


def _shown(unit: Unit, name: str, value: object) -> str:
    return asked(f"systemctl show {unit.id} --property={name}", f"{name}={value}")


def drop_in_content(situation: Situation) -> Judgement:
    """Hold our drop-in on the host against what was rendered, byte for byte."""
    wanted = situation.expected.drop_in
    if wanted is None:
        return skipped("no drop-in of ours is asked for", "nothing of ours is needed here")
    expected = f"{wanted.path} as rendered"
    unit = _unit(situation, expected)
    if isinstance(unit, Judgement):
        return unit
    there = next((file for file in unit.drop_ins if file.path == wanted.path), None)
    if there is None:
        read = "\n".join(file.path for file in unit.drop_ins) or "(none)"
        return Judgement(
            "fail",
            expected,
            "it is not among the unit's drop-ins",
            _shown(unit, "DropInPaths", read),
            "drop_in_missing",
        )
    if isinstance(there.content, Unknown):
        return not_known(expected, there.content)
    cause = "drop_in_edited" if there.content.startswith(MARKER) else "drop_in_foreign"
    same = there.content == wanted.content
    found = "as rendered" if same else "another content"
    return held(same, expected, found, asked(f"cat {wanted.path}", there.content), cause)


def unit_active(situation: Situation) -> Judgement:
    """Hold the unit's state against the wanted one."""
    expected = "active (running)" if situation.expected.active else "stopped, as before"
    unit = _unit(situation, expected)
    if isinstance(unit, Judgement):
        return unit
    found = f"{unit.active_state} ({unit.sub_state})"
    evidence = _shown(unit, "ActiveState,SubState,Result", f"{found}, Result={unit.result}")
    holds = (unit.active_state == "active") == situation.expected.active
    return held(holds, expected, found, evidence, "unit_failed" if unit.active_state == "failed" else "")


def unit_restarts(situation: Situation) -> Judgement:
    """Hold systemd's own count of restarts after crashes against zero (or the count before)."""
    expected = "NRestarts=0"
    unit = _unit(situation, expected)
    if isinstance(unit, Judgement):
        return unit
    return held(
        unit.n_restarts == 0, expected, f"NRestarts={unit.n_restarts}", _shown(unit, "NRestarts", unit.n_restarts)
    )


def daemon_reload(situation: Situation) -> Judgement:
    """See that systemd has read the unit's files as they are on disk."""
    expected = "no daemon-reload is pending"
    unit = _unit(situation, expected)
    if isinstance(unit, Judgement):
        return unit
    answer = "yes" if unit.need_daemon_reload else "no"
    evidence = _shown(unit, "NeedDaemonReload", answer)
    return held(not unit.need_daemon_reload, expected, f"NeedDaemonReload={answer}", evidence)


def one_invocation(situation: Situation) -> Judgement:
    """Count the starts of the unit since the facts before."""
    wanted = situation.expected.invocations
    if wanted is None or situation.before is None:
        return skipped("no number of starts is asked for", "nothing to count from")
    expected = f"{wanted} new start{'s' * (wanted != 1)} of the unit"
    unit, earlier = _unit(situation, expected), situation.before.unit
    if isinstance(unit, Judgement):
        return unit
    if isinstance(earlier, Unknown):
        return not_known(expected, earlier)
    first = earlier.invocation_id if earlier else ""
    if unit.invocation_id == first:
        return held(wanted == 0, expected, "the same invocation as before", _shown(unit, "InvocationID", first))
    starts, since = situation.after.trail.invocations, starts_since(situation.before, situation.after)
    if isinstance(starts, Unknown) or isinstance(since, Unknown):
        return not_known(expected, Unknown("the starts of the unit cannot be counted"), "warn")
    evidence = asked(f"journalctl --unit={unit.id} --output=json --output-fields=INVOCATION_ID", "\n".join(starts))
    return held(since == wanted, expected, f"{since} since {first or 'it was stopped'}", evidence)


def starts_since(before: Facts, after: Facts) -> Known[int]:
    """Count the starts of the unit between two looks at a host, by its journal."""
    starts, earlier, unit = after.trail.invocations, before.unit, after.unit
    for value in (starts, earlier, unit):
        if isinstance(value, Unknown):
            return value
    first = earlier.invocation_id if isinstance(earlier, Unit) else ""
    if isinstance(unit, Unit) and unit.invocation_id == first:
        return 0
    rows = known_or(starts, ())
    return len(rows[rows.index(first) + 1 :] if first in rows else rows)


def deleted_mappings(situation: Situation) -> Judgement:
    """See that the server runs from files that are still on disk."""
    expected = "nothing that the server maps was replaced on disk"
    server, mapped = situation.after.server, situation.after.allocator.mapped
    if server.running is None:
        return skipped(expected, "the server does not run")
    unknown = first_unknown(server.executable_deleted, mapped)
    if unknown is not None:
        return not_known(expected, unknown)
    gone = [entry.path for entry in known_or(mapped, ()) if entry.deleted]
    cause = "library_replaced" if gone else "restart_pending"
    if known_or(server.executable_deleted, False):
        gone.append(str(server.executable))
    evidence = asked("ls -l /proc/MainPID/exe; grep '(deleted)' /proc/MainPID/maps", "\n".join(gone) or "(none)")
    return held(not gone, expected, f"replaced: {', '.join(gone)}" if gone else "none was", evidence, cause)
