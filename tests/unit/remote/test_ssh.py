"""The SSH transport against a real sshd: every way in which it does not work is a sentence."""

import base64
import errno
import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import fabric
import pytest
from conftest import Sshd, free_port, key, stop, tool
from paramiko.ssh_exception import NoValidConnectionsError

from rollout.errors import Unreachable
from rollout.remote.doors import Doors
from rollout.remote.known_hosts import fingerprint
from rollout.remote.pulse import Pulse
from rollout.remote.ssh import SshTransport
from rollout.settings import Secret

Connect = Callable[..., SshTransport]
FIND_SSHD = (
    """p=$$; while c=$(ps -o comm= -p $p); do case $c in sshd*) break;; esac; p=$(($(ps -o ppid= -p $p))); done"""
)


def refusal(transport: SshTransport) -> str:
    """Return the sentence with which a host cannot be reached."""
    with pytest.raises(Unreachable) as caught:
        transport.run("true")
    assert caught.value.exit_code == 1
    assert str(caught.value).startswith("db1: ")
    return str(caught.value)


def public(file: Path) -> tuple[str, str]:
    """Return type and fingerprint of a public key, as ssh-keygen tells them."""
    said = subprocess.run([tool("ssh-keygen"), "-lf", f"{file}.pub"], capture_output=True, text=True, check=True).stdout
    return file.with_suffix(".pub").read_text().split()[0], said.split()[1]


def test_one_connection_serves_all_scripts(sshd: Sshd, connect: Connect) -> None:
    """The host sees one login, whatever the number of scripts."""
    transport = connect(sshd.host)
    ports = {transport.run('echo "$SSH_CONNECTION"').text.split()[1] for _ in range(3)}
    assert len(ports) == 1


def test_nobody_listens(sshd: Sshd, connect: Connect) -> None:
    """A closed port names place, reason and what to look at."""
    port = free_port()
    said = refusal(connect(sshd.with_connection(port=port)))
    assert f"127.0.0.1 port {port}: the connection was refused: nothing listens there" in said


