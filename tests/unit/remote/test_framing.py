"""What stands between the frame's marks is the result; sudo is answered, and a script is never typed as a password."""

import stat
import subprocess
from pathlib import Path

import pytest

from rollout.errors import PrivilegeRefused, Unreachable
from rollout.remote.framing import COMMAND, Become, Conversation
from rollout.remote.local import LocalTransport
from rollout.settings import Connection, Host, Secret

# A sudo that behaves as sudo(8) says for -n, -S and -p, and writes down what it was given.
SUDO = """#!/bin/sh
echo "sudo: unable to resolve host db1: Temporary failure in name resolution" >&2
printf '%s\\n' "$*" >>"$SUDO_LOG"
prompt= ; silent=
while [ "$1" != -- ]; do case $1 in -n) silent=1;; -p) prompt=$2; shift;; -u) shift;; esac; shift; done
shift
if [ "$SUDO_PASSWORD" ]; then
  if [ "$silent" ]; then echo "sudo: a password is required" >&2; exit 1; fi
  for try in 1 2 3; do
    printf %s "$prompt" >&2
    IFS= read -r given || { echo "sudo: no password was provided" >&2; exit 1; }
    printf 'typed %s\\n' "$given" >>"$SUDO_LOG"
    if [ "$given" = "$SUDO_PASSWORD" ]; then exec "$@"; fi
    echo "Sorry, try again." >&2
  done
  exit 1
fi
exec "$@"
"""


class SudoHost:
    """This machine, seen through a `sudo` of the test's own that leads to the user `dba`."""

    def __init__(self, folder: Path, needs: str) -> None:
        (folder / "sudo").write_text(SUDO)
        (folder / "sudo").chmod(stat.S_IRWXU)
        self.log = folder / "log"
        self.environment = {"PATH": f"{folder}:/usr/bin:/bin", "SUDO_LOG": str(self.log), "SUDO_PASSWORD": needs}

    def transport(self, password: str | None, user: str = "dba") -> LocalTransport:
        """Return a way that raises its rights with `password`."""
        secret = Secret(password) if password is not None else None
        connection = Connection(kind="local", become=True, become_user=user, become_password=secret)
        return LocalTransport(Host("db1", connection), environment=self.environment)


def test_sudo_without_a_password_asks_nothing(tmp_path: Path) -> None:
    """The noise that sudo makes is in neither stream, and the input is the script's own."""
    host = SudoHost(tmp_path, "")
    result = host.transport(None).run("cat; echo oops >&2", b"data\x00\xff")
    assert (result.stdout, result.stderr) == (b"data\x00\xff", b"oops\n")
    assert host.log.read_text().startswith("-n -H -u dba -- /bin/sh -c ")


def test_sudo_with_a_password_is_answered_once_and_out_of_sight(tmp_path: Path) -> None:
    """The password goes to sudo's input when sudo asks, and stands on no command line."""
    host = SudoHost(tmp_path, "let me'in")
    result = host.transport("let me'in").run("cat; echo oops >&2", b"data\x00\xff")
    assert (result.stdout, result.stderr) == (b"data\x00\xff", b"oops\n")
    command, typed = host.log.read_text().splitlines()
    assert typed == "typed let me'in"
    assert "let me" not in command


def test_a_password_that_is_not_needed_is_not_given(tmp_path: Path) -> None:
    """Where sudo does not ask, the password never leaves this machine, nor does the script read it as input."""
    host = SudoHost(tmp_path, "")
    assert host.transport("secret").run("cat", b"data").stdout == b"data"
    assert "secret" not in host.log.read_text()


def test_a_wrong_password_is_tried_once(tmp_path: Path) -> None:
    """Sudo's second question gets no answer: no account is locked, and no line of a script is typed as a password."""
    host = SudoHost(tmp_path, "right")
    with pytest.raises(PrivilegeRefused, match="db1: sudo refused the password") as caught:
        host.transport("wrong").run("echo planted-line")
    assert "wrong" not in str(caught.value)
    assert [line for line in host.log.read_text().splitlines() if line.startswith("typed")] == ["typed wrong"]


def test_a_password_that_is_missing_is_asked_for_in_the_message(tmp_path: Path) -> None:
    """What sudo said is quoted, with what to do."""
    host = SudoHost(tmp_path, "right")
    with pytest.raises(PrivilegeRefused) as caught:
        host.transport(None).run("true")
    assert "sudo did not start a shell as dba" in str(caught.value)
    assert "sudo: a password is required" in str(caught.value)
    assert "ansible_become_password" in str(caught.value)


