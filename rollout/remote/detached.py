"""Scripts that go on without us: each runs once, in a transient systemd unit that survives the connection.

What a script is doing stands in files of its run directory, written and synced by the unit itself, because a transient
unit is gone after its end and after a reboot:

- `NAME.sh` the script, `NAME.log` all that it printed
- `NAME.started` its process id and the boot id, made before its first line runs and never made twice
- `NAME.rc` its exit status, made after its last

Starting is safe to repeat, by anybody and at any time: a name that was started is never started again, so a lost
answer is met by asking again. To run something a second time, give it a second name.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from shlex import quote

from rollout.errors import Unreachable, WrongState
from rollout.remote.transport import Result, Transport

# What is short is not waited for in vain, what is long is asked after less and less often: at a tenth of its age.
SHORTEST_POLL_SECONDS, LONGEST_POLL_SECONDS = 0.2, 5.0
PATIENCE_SECONDS = 300.0
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")

# The unit runs this with the directory, the name and the script's file. `set -C` makes the second of two units that
# raced for one name find the mark and leave. The exit status is in the file, so the unit itself ends well.
RUNNER = """\
cd -- "$1" || exit 1
umask 077
LC_ALL=C LANGUAGE=C HOME=${HOME:-/root}; export LC_ALL LANGUAGE HOME
(set -C; echo "$$ $(cat /proc/sys/kernel/random/boot_id)" >"$2.started") 2>/dev/null || exit 0
sync -- "$2.started" "$2.sh" .
/bin/sh "./$2.sh" >>"$2.log" 2>&1 </dev/null
echo $? >"$2.rc.new"
sync -- "$2.log" "$2.rc.new"
mv -- "$2.rc.new" "$2.rc"
sync -- .
"""

# The unit is asked for before the files: it writes its exit status before it ends, so a unit that is not active any
# more and has left none did not get to its end.
LOOK = """\
active=$(systemctl show --property=ActiveState --value -- {unit}) || exit 1
if ! cd -- {directory} 2>/dev/null; then state=never-started
elif [ -e {name}.rc ]; then state=ended
else case $active in
active|activating|deactivating|reloading) state=running ;;
*) if [ -e {name}.started ]; then state=vanished; else state=never-started; fi ;;
esac; fi
"""
REPORT = """\
echo "state $state"
if [ "$state" != never-started ]; then
echo "rc $(cat {name}.rc 2>/dev/null)"
echo "started $(cat {name}.started 2>/dev/null)"
echo "boot $(cat /proc/sys/kernel/random/boot_id)"
echo log
tail -c 4000 {name}.log 2>/dev/null
fi
exit 0
"""
# systemd refuses a second unit of the same name: then somebody else has just started it, and its mark is waited for.
START = """\
if [ "$state" = never-started ]; then
umask 077
cd -- {directory} || exit 1
cat >{name}.sh.$$ || exit 1
mv -- {name}.sh.$$ {name}.sh || exit 1
said=$(systemd-run --quiet --collect --unit={unit} --property=KillMode=process -- \
/bin/sh -c {runner} sh {directory} {name} 2>&1) || \
for tries in 1 2 3 4 5 6 7 8 9 10 end; do
if [ -e {name}.started ]; then break; fi
if [ $tries = end ]; then echo "$said" >&2; exit 1; fi
sleep 1
done
state=running
if [ -e {name}.rc ]; then state=ended; fi
fi
"""


class State(Enum):
    """What a detached script is doing."""

    NEVER_STARTED = "never-started"
    RUNNING = "running"
    ENDED = "ended"
    VANISHED = "vanished"


@dataclass(frozen=True)
class Job:
    """A detached script: `unit` is unique on the host, `name` in `directory`, which exists, is absolute and root's."""

    unit: str
    directory: str
    name: str

    def __post_init__(self) -> None:
        for text in (self.unit, self.name):
            if not NAME.fullmatch(text):
                raise ValueError(f"{text!r} is no name for a unit or a file")
        if not self.directory.startswith("/"):
            raise ValueError(f"{self.directory!r} is not absolute")


@dataclass(frozen=True)
class Progress:
    """What was found of a job. `exit_status` is None before the end, `process_id` before the first line ran.

    `rebooted` says of a job that vanished whether the host was started anew since (else it was killed). `log` is the
    end of what it printed, 4000 bytes at most.
    """

    host: str
    state: State
    exit_status: int | None = None
    process_id: int | None = None
    rebooted: bool = False
    log: bytes = b""


def start_detached(transport: Transport, job: Job, script: str) -> Progress:
    """Start `script` as `job` unless that was done before, and say what became of it so far.

    Raises `Unreachable`, after which it may or may not have been started: call it again. Raises `CommandFailed` when
    the host has no systemd or no such directory.
    """
    words = _words(job)
    text = f"# rollout detached start\n{LOOK}{START}{REPORT}".format(
        **words, runner=quote(RUNNER.replace("$", "$$"))
    )  # systemd reads $ too
    return _progress(transport.run(text, script.encode()).check(f"starting {job.name}"))


def poll_detached(transport: Transport, job: Job) -> Progress:
    """Say what became of `job`. Raises `Unreachable`, and `CommandFailed` when systemd does not answer."""
    text = f"# rollout detached poll\n{LOOK}{REPORT}".format(**_words(job))
    return _progress(transport.run(text).check(f"asking after {job.name}"))


def wait_detached(
    transport: Transport,
    job: Job,
    *,
    timeout_seconds: float,
    patience_seconds: float = PATIENCE_SECONDS,
    on_progress: Callable[[Progress], None] | None = None,
) -> Progress:
    """Wait until `job` has ended or vanished, through broken connections of up to `patience_seconds` each.

    Raises `Unreachable` when the host stays away for longer, and `WrongState` when the job is not over after
    `timeout_seconds`; it runs on in both cases.
    """
    started = heard = time.monotonic()
    while True:
        try:
            progress = poll_detached(transport, job)
        except Unreachable:
            if time.monotonic() - heard > patience_seconds:
                raise
        else:
            heard = time.monotonic()
            if on_progress:
                on_progress(progress)
            if progress.state is not State.RUNNING:
                return progress
            if heard - started > timeout_seconds:
                raise WrongState(progress.host, f"{job.name} has not ended after {timeout_seconds:g} s; it runs on")
        age_seconds = time.monotonic() - started
        time.sleep(min(LONGEST_POLL_SECONDS, max(SHORTEST_POLL_SECONDS, age_seconds / 10)))


def _words(job: Job) -> dict[str, str]:
    return {"unit": f"{job.unit}.service", "directory": quote(job.directory), "name": job.name}


def _progress(result: Result) -> Progress:
    """Read what REPORT printed."""
    head, _, log = result.stdout.partition(b"log\n")
    said = dict(line.partition(" ")[::2] for line in head.decode().splitlines())
    process_id, _, boot = said.get("started", "").partition(" ")
    return Progress(
        host=result.host,
        state=State(said["state"]),
        exit_status=int(said["rc"]) if said.get("rc") else None,
        process_id=int(process_id) if process_id else None,
        rebooted=bool(boot) and boot != said.get("boot"),
        log=log,
    )
