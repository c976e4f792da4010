"""Where a connection goes is what OpenSSH says: ssh_config and the inventory's variables, resolved to hops."""

import getpass
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import tool

from rollout.errors import UsageProblem
from rollout.remote.ssh_config import Hop, Route, route_to
from rollout.settings import Connection, Host

Resolve = Callable[..., Route]
ME = getpass.getuser()


@pytest.fixture
def resolve(tmp_path: Path) -> Resolve:
    """Resolve a host under an ssh_config: `resolve("Host db1\\n  Port 2222\\n", port=22)`."""

    def route(config: str, **connection: Any) -> Route:
        file = tmp_path / "config"
        file.write_text(config)
        return route_to(Host("db1", Connection(ssh_config_file=file, **connection)))

    return route


def only(route: Route) -> Hop:
    """Return the one hop of a direct way."""
    (hop,) = route
    return hop


def test_without_any_configuration_the_name_is_the_address(resolve: Resolve) -> None:
    """Port, user and names are ssh's own defaults."""
    hop = only(resolve(""))
    assert (hop.address, hop.port, hop.user, hop.key_name, hop.proxy_command) == ("db1", 22, ME, "db1", "")
    assert str(Path.home() / ".ssh" / "known_hosts") in hop.known_hosts_files


def test_host_blocks_are_followed(resolve: Resolve) -> None:
    """HostName, Port, User, IdentityFile, HostKeyAlias and UserKnownHostsFile are taken from the block of the host."""
    hop = only(
        resolve(
            "Host db*\n  HostName %h.example.com\n  Port 2222\n  User dba\n  IdentityFile ~/.ssh/%h-%r\n"
            "  HostKeyAlias Cluster\n  UserKnownHostsFile /etc/keys/%h /etc/keys/all\nHost *\n  User nobody\n"
        )
    )
    assert (hop.address, hop.port, hop.user, hop.key_name) == ("db1.example.com", 2222, "dba", "cluster")
    assert hop.identity_files == (str(Path.home() / ".ssh" / "db1.example.com-dba"),)
    assert hop.known_hosts_files[:2] == ("/etc/keys/db1.example.com", "/etc/keys/all")


def test_the_inventory_goes_before_ssh_config(resolve: Resolve) -> None:
    """As in Ansible, the variable wins; identity files add up, the inventory's first."""
    config = "Host 10.0.0.7\n  Port 2222\n  User dba\n  IdentityFile /keys/config\n"
    hop = only(resolve(config, address="10.0.0.7", port=22, user="root", private_key_file=Path("/keys/my own")))
    assert (hop.address, hop.port, hop.user) == ("10.0.0.7", 22, "root")
    assert hop.identity_files == ("/keys/my own", "/keys/config")


def test_blocks_are_looked_up_by_the_address_of_the_inventory(resolve: Resolve) -> None:
    """Ansible hands `ansible_host` to ssh, so the inventory's name means nothing to ssh_config."""
    assert only(resolve("Host db1\n  Port 2222\n", address="10.0.0.7")).port == 22


def test_match_and_include_are_followed(resolve: Resolve, tmp_path: Path) -> None:
    """Match by user and by command, and included files, mean what they mean to ssh."""
    (tmp_path / "more").write_text("Host *\n  Port 2022\n")
    config = f'Match user dba exec "test %h = db1"\n  HostName real\nHost *\n  User dba\nInclude {tmp_path}/more\n'
    assert only(resolve(config, user="dba")).address == "real"
    assert only(resolve(config, user="root")).address == "db1"
    assert only(resolve(config)).port == 2022


def test_proxy_jump_none_is_the_direct_way(resolve: Resolve) -> None:
    """`none` names no host, be it in ssh_config or in the inventory."""
    assert len(resolve("Host db1\n  ProxyJump none\nHost *\n  ProxyJump bastion\n")) == 1
    assert len(resolve("Host *\n  ProxyJump bastion\n", proxy_jump="none")) == 1


def test_several_hops_stand_in_their_order(resolve: Resolve) -> None:
    """Each hop has its own block, user and port; the first one goes its own configured way."""
    route = resolve(
        "Host db1\n  ProxyJump ops@outer:2201,inner\nHost outer\n  HostName 192.0.2.1\n  ProxyJump gate\n"
        "Host inner\n  User jumper\n  ProxyJump elsewhere\n"
    )
    ways = [(hop.name, hop.address, hop.port, hop.user) for hop in route]
    assert ways == [
        ("gate", "gate", 22, ME),
        ("outer", "192.0.2.1", 2201, "ops"),
        ("inner", "inner", 22, "jumper"),
        ("db1", "db1", 22, ME),
    ]


