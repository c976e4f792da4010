"""The whole output of one probe into `Facts`."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from rollout.facts.allocator import parse_allocator
from rollout.facts.database import Database
from rollout.facts.frame import Answers, FrameProblem, lines, parse_frames, read
from rollout.facts.memory import parse_memory, parse_process_status
from rollout.facts.model import Facts, Unit
from rollout.facts.packages import parse_packages
from rollout.facts.pool import parse_pool, parse_workload
from rollout.facts.replication import parse_replication
from rollout.facts.server import parse_server
from rollout.facts.storage import parse_storage
from rollout.facts.system import parse_system
from rollout.facts.trail import parse_trail
from rollout.facts.units import parse_other_servers, parse_unit
from rollout.facts.unknown import Known, Unknown, known_or

_RECEIVED = re.compile(rb"\nreceived (\d+\.\d+)\n\Z")


def with_received(raw: bytes, received_at: datetime) -> bytes:
    """Note behind a probe's output when the controller had all of it, so that a recording keeps the clock's offset."""
    return raw + f"\nreceived {received_at.timestamp():.6f}\n".encode()


def parse_probe(host: str, raw: bytes) -> Facts:
    """Read what one probe printed, with or without the note of `with_received`.

    Raises FrameProblem when the bytes are no output of a probe or were cut off.
    """
    note = _RECEIVED.search(raw)
    received_at = datetime.fromtimestamp(float(note[1]), UTC) if note else None
    answers = parse_frames(raw[: note.start()] if note else raw)
    return _facts(host, answers, received_at)


def _facts(host: str, answers: Answers, received_at: datetime | None) -> Facts:
    database, unit = Database(answers), parse_unit(answers)
    main_pid = _main_pid(answers, unit)
    down = main_pid is None
    sent_at = read(answers.text("sent"), lambda text: datetime.fromtimestamp(float(text), UTC))
    if isinstance(sent_at, Unknown):
        raise FrameProblem(f"the probe does not tell when it was sent: {sent_at.reason}")
    return Facts(
        host=host,
        taken_at=sent_at,
        seconds=round((received_at - sent_at).total_seconds(), 3) if received_at else 0.0,
        system=parse_system(answers, received_at),
        packages=parse_packages(answers),
        unit=unit,
        other_servers=read(main_pid, lambda pid: parse_other_servers(answers, pid)),
        server=parse_server(answers, database, down=down),
        allocator=parse_allocator(answers, database, unit, down=down),
        memory=parse_memory(answers, database),
        pool=parse_pool(database),
        workload=parse_workload(answers, database),
        storage=parse_storage(answers),
        replication=parse_replication(database),
        trail=parse_trail(answers, database),
        notes=tuple(_notes(answers)),
    )


def _main_pid(answers: Answers, unit: Known[Unit | None]) -> Known[int | None]:
    """Return the server's process; None when it is known not to run."""
    if isinstance(unit, Unknown):
        return unit
    if unit is not None:
        return unit.main_pid
    if answers.first("exe") is not None:
        return read(answers.text("process-status"), lambda text: parse_process_status(text)["Pid"])
    others = parse_other_servers(answers, None)
    if isinstance(others, Unknown) or any(not other.container for other in others):
        return Unknown("a server runs here that belongs to no unit")
    return None


def _notes(answers: Answers) -> Iterator[str]:
    """Yield what a person should know of how the probe went."""
    if known_or(answers.text("user"), "") != "0":
        why = known_or(answers.text("refusal"), "") or "the login user is not root and nothing asks for root"
        yield f"the probe did not run as root, so what only root sees is unknown: {why}"
    for option in lines(known_or(answers.text("safe-options"), "")):
        if re.match("--malloc[-_]lib=", option):
            yield f"[mysqld_safe] {option[2:]} is without effect: systemd does not use mysqld_safe"
