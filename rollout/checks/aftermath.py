"""Checks of what a rollout leaves behind: the log, the backup, and settings and dashboards that the fix outdates."""

import re

from rollout.checks.model import Judgement, Situation, asked, first_unknown, held, not_known, skipped
from rollout.facts.unknown import Unknown, known_or
from rollout.versions import ServerVersion, fix_status

# The fix keeps the age of a page in whole seconds, sixteen bits of them: what lies above is capped (18.2 hours).
_OLD_BLOCKS_TIME_CEILING_MS = 65_534_000
_WORKAROUND_MS = 3_600_000  # nobody means "an hour in the old sublist" save as a workaround for unpatched servers
_VARIABLES = "SHOW GLOBAL VARIABLES LIKE 'innodb_old_blocks%'"


def old_blocks(situation: Situation) -> Judgement:
    """Warn of `innodb_old_blocks_*` values that were a workaround before the fix, or make no sense after it."""
    expected = "innodb_old_blocks_time and _pct that suit the fix"
    running, pool = situation.after.server.running, situation.after.pool
    time_ms, pct = pool.old_blocks_time_ms, pool.old_blocks_pct
    if running is None:
        return skipped(expected, "the server does not run")
    unknown = first_unknown(running, time_ms, pct)
    if unknown is not None:
        return not_known(expected, unknown, "warn")
    fixed = isinstance(running, ServerVersion) and fix_status(running, None, situation.expected.releases) in (
        "present",
        "rehearsal",
    )
    found = f"time {time_ms} ms, pct {pct}"
    evidence = asked(f'mariadb --batch --execute "{_VARIABLES}"', found)
    if not fixed:
        return Judgement("skip", expected, f"{found}; this release does not carry the fix", evidence)
    milliseconds = known_or(time_ms, 0)
    if milliseconds > _OLD_BLOCKS_TIME_CEILING_MS:
        return Judgement(
            "warn", expected, f"{found}: the fix caps the time at 18.2 h", evidence, "old_blocks_workaround"
        )
    if milliseconds >= _WORKAROUND_MS:
        return Judgement("warn", expected, f"{found}: a workaround left in place", evidence, "old_blocks_workaround")
    return Judgement("pass", expected, found, evidence)


def lru_monitoring(situation: Situation) -> Judgement:
    """Warn where dashboards or statements read what the fix gives another meaning."""
    expected = "nothing watches FREE_PAGE_CLOCK or pages made young"
    if _never_fixed(situation):
        return skipped(expected, "this series has no release with the fix")
    seen = situation.after.trail.monitoring
    if isinstance(seen, Unknown):
        return not_known(expected, seen, "warn")
    words = "free_page_clock|pages_made_(not_)?young"
    evidence = asked(f"grep -rEil '{words}' rollout_monitoring_paths /etc/…; statement digests", "\n".join(seen))
    if seen:
        return Judgement("warn", expected, f"used in {len(seen)} places: {', '.join(seen[:3])}", evidence)
    if known_or(situation.after.server.variables, {}).get("performance_schema") != "ON":
        found = "statements could not be looked at (performance_schema is off): look at your dashboards and alerts"
        return Judgement("warn", expected, found, evidence)
    return Judgement("pass", expected, "in none of the files and statements looked at", evidence)


def _never_fixed(situation: Situation) -> bool:
    running = situation.after.server.running
    state = fix_status(running, None, situation.expected.releases) if isinstance(running, ServerVersion) else ""
    return state == "no_fix_in_series"


def error_log(situation: Situation) -> Judgement:
    """Look for [ERROR] lines since the server's start; those that the start before had too are only a warning."""
    expected = "no [ERROR] since the start"
    lines = situation.after.trail.error_lines
    if isinstance(lines, Unknown):
        return not_known(expected, lines, "warn")
    evidence = asked("grep -F '[ERROR]' LOG", "\n".join(lines) or "(none)")
    if not lines:
        return Judgement("pass", expected, "none", evidence)
    if situation.before is None:
        return Judgement("warn", expected, f"{len(lines)} lines, the last: {lines[-1]}", evidence)
    usual = {_words(line) for line in known_or(situation.before.trail.error_lines, ())}
    new = [line for line in lines if _words(line) not in usual]
    if new:
        return Judgement("fail", expected, f"{len(new)} that are new, the last: {new[-1]}", evidence)
    return Judgement("warn", expected, f"{len(lines)} lines, all of them known from before", evidence)


def _words(line: str) -> str:
    """Return what a line of the log says, without its time and its numbers."""
    return re.sub(r"\d+", "0", line.partition("[ERROR]")[2])


def backup(situation: Situation) -> Judgement:
    """See that this run's backup is there and prepared."""
    folder, kept = situation.expected.backup, situation.after.trail.backups
    if folder is None:
        return skipped("no backup is asked for", "nothing to look for")
    expected = f"a complete, prepared backup in {folder}"
    if isinstance(kept, Unknown):
        return not_known(expected, kept, "warn")
    this = next((one for one in kept if one.path.rstrip("/") == folder.rstrip("/")), None)
    if this is None:
        listed = "\n".join(one.path for one in kept) or "(none)"
        return Judgement("fail", expected, "it is not there", asked("ls BACKUP_DIRECTORY", listed))
    evidence = asked(f"cat {folder}/*_checkpoints", this.checkpoints or "(no such file)")
    missing = [word for word, there in (("prepared", this.prepared), ("filled", this.size_bytes > 0)) if not there]
    found = f"not {', not '.join(missing)}" if missing else f"prepared, {this.size_bytes} bytes"
    return held(not missing, expected, found, evidence)