def test_the_hops_of_two_hosts_are_the_same_hops(tmp_path: Path) -> None:
    """Equal hops are what lets hosts share a bastion's connection."""
    config = tmp_path / "config"
    config.write_text("Host 10.*\n  ProxyJump bastion\n")
    routes = [
        route_to(Host(f"db{n}", Connection(address=f"10.0.0.{n}", port=2200 + n, user=f"u{n}", ssh_config_file=config)))
        for n in (1, 2)
    ]
    assert routes[0][:-1] == routes[1][:-1]
    assert routes[0][-1] != routes[1][-1]


@pytest.mark.parametrize(
    ("jump", "address", "port", "user"),
    [
        ("bastion", "bastion", 22, ME),
        ("me@bastion:2222", "bastion", 2222, "me"),
        ("ssh://me@bastion:2222", "bastion", 2222, "me"),
        ("[2001:db8::1]", "2001:db8::1", 22, ME),
        ("me@[2001:db8::1]:2222", "2001:db8::1", 2222, "me"),
    ],
)
def test_a_hop_may_be_written_in_every_way_of_ssh(
    resolve: Resolve, jump: str, address: str, port: int, user: str
) -> None:
    """User, port, URL and IPv6 address are told apart."""
    hop = resolve("", proxy_jump=jump)[0]
    assert (hop.address, hop.port, hop.user) == (address, port, user)


def test_hops_in_a_circle_end(resolve: Resolve) -> None:
    """Two bastions that lead through each other are refused, and do not turn for ever."""
    with pytest.raises(UsageProblem, match=r"[ab]: no end to the hops"):
        resolve("Host a\n  ProxyJump b\nHost b\n  ProxyJump a\nHost db1\n  ProxyJump a\n")


def test_a_proxy_command_has_its_tokens_filled_in(resolve: Resolve) -> None:
    """%h, %p, %r, %n and %% are those of the host."""
    config = "Host db1\n  HostName real\n  Port 2222\n  User dba\n  ProxyCommand nc -X 5 %h %p %r %n 100%%\n"
    assert only(resolve(config)).proxy_command == "nc -X 5 real 2222 dba db1 100%"
    assert only(resolve("Host *\n  ProxyCommand none\n")).proxy_command == ""


def test_a_token_that_is_not_known_is_refused(resolve: Resolve) -> None:
    """Nothing is connected with half a path."""
    with pytest.raises(UsageProblem, match="the token %C in /keys/%C of ssh_config is not supported"):
        resolve("IdentityFile /keys/%C\n")


@pytest.mark.parametrize(
    ("config", "policy", "accepts"),
    [
        ("", "strict", False),
        ("StrictHostKeyChecking yes\n", "strict", False),
        ("StrictHostKeyChecking no\n", "strict", False),
        ("StrictHostKeyChecking off\n", "strict", False),
        ("StrictHostKeyChecking accept-new\n", "strict", True),
        ("StrictHostKeyChecking yes\n", "accept-new", True),
    ],
)
def test_new_host_keys_are_accepted_only_by_that_name(
    resolve: Resolve, config: str, policy: str, accepts: bool
) -> None:
    """`no` of ssh_config, which would take changed keys as well, is never followed."""
    assert only(resolve(config, host_key_policy=policy)).accept_new_key is accepts


def test_identities_only_keeps_the_agent_out(resolve: Resolve) -> None:
    """IdentitiesOnly and IdentityAgent none are honoured."""
    assert only(resolve("")).ask_agent
    assert not only(resolve("IdentitiesOnly yes\n")).ask_agent
    assert not only(resolve("IdentityAgent none\n")).ask_agent


def test_a_broken_configuration_is_quoted(resolve: Resolve) -> None:
    """What ssh says of its file stands in the error, with exit code 2."""
    with pytest.raises(UsageProblem, match=r"db1: ssh cannot read its configuration: .*config: line 1: Bad") as caught:
        resolve("Prot 22\n")
    assert caught.value.exit_code == 2


def test_without_the_ssh_program_it_is_said_what_to_install(resolve: Resolve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one program that has to be on the controller is named with its package."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UsageProblem, match="apt-get install openssh-client"):
        resolve("")


def test_an_address_cannot_be_an_option_of_ssh(resolve: Resolve, tmp_path: Path) -> None:
    """A host name that looks like an option is a name; nothing of it is run."""
    mark = tmp_path / "ran"
    with pytest.raises(UsageProblem):
        resolve("", address=f"-oProxyCommand=touch {mark}")
    assert not mark.exists()


def test_the_answers_are_those_of_ssh(resolve: Resolve, tmp_path: Path) -> None:
    """What is followed here equals what `ssh -G` prints for a file with wildcards, negation and several blocks."""
    config = "Host !db9 db? *.example\n  Port 2201\nHost db*\n  User one\nMatch originalhost db1\n  HostName x.%h\n"
    hop = only(resolve(config))
    said = subprocess.run(
        [tool("ssh"), "-G", "-F", str(tmp_path / "config"), "db1"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {f"port {hop.port}", f"user {hop.user}", f"hostname {hop.address}"} <= set(said)