def test_nobody_answers(sshd: Sshd, connect: Connect) -> None:
    """A host that is down is given up after the connect time-out."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        port = silent.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):  # fills the queue: the kernel drops what comes after
            started = time.monotonic()
            said = refusal(connect(sshd.with_connection(port=port, connect_timeout_seconds=0.5)))
    assert f"127.0.0.1 port {port}: no answer within 0.5 s" in said
    assert time.monotonic() - started < 4


def no_way(_connection: object) -> None:
    """Fail as paramiko does where the network says at once that it knows no way."""
    raise NoValidConnectionsError({("127.0.0.1", 22): OSError(errno.EHOSTUNREACH, "No route to host")})


def test_a_cable_that_is_out_for_a_moment(sshd: Sshd, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """No way to the host is asked for again as long as an answer would be waited for, and told only then."""
    opened, tries = fabric.Connection.open, iter([no_way, no_way])

    def opening(one: fabric.Connection) -> None:
        next(tries, opened)(one)

    monkeypatch.setattr("fabric.Connection.open", opening)
    assert connect(sshd.with_connection(connect_timeout_seconds=5.0)).run("echo in").stdout == b"in\n"
    monkeypatch.setattr("fabric.Connection.open", no_way)
    started = time.monotonic()
    said = refusal(connect(sshd.with_connection(connect_timeout_seconds=0.5)))
    assert "no way there: No route to host" in said
    assert 0.1 < time.monotonic() - started < 4


def test_a_name_that_does_not_exist(sshd: Sshd, connect: Connect) -> None:
    """An unknown name is told from a host that is down."""
    assert "db9.invalid port" in refusal(connect(sshd.with_connection(address="db9.invalid")))
    assert "the name cannot be resolved" in refusal(connect(sshd.with_connection(address="db9.invalid")))


def test_a_key_that_the_host_does_not_know(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """A refused login names the user and every key that was tried."""
    stranger = key(tmp_path / "stranger")
    said = refusal(connect(sshd.with_connection(private_key_file=stranger, user="root")))
    assert f"the login of root was refused (tried: {stranger}" in said


def test_a_key_file_that_is_not_there(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """A missing key file is named as missing."""
    said = refusal(connect(sshd.with_connection(private_key_file=tmp_path / "gone")))
    assert f"These key files are not there: {tmp_path / 'gone'}" in said


def test_an_unknown_host_key_is_refused_with_its_fingerprint(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """Nobody is trusted on first sight; the fingerprint is the one that ssh-keygen shows on the host."""
    kind, print_of_host = public(sshd.folder / "host_key")
    said = refusal(connect(sshd.with_connection(known_hosts_file=tmp_path / "empty")))
    assert f"shows a host key that is not known: {kind} {print_of_host}" in said
    assert f"ssh-keyscan -p {sshd.port} 127.0.0.1 >> {tmp_path / 'empty'}" in said
    assert not (tmp_path / "empty").exists()


def test_a_changed_host_key_is_fatal_even_when_new_ones_are_accepted(
    sshd: Sshd, connect: Connect, tmp_path: Path
) -> None:
    """Both fingerprints and the line of the known one are named."""
    kind, shown = public(sshd.folder / "host_key")
    _, known = public(key(tmp_path / "other"))
    line = f"[127.0.0.1]:{sshd.port} {' '.join((tmp_path / 'other.pub').read_text().split()[:2])}\n"
    (tmp_path / "known").write_text(f"# ours\n{line}")
    for policy in ("strict", "accept-new"):
        changed = sshd.with_connection(known_hosts_file=tmp_path / "known", host_key_policy=policy)
        said = refusal(connect(changed))
        assert f"shows ANOTHER HOST KEY than the known one: {kind} {shown}" in said
        assert f"{tmp_path / 'known'}:2 has {kind} {known}" in said
    assert (tmp_path / "known").read_text() == f"# ours\n{line}"


def test_a_new_host_key_is_accepted_only_when_asked_and_never_silently(
    sshd: Sshd, connect: Connect, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The key is written down as ssh would, it is said aloud, and from then on it is the known one."""
    known = tmp_path / "new" / "known_hosts"
    with caplog.at_level(logging.WARNING, logger="rollout"):
        connect(sshd.with_connection(known_hosts_file=known, host_key_policy="accept-new")).run("true")
    assert caplog.messages == [
        f"db1: new host key accepted and written to {known}: {' '.join(public(sshd.folder / 'host_key'))}"
    ]
    assert known.read_text() == (sshd.folder / "known_hosts").read_text()
    assert connect(sshd.with_connection(known_hosts_file=known)).run("echo in").stdout == b"in\n"


