"""The fake host keeps a state and fails on cue."""

import pytest

from rollout.errors import PrivilegeRefused, Unreachable
from rollout.remote.fake import Answer, Call, Cue, Failure, FakeTransport, on_call

Packages = tuple[str, ...]


def host(state: Packages, call: Call) -> tuple[Packages, Answer]:
    """Know two scripts: one that installs what its input names, and one that lists."""
    if call.marker == "# install":
        return (*state, call.stdin.decode()), Answer()
    return state, Answer(stdout=" ".join(state).encode())


def fake(cue: Cue) -> FakeTransport[Packages]:
    """Make a host with one package."""
    return FakeTransport("db1", ("dash",), host, cue=cue)


@pytest.mark.parametrize(
    ("failure", "state"),
    [
        (Failure.LOST_BEFORE, ("dash",)),
        (Failure.LOST_AFTER, ("dash", "mariadb")),
        (Failure.TIMEOUT, ("dash", "mariadb")),
    ],
)
def test_a_lost_connection_leaves_the_host_in_one_of_two_states(failure: Failure, state: Packages) -> None:
    """The caller sees the same error; only a second look tells whether the host did it."""
    transport = fake(on_call(1, failure))
    with pytest.raises(Unreachable):
        transport.run("# install\n", b"mariadb")
    assert transport.run("# list\n").stdout.decode() == " ".join(state)


def test_sudo_is_refused_for_privileged_scripts_only() -> None:
    """A script that runs as the login user needs no sudo."""
    transport = fake(lambda _: Failure.SUDO_REFUSED)
    with pytest.raises(PrivilegeRefused):
        transport.run("# list\n")
    assert transport.run("# list\n", privileged=False).stdout == b"dash"
    assert [call.privileged for call in transport.calls] == [True, False]
