"""The database server: what answers on its socket, what lies on disk, and what it says of itself."""

from rollout.facts.database import Database, number, word
from rollout.facts.frame import NOT_FOUND, Answers, assignments, lines, read
from rollout.facts.model import Server
from rollout.facts.unknown import Known, Unknown, known_or
from rollout.versions import ServerVersion, parse_server_version

DELETED = " (deleted)"
NO_BINARY = 4  # the probe's own exit status for "no mariadbd and no mysqld in any of the usual places"


def parse_server(answers: Answers, database: Database, *, down: bool) -> Server:
    """Read the server's facts; `down` means that it is known not to run."""
    variables, status = database.pairs("variables"), database.pairs("status")
    running_file = answers.text("exe", otherwise="the server does not run")
    options = read(answers.text("server-options"), lambda text: assignments(lines(text)))
    return Server(
        running=None if down else read(database.value("version", "version"), version_of),
        on_disk=_on_disk(answers),
        client=_version(answers, "client-version"),
        backup_tool=_version(answers, "backup-version"),
        version_comment=None if down else database.value("version", "comment"),
        executable=_binary(answers) if answers.first("exe") is None else read(running_file, _without_mark),
        executable_deleted=False if down else read(running_file, lambda path: path.endswith(DELETED)),
        executable_package=_owner(answers),
        capabilities=read(answers.text("capabilities", otherwise=_why_no_binary(answers)), parse_capabilities),
        datadir=_datadir(answers, variables),
        socket=None if down else word(variables, "socket"),
        port=None if down else number(variables, "port"),
        server_uid=None if down else _server_uid(variables),
        uptime_seconds=None if down else read(word(status, "Uptime"), float),
        version_option=read(options, lambda found: found.get("--version")),
        variables=variables,
        status=status,
        plugins=read(database.table("plugins"), lambda rows: tuple(sorted(row["plugin_name"] for row in rows))),
        schemas=read(database.table("schemas"), lambda rows: {row["name"]: int(row["tables"]) for row in rows}),
        xa_prepared=read(database.table("xa"), len),
        longest_transaction_seconds=None if down else _longest(database),
        login=answers.text("login", otherwise="nobody tried to log in: the server does not run"),
    )


def version_of(text: str) -> ServerVersion:
    """Read a version string that must be one."""
    version = parse_server_version(text)
    if version is None:
        raise ValueError("no version stands in it")
    return version


def parse_capabilities(text: str) -> str:
    """Read getcap's line (`/usr/sbin/mariadbd cap_ipc_lock=ep`, older ones with ` = `); empty means there are none.

    Where getcap is missing the probe looks with tar, which tells that there are some and not which.
    """
    if "SCHILY.xattr.security.capability" in text:
        return "some (seen by tar, getcap is not on this host)"
    return text.partition(" ")[2].removeprefix("= ").strip()


def _without_mark(path: str) -> str:
    return path.removesuffix(DELETED)


def _version(answers: Answers, name: str) -> Known[ServerVersion | None]:
    """Read what a program says of its version, on either stream; None where the program is not there."""
    answer = answers.first(name)
    if answer is None:
        return Unknown(f"{name}: the probe did not ask")
    version = parse_server_version(answer.printed) or parse_server_version(answer.complaint)
    if version is not None:
        return version
    if answer.status == NOT_FOUND:
        return None
    return Unknown(answer.failure if answer.status else f"no version stands in {answer.printed[:80]!r}")


def _binary(answers: Answers) -> Known[str | None]:
    """Return the server's file; None where there is none in any of the usual places."""
    answer = answers.first("server-binary")
    if answer is not None and answer.status == NO_BINARY:
        return None
    return answers.text("server-binary")


def _why_no_binary(answers: Answers) -> str:
    answer = answers.first("server-binary")
    return answer.failure if answer is not None else "the probe did not look for the server's file"


def _on_disk(answers: Answers) -> Known[ServerVersion | None]:
    binary = _binary(answers)
    if binary is None or isinstance(binary, Unknown):
        return binary
    return read(answers.text("server-version"), version_of)


def _owner(answers: Answers) -> Known[str | None]:
    """Return the package that owns the server's file; None: no package does."""
    answer = answers.first("owner")
    if answer is None:
        return Unknown(f"which package owns the server's file was not asked: {_why_no_binary(answers)}")
    nobody = ("no path found", "not owned by any package")
    if answer.status != 0 and any(words in answer.complaint + answer.printed for words in nobody):
        return None
    return read(answer.text, lambda text: text.splitlines()[0].partition(": ")[0].partition(":")[0])


def _datadir(answers: Answers, variables: Known[dict[str, str]]) -> Known[str | None]:
    """Return @@datadir; of a server that does not answer, the directory that the probe found by its option files."""
    asked = word(variables, "datadir")
    if not isinstance(asked, Unknown):
        return asked.rstrip("/")
    found = answers.first("room-datadir")
    return found.argument if found else asked


def _server_uid(variables: Known[dict[str, str]]) -> Known[str | None]:
    """Return the identity of the server, which older releases have only with the feedback plugin."""
    return read(variables, lambda fields: fields.get("server_uid") or fields.get("feedback_server_uid"))


def _longest(database: Database) -> Known[float | None]:
    longest = database.value("transactions", "longest")
    return None if known_or(longest, "") == "NULL" else read(longest, float)