def test_a_host_without_sudo_says_so(tmp_path: Path) -> None:
    """An absent sudo is a refusal, not a result."""
    host = SudoHost(tmp_path, "")
    (tmp_path / "sudo").unlink()
    host.environment["PATH"] = str(tmp_path)
    with pytest.raises(PrivilegeRefused, match="sudo: not found"):
        host.transport(None).run("true")


def test_who_is_the_wanted_user_already_needs_no_sudo(tmp_path: Path) -> None:
    """Nothing is added for a user who is there already, nor for a script that needs no rights."""
    host = SudoHost(tmp_path, "right")
    me = host.transport(None).run("id -un", privileged=False).text.strip()
    assert host.transport(None, user=me).run("echo here").stdout == b"here\n"
    assert not host.log.exists()


def test_the_command_line_is_the_same_for_all_scripts_and_shells() -> None:
    """It holds no character that csh, fish or a POSIX shell would read differently inside single quotes."""
    inside = COMMAND.removeprefix("/bin/sh -c '").removesuffix("'")
    assert not set("'\\!\n") & set(inside)


def begun(conversation: Conversation) -> None:
    """Let a conversation hear the begin marks, cut in two as a network may cut them."""
    mark = conversation.mark.encode()
    conversation.hear(b"Welcome!\n" + mark[:5], b"")
    conversation.hear(mark[5:] + b".begin.", mark + b".begin.")


def test_noise_before_the_frame_is_not_in_the_result() -> None:
    """Banners and profiles that print reach neither stream; marks may arrive in pieces."""
    conversation = Conversation("db1", "true", b"", None)
    begun(conversation)
    mark = conversation.mark.encode()
    conversation.hear(b"out" + mark + b".end.", b"err" + mark + b".end.3.")
    assert not conversation.ended
    conversation.hear(b"3.", b"bye from .bash_logout")
    assert conversation.ended
    result = conversation.result(1.0)
    assert (result.exit_status, result.stdout, result.stderr) == (3, b"out", b"err")


def test_a_script_cannot_end_its_own_frame() -> None:
    """Output that looks like a mark of another run is output."""
    conversation = Conversation("db1", "true", b"", None)
    other = Conversation("db1", "true", b"", None).mark.encode()
    begun(conversation)
    conversation.hear(other + b".end.0.", b"")
    assert not conversation.ended


def test_a_way_that_breaks_says_whether_the_script_had_begun() -> None:
    """Before the begin mark nothing ran; after it the host has to be looked at again."""
    conversation = Conversation("db1", "true", b"", None)
    assert "before the script had started; the host said nothing" in str(conversation.broken("the connection was lost"))
    begun(conversation)
    assert "while a script was running" in str(conversation.broken("the connection was lost"))


def test_a_login_shell_that_runs_nothing_is_quoted() -> None:
    """The host's own words stand in the error, made safe."""
    conversation = Conversation("db1", "true", b"", None)
    conversation.hear(b"This account is \x1b[1mnot available.\n", b"")
    said = str(conversation.broken("the connection was lost"))
    assert r"the host said: This account is \x1b[1mnot available." in said


def test_an_end_without_a_beginning_is_no_result() -> None:
    """The outer shell's status alone never passes for the script's."""
    conversation = Conversation("db1", "true", b"", None)
    mark = conversation.mark.encode()
    conversation.hear(mark + b".end.127.", b"sh: not found\n" + mark + b".end.127.")
    with pytest.raises(Unreachable, match="did not start the script; the host said: sh: not found"):
        conversation.result(0.1)


def test_half_a_script_never_runs(tmp_path: Path) -> None:
    """A way that breaks while the script is on its way leaves the host as it was."""
    made = tmp_path / "made"
    for stdin in (b"", b"input"):
        opening = Conversation("db1", f"touch {made}\necho end\n", stdin, None).opening().data
        cut = opening[: opening.index(b"echo end")]
        subprocess.run(["/bin/sh", "-c", COMMAND], input=cut, check=False, capture_output=True)
        assert not made.exists()


def test_the_password_shows_nowhere_in_a_conversation() -> None:
    """Secrets hide in every representation."""
    assert "hunter2" not in repr(Become("root", Secret("hunter2")))
