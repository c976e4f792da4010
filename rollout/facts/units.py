"""The systemd unit of the server, and the other servers on the host."""

import re
from collections.abc import Iterator

from rollout.facts.frame import Answers, assignments, lines, read
from rollout.facts.model import EnvironmentFile, OtherServer, Preload, Unit, UnitFile
from rollout.facts.unknown import Known, Unknown, known_or

# systemd.time(7), "Parsing Time Spans", in microseconds.
_SPANS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
    "month": 2_629_800_000_000,
    "y": 31_557_600_000_000,
}
_ESCAPES = {"n": "\n", "t": "\t", "s": " ", "r": "\r"}


def parse_unit(answers: Answers) -> Known[Unit | None]:
    """Read the unit; None where systemd has none for a database server, unknown where that cannot be told."""
    if known_or(answers.text("init"), "systemd") != "systemd":
        return None
    choice = answers.text("unit-choice")
    if isinstance(choice, Unknown):
        return choice
    if not choice:
        return None
    return read(answers.text("unit"), lambda text: _unit(answers, parse_properties(text)))


def parse_properties(text: str) -> dict[str, str]:
    """Read `systemctl show`; a property that comes several times (EnvironmentFiles) keeps all its lines."""
    properties: dict[str, str] = {}
    for row in text.splitlines():
        name, equals, value = row.partition("=")
        if equals:
            properties[name] = f"{properties[name]}\n{value}" if name in properties else value
    return properties


def _unit(answers: Answers, shown: dict[str, str]) -> Unit | None:
    if shown["LoadState"] == "not-found":
        return None
    return Unit(
        id=shown["Id"],
        names=tuple(shown["Names"].split()),
        load_state=shown["LoadState"],
        active_state=shown["ActiveState"],
        sub_state=shown["SubState"],
        unit_file_state=shown["UnitFileState"],
        main_pid=int(shown["MainPID"]) or None,
        invocation_id=shown["InvocationID"],
        n_restarts=int(shown["NRestarts"]),
        need_daemon_reload=shown["NeedDaemonReload"] == "yes",
        start_monotonic_usec=int(shown["ExecMainStartTimestampMonotonic"]),
        result=shown["Result"],
        exec_main_status=int(shown["ExecMainStatus"]),
        user=shown["User"],
        timeout_start_usec=parse_span(shown["TimeoutStartUSec"]),
        timeout_stop_usec=parse_span(shown["TimeoutStopUSec"]),
        triggered_by=tuple(shown.get("TriggeredBy", "").split()),
        fragment=_unit_file(answers, shown["FragmentPath"]),
        drop_ins=tuple(_unit_file(answers, path) for path in shown["DropInPaths"].split()),
        environment=read(shown["Environment"], lambda text: assignments(split_words(text))),
        environment_files=tuple(_environment_files(answers, shown.get("EnvironmentFiles", ""))),
        properties=shown,
    )


def parse_span(text: str) -> int | None:
    """Read a time span as systemctl prints it (`15min`, `1min 30s`) into microseconds; None is infinity."""
    if text == "infinity":
        return None
    parts = re.findall(r"(\d+(?:\.\d+)?)([a-z]+)", text)
    if not parts and text != "0":
        raise ValueError(f"{text!r} is no time span")
    return round(sum(float(number) * _SPANS[unit] for number, unit in parts))


def _unit_file(answers: Answers, path: str) -> UnitFile:
    found = next((answer for answer in answers.all("unit-file") if answer.argument == path), None)
    return UnitFile(path, found.whole if found else Unknown("the probe did not read it"))


def _environment_files(answers: Answers, shown: str) -> Iterator[EnvironmentFile]:
    """Yield the EnvironmentFiles of the unit; the property tells the path and whether it may be missing."""
    read_files = {answer.argument: answer for answer in answers.all("environment-file")}
    missing = {answer.argument for answer in answers.all("no-environment-file")}
    for row in shown.splitlines():
        path, _, rest = row.partition(" (")
        optional = "ignore_errors=yes" in rest
        if path in missing:
            yield EnvironmentFile(path, optional, exists=False, preload=None, malloc_conf=None)
            continue
        text: Known[str] = read_files[path].text if path in read_files else Unknown("the probe did not read it")
        fields = read(text, lambda text: assignments(lines(text)))
        yield EnvironmentFile(
            path,
            optional,
            exists=Unknown(text.reason) if isinstance(text, Unknown) else True,
            preload=read(fields, lambda pairs: pairs.get("LD_PRELOAD")),
            malloc_conf=read(fields, lambda pairs: pairs.get("MALLOC_CONF")),
        )


def split_words(text: str) -> list[str]:
    """Split as systemd writes and reads lists of assignments.

    Words are parted by blanks; a word may be in double quotes, in single quotes, or, as newer releases print it, in
    `$'…'` with escapes. Raises ValueError where a quote is not closed. Source: systemd.syntax(7), "Quoting", and
    the shapes of `systemctl show -p Environment` from several releases.
    """
    words: list[str] = []
    word, quote, position = "", "", 0
    started = False
    while position < len(text):
        character = text[position]
        if character == "\\" and quote != "'" and position + 1 < len(text):
            word += _ESCAPES.get(text[position + 1], text[position + 1])
            started, position = True, position + 1
        elif quote:
            if character == quote[-1]:
                quote = ""
            else:
                word += character
        elif text.startswith("$'", position):
            quote, started, position = "$'", True, position + 1
        elif character in "\"'":
            quote, started = character, True
        elif character.isspace():
            if started:
                words.append(word)
            word, started = "", False
        else:
            word, started = word + character, True
        position += 1
    if quote:
        raise ValueError("a quote is not closed")
    return [*words, word] if started else words


def preloads_of(path: str, content: str) -> tuple[Preload, ...]:
    """Return each LD_PRELOAD that the Environment= lines of a unit file ask for, in their order."""
    joined = content.replace("\\\n", " ")
    values = re.findall(r"^[ \t]*Environment[ \t]*=(.*)$", joined, re.MULTILINE)
    words = [word for value in values for word in split_words(value)]
    return tuple(Preload(path, word.partition("=")[2]) for word in words if word.startswith("LD_PRELOAD="))


def parse_other_servers(answers: Answers, main_pid: int | None) -> Known[tuple[OtherServer, ...]]:
    """Read the database server processes of the host that are not the unit's main process."""

    def rows(text: str) -> tuple[OtherServer, ...]:
        found = []
        for line in lines(text):
            pid, unit, space, executable = line.split("|", 3)
            if int(pid) != main_pid:
                found.append(OtherServer(int(pid), executable, unit, container=space == "other"))
        return tuple(found)

    return read(answers.text("servers"), rows)