def test_a_revoked_host_key_is_refused(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """A line with @revoked wins over one that trusts the same key."""
    trusted = (sshd.folder / "known_hosts").read_text()
    (tmp_path / "known").write_text(f"{trusted}@revoked * {' '.join(trusted.split()[1:])}\n")
    said = refusal(connect(sshd.with_connection(known_hosts_file=tmp_path / "known")))
    assert "which known_hosts marks as revoked" in said


def test_a_host_with_several_keys_is_asked_for_the_known_one(
    make_sshd: Callable[..., Sshd], connect: Connect, tmp_path: Path
) -> None:
    """An sshd that would rather show another of its keys is not taken for a changed one."""
    ecdsa = key(tmp_path / "ecdsa", "ecdsa")
    server = make_sshd(f"HostKey {ecdsa}")
    line = f"[127.0.0.1]:{server.port} {' '.join(ecdsa.with_suffix('.pub').read_text().split()[:2])}\n"
    (tmp_path / "known").write_text(line)
    assert connect(server.with_connection(known_hosts_file=tmp_path / "known")).run("echo in").stdout == b"in\n"


def test_noise_of_login_shell_and_banner_is_not_in_the_result(
    make_sshd: Callable[..., Sshd], connect: Connect, tmp_path: Path
) -> None:
    """What a profile prints before and after reaches neither stream."""
    (tmp_path / "banner").write_text("AUTHORISED USE ONLY\n")
    noisy = (
        "echo hello; echo 'setlocale: LC_ALL: cannot change locale' >&2; /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"; echo bye"
    )
    server = make_sshd(f"ForceCommand {noisy}", f"Banner {tmp_path / 'banner'}")
    result = connect(server.host).run("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_status) == (b"out\n", b"err\n", 3)


@pytest.mark.parametrize("shell", ["fish", "tcsh", "bash", "dash"])
def test_any_login_shell_will_do(make_sshd: Callable[..., Sshd], connect: Connect, shell: str) -> None:
    """The one command that a login shell gets reads the same to shells that are no POSIX shells."""
    server = make_sshd(f'ForceCommand {tool(shell)} -c "$SSH_ORIGINAL_COMMAND"')
    script = "printf '%s|' 'it'\"'\"'s' '$HOME' '!!' '\\\\' \"`echo t`\"; cat; exit 3"
    result = connect(server.host).run(script, b"in\x00\xff")
    assert (result.stdout, result.exit_status) == (b"it's|$HOME|!!|\\\\|t|in\x00\xff", 3)


def test_a_login_that_may_run_nothing_is_quoted(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """The words of a nologin shell stand in the error."""
    server = make_sshd("ForceCommand echo This account is currently not available.; exit 1")
    assert "the host said: This account is currently not available." in refusal(connect(server.host))


def test_an_sshd_that_is_gone_is_noticed_and_logged_in_to_again(
    make_sshd: Callable[..., Sshd], connect: Connect
) -> None:
    """A connection that was found dead between two scripts is made again."""
    server = make_sshd()
    transport = connect(server.host)
    session = int(transport.run(f"{FIND_SSHD}; echo $p").text)
    os.kill(session, signal.SIGKILL)  # the sshd process of this connection, as a reboot would end it
    assert transport.run("echo again").stdout == b"again\n"


def test_a_connection_that_breaks_under_a_script_is_unreachable_at_once(
    make_sshd: Callable[..., Sshd], connect: Connect
) -> None:
    """The error says that the script had begun."""
    transport = connect(make_sshd().host)
    started = time.monotonic()
    with pytest.raises(Unreachable) as caught:
        transport.run(f"{FIND_SSHD}; sleep 0.3; kill -9 $p; sleep 5")
    assert "the connection was lost while a script was running" in str(caught.value)
    assert time.monotonic() - started < 3


def test_a_host_that_falls_silent_is_noticed(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """A connection that is open and dead is closed by the missing pulse, long before the script's time is over."""
    server = make_sshd()
    transport = connect(server.host)
    session = int(transport.run(f"{FIND_SSHD}; echo $p").text)
    login = transport._login
    assert login is not None
    Pulse(login.transport, pulse_seconds=0.2, dead_seconds=0.5)
    threading.Timer(0.5, os.kill, (session, signal.SIGSTOP)).start()
    started = time.monotonic()
    with pytest.raises(Unreachable, match="the connection was lost while a script was running"):
        transport.run("echo begun; sleep 20", timeout_seconds=20)
    assert time.monotonic() - started < 5
    os.kill(session, signal.SIGCONT)


def test_a_living_host_keeps_its_connection(sshd: Sshd, connect: Connect) -> None:
    """An sshd that answers is left alone by the pulse."""
    transport = connect(sshd.host)
    transport.run("true")
    login = transport._login
    assert login is not None
    Pulse(login.transport, pulse_seconds=0.05, dead_seconds=0.5)
    assert transport.run("sleep 0.6; echo here").stdout == b"here\n"


def test_a_busy_sshd_is_asked_again(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """Logins that MaxStartups turns away are tried again until they are in; no host is marked failed for it."""
    server = make_sshd("MaxStartups 1:100:1")
    transports = [connect(server.host) for _ in range(8)]
    answers: list[bytes] = []
    threads = [threading.Thread(target=lambda way=way: answers.append(way.run("echo in").stdout)) for way in transports]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [b"in\n"] * 8
    assert (
        "drop connection" in (server.folder / "log").read_text() or "MaxStartups" in (server.folder / "log").read_text()
    )


def test_an_sshd_that_allows_one_session(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """Scripts one after the other need one session; with one that hangs, the next says what is in its way."""
    transport = connect(make_sshd("MaxSessions 1").host)
    assert [transport.run("echo in").stdout for _ in range(10)] == [b"in\n"] * 10
    with pytest.raises(Unreachable, match="no end within"):
        transport.run("sleep 8", timeout_seconds=0.3)
    with pytest.raises(Unreachable, match="sshd opened no session"):
        transport.run("echo in")


def test_a_key_in_an_agent_opens_the_host(
    sshd: Sshd, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that only the agent holds is tried, unless ssh_config says to keep to the files."""
    agent = subprocess.Popen([tool("ssh-agent"), "-D", "-a", str(tmp_path / "agent")], stdout=subprocess.DEVNULL)
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
        for _ in range(50):
            add = [tool("ssh-add"), "-q", str(sshd.folder / "user_key")]
            if subprocess.run(add, check=False, capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        by_agent = sshd.with_connection(private_key_file=tmp_path / "gone")
        assert connect(by_agent).run("echo in").stdout == b"in\n"
        (tmp_path / "config").write_text("IdentitiesOnly yes\n")
        by_files = sshd.with_connection(private_key_file=tmp_path / "gone", ssh_config_file=tmp_path / "config")
        assert "was refused" in refusal(connect(by_files))
    finally:
        agent.terminate()
        agent.wait(5)


def test_a_key_with_a_passphrase(sshd: Sshd, connect: Connect, tmp_path: Path) -> None:
    """It opens the host with the passphrase, and without it the error says what is missing."""
    locked = Path(shutil.copy(sshd.folder / "user_key", tmp_path / "locked"))
    subprocess.run([tool("ssh-keygen"), "-q", "-p", "-P", "", "-N", "open sesame", "-f", str(locked)], check=True)
    with_it = sshd.with_connection(private_key_file=locked, private_key_passphrase=Secret("open sesame"))
    assert connect(with_it).run("echo in").stdout == b"in\n"
    assert "A key is encrypted: load it into an agent" in refusal(
        connect(sshd.with_connection(private_key_file=locked))
    )


def test_the_agent_is_not_forwarded(sshd: Sshd, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """No host sees our agent, and no terminal is asked for."""
    monkeypatch.setenv("SSH_AUTH_SOCK", str(sshd.folder / "agent"))
    result = connect(sshd.host).run('echo "agent=$SSH_AUTH_SOCK"; tty; ps -o tty= -p $$')
    assert result.text.split() == ["agent=", "not", "a", "tty", "?"]


def test_the_script_stands_on_no_command_line(sshd: Sshd, connect: Connect) -> None:
    """Neither the script nor its input can be seen in the list of processes."""
    planted = secrets.token_hex(8)
    result = connect(sshd.host).run(f"# {planted}\ncat >/dev/null; ps -ww -e -o args=", planted.encode())
    assert b"IFS= read -r boot" in result.stdout
    assert planted.encode() not in result.stdout


def test_the_fingerprint_is_that_of_openssh(tmp_path: Path) -> None:
    """Our fingerprint of a key equals ssh-keygen's."""
    file = key(tmp_path / "k")
    assert fingerprint(base64.b64decode(file.with_suffix(".pub").read_text().split()[1])) == public(file)[1]


def test_all_hosts_behind_a_bastion_share_its_one_login(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """Through a bastion that admits two at a time, many hosts come in with one login."""
    bastion = make_sshd("MaxStartups 2:100:2", folder="bastion")
    target = make_sshd(folder="target")
    config = jump_config(bastion, target)
    transports = [connect(target.with_connection(ssh_config_file=config)) for _ in range(6)]
    assert [way.run("echo in").stdout for way in transports] == [b"in\n"] * 6
    assert (bastion.folder / "log").read_text().count("Accepted publickey") == 1


def jump_config(bastion: Sshd, target: Sshd) -> Path:
    """Write an ssh_config that leads to the target through the bastion; both are known to the target's file."""
    config = target.folder / "jump_config"
    known = target.folder / "known_hosts"
    both = known.read_text() + (bastion.folder / "known_hosts").read_text()
    known.write_text(both)
    config.write_text(
        f"Host bastion\n  HostName 127.0.0.1\n  Port {bastion.port}\n  IdentityFile {bastion.folder}/user_key\n"
        f"Host 127.0.0.1\n  ProxyJump bastion\n"
    )
    return config


def test_two_hops_are_gone_through_in_their_order(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """Each hop is logged in to once; where the second dies, the hosts come in again over a new one."""
    one, two, target = (make_sshd(folder=name) for name in ("one", "two", "target"))
    config = target.folder / "config"
    hops = "".join(
        f"Host {name}\n  HostName 127.0.0.1\n  Port {hop.port}\n  IdentityFile {hop.folder}/user_key\n"
        for name, hop in (("one", one), ("two", two))
    )
    config.write_text(hops)
    known = target.folder / "known_hosts"
    known.write_text("".join((hop.folder / "known_hosts").read_text() for hop in (one, two, target)))
    host = target.with_connection(ssh_config_file=config, proxy_jump="one,two")
    doors = Doors()
    ways = [SshTransport(host, doors=doors) for _ in range(3)]
    assert [way.run("echo in").stdout for way in ways] == [b"in\n"] * 3
    for session in subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(two.process.pid)], capture_output=True, check=True
    ).stdout.split():
        os.kill(int(session), signal.SIGKILL)
    assert [way.run("echo in").stdout for way in ways] == [b"in\n"] * 3
    logins = [(hop.folder / "log").read_text().count("Accepted publickey") for hop in (one, two, target)]
    assert logins == [1, 2, 6]
    for way in ways:
        way.close()
    assert not doors._bastions


def test_a_bastion_that_is_down_is_named(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """The error tells the hop from the host."""
    target = make_sshd(folder="target")
    port = free_port()
    said = refusal(connect(target.with_connection(proxy_jump=f"127.0.0.1:{port}")))
    assert f"db1: on the way to it: 127.0.0.1: 127.0.0.1 port {port}: the connection was refused" in said


def test_a_host_that_is_down_behind_a_bastion_is_named(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """The bastion is fine, and says that it cannot reach the host."""
    bastion = make_sshd(folder="bastion")
    target = make_sshd(folder="target")
    config = jump_config(bastion, target)
    stop(target)
    said = refusal(connect(target.with_connection(ssh_config_file=config)))
    assert f"127.0.0.1 port {target.port}: the hop before it did not connect to it: Connect" in said


def test_a_proxy_command_carries_the_connection(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """Its tokens are filled in, and a command that fails is an unreachable host."""
    assert shutil.which("ssh")
    bastion = make_sshd(folder="bastion")
    target = make_sshd(folder="target")
    known = bastion.folder / "known_hosts"
    through = (
        f"ssh -F none -i {bastion.folder}/user_key -o UserKnownHostsFile={known} -p {bastion.port} -W %h:%p 127.0.0.1"
    )
    assert connect(target.with_connection(proxy_command=through)).run("echo in").stdout == b"in\n"


def test_an_unused_bastion_is_left(make_sshd: Callable[..., Sshd], connect: Connect) -> None:
    """After the last host the shared connection is closed."""
    bastion = make_sshd(folder="bastion")
    target = make_sshd(folder="target")
    transport = connect(target.with_connection(ssh_config_file=jump_config(bastion, target)))
    transport.run("true")
    transport.close()
    sessions = ["ps", "-o", "pid=", "--ppid", str(bastion.process.pid)]
    for _ in range(50):
        if not subprocess.run(sessions, capture_output=True, check=False).stdout:
            return
        time.sleep(0.1)
    raise AssertionError("the bastion still has its connection")
