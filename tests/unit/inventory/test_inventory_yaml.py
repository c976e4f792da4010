"""Inventories in YAML: what they mean, and each kind of mistake with its file and line."""

from pathlib import Path

import pytest

from rollout.errors import ConfigProblem
from rollout.inventory.hosts import resolve
from rollout.inventory.sources import load_inventory
from rollout.settings import Host, Secret


def write(tmp_path: Path, text: str, name: str = "inventory.yml") -> str:
    """Write a file below the test's folder and return its path."""
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


def hosts(source: str) -> dict[str, Host]:
    """Read and resolve all hosts of an inventory."""
    inventory = load_inventory([source])
    return {host.name: host for host in resolve(inventory, inventory.members("all"))}


def complaint(source: str) -> str:
    """Return what is said about an inventory that must be refused."""
    with pytest.raises(ConfigProblem) as caught:
        hosts(source)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_variables_come_from_the_innermost_group_and_the_host_wins(tmp_path: Path) -> None:
    """A host's own variable beats its group's, a child group's beats its parent's, and `all` is the weakest."""
    found = hosts(
        write(
            tmp_path,
            """
all:
  vars: {ansible_user: weakest, ansible_port: 1, rollout_soak_seconds: 1}
  children:
    outer:
      vars: {ansible_port: 2, rollout_soak_seconds: 2}
      children:
        inner:
          vars: {rollout_soak_seconds: 3}
          hosts:
            db1: {rollout_soak_seconds: 4}
            db2:
    other:
      hosts: {db3: }
""",
        )
    )
    assert [found[name].settings.soak_seconds for name in ("db1", "db2", "db3")] == [4, 3, 1]
    assert [found[name].connection.port for name in ("db1", "db2", "db3")] == [2, 2, 1]
    assert {host.connection.user for host in found.values()} == {"weakest"}
    assert found["db1"].groups == ("all", "outer", "inner")


def test_connection_variables_become_a_connection(tmp_path: Path) -> None:
    """Every connection variable reaches the field that the transport reads."""
    connection = hosts(
        write(
            tmp_path,
            """
all:
  hosts:
    db1:
      ansible_host: 192.0.2.7
      ansible_port: "2222"
      ansible_user: admin
      ansible_password: 123456
      ansible_ssh_private_key_file: /keys/id
      ansible_become: "yes"
      ansible_become_user: mysql
      ansible_become_password: secret
      ansible_timeout: 30
      ansible_ssh_common_args: >-
        -o UserKnownHostsFile=/keys/known_hosts -o StrictHostKeyChecking=accept-new -o ProxyJump=admin@bastion:2200
        -o ControlMaster=auto -o ControlPersist=60s
""",
        )
    )["db1"].connection
    assert (connection.kind, connection.address, connection.port) == ("ssh", "192.0.2.7", 2222)
    assert (connection.user, connection.password) == ("admin", Secret("123456"))
    assert (connection.become, connection.become_user, connection.become_password) == (True, "mysql", Secret("secret"))
    assert connection.private_key_file == Path("/keys/id")
    assert connection.known_hosts_file == Path("/keys/known_hosts")
    assert (connection.host_key_policy, connection.proxy_jump) == ("accept-new", "admin@bastion:2200")
    assert connection.connect_timeout_seconds == 30
    assert "secret" not in repr(connection)
    assert "123456" not in repr(connection)


def test_ssh_options_have_the_precedence_of_a_command_line(tmp_path: Path) -> None:
    """Variables beat ansible_ssh_common_args, which beat ansible_ssh_extra_args; ansible_ssh_args beat all."""
    text = "all: {{hosts: {{db1: {{{0} ansible_ssh_common_args: -p 2, ansible_ssh_extra_args: -o Port=3}}}}}}"
    ports = [
        hosts(write(tmp_path, text.format(first)))["db1"].connection.port
        for first in ("ansible_ssh_args: '-oPort=9', ansible_port: 1,", "ansible_port: 1,", "")
    ]
    assert ports == [9, 1, 2]


def test_a_recorded_host_is_read_from_beside_the_inventory(tmp_path: Path) -> None:
    """The folder is the host's name unless rollout_recording names one, relative to the file that says so."""
    found = hosts(
        write(
            tmp_path,
            """
all:
  vars: {ansible_connection: recorded}
  hosts:
    db1:
    db2: {rollout_recording: ../tapes/two}
""",
            "example/hosts.yml",
        )
    )
    assert found["db1"].connection.recording == tmp_path / "example" / "db1"
    recording = found["db2"].connection.recording
    assert recording is not None
    assert recording.resolve() == tmp_path / "tapes" / "two"


def test_all_mistakes_of_the_variables_are_told_at_once(tmp_path: Path) -> None:
    """Each mistake names the file, its own line and the path, and guesses what was meant."""
    source = write(
        tmp_path,
        """all:
  hosts:
    db1:
      ansible_port: 99999
      ansible_ssh_common_args: -o StrictHostKeyChecking=no -o Tunnel=yes
      rollout_allocater: jemalloc
    db2:
      rollout_fix_releases:
        "11.8":
          version: 11.8
          carry_lru_fix: no
      ansible_host: "{{ nowhere }}"
      ansible_become_method: su
""",
    )
    lines = complaint(source).splitlines()
    assert [line.split(": ")[0:2] for line in lines] == [
        [f"{source}:4", "ansible_port"],
        [f"{source}:5", "ansible_ssh_common_args"],
        [f"{source}:5", "ansible_ssh_common_args"],
        [f"{source}:6", "rollout_allocater"],
        [f"{source}:10", "rollout_fix_releases.11.8.version"],
        [f"{source}:11", "rollout_fix_releases.11.8.carry_lru_fix"],
        [f"{source}:12", "ansible_host"],
        [f"{source}:13", "ansible_become_method"],
    ]
    assert "did you mean 'rollout_allocator'?" in lines[3]
    assert "put quotes around it" in lines[4]
    assert "did you mean 'carries_lru_fix'?" in lines[5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty"),
        ("# nothing\n", "is empty"),
        ("all:\n  hosts: [\n", ":3: is no YAML"),
        ("all:\n  hosts:\n    a:\n    b:\n    a:\n", ":5: 'a' stands twice here, first in line 3"),
        ("all:\n  childen:\n    x:\n", ":2: unknown key 'childen' in group 'all': did you mean 'children'?"),
        ("all:\n  hosts:\n    db[09:03]:\n", ":3: the range [09:03] of 'db[09:03]' runs backwards"),
        ("all:\n  hosts: [a, b]\n", ":2: hosts of group 'all' must be a mapping"),
        ("- hosts: all\n", ":1: is no inventory"),
        ('db:\n  hosts:\n    "d\\e7b": \n', r":3: the name of the host 'd\x1b7b' has control characters"),
        ("all:\n  hosts:\n    101:\n", ":3: a host's name must be a text, found '101': put quotes around it"),
        ("a:\n  children:\n    b:\n      children:\n        a:\n", ":3: group 'b' would stand below itself"),
        ("all:\n  vars: {ansible_group_priority: high}\n", ":2: ansible_group_priority: must be a whole number"),
        ("all:\n  hosts: {b: {a: &a [*a]}}\n", ":2: cannot be read: found unconstructable recursive node"),
        ("all:\n  <<: 5\n", ":2: cannot be read: expected a mapping or list of mappings for merging"),
        ("db:\n  vars: {v: " + "[" * 900 + "]" * 900 + "}", ":2: is nested too deeply to be read"),
        ("all:\n  vars: {a: !shell ls}\n  hosts: {b: }\n", ":2: cannot be read: could not determine a constructor"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    """No part of a file that is not understood is passed over."""
    source = write(tmp_path, text)
    assert (source + expected if expected.startswith(":") else expected) in complaint(source)


def test_an_inventory_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The sentence names the path and says how a list of hosts would be written."""
    missing = str(tmp_path / "nowhere.yml")
    assert complaint(missing).startswith(f"{missing}: there is no such inventory")


def test_a_folder_without_an_inventory_names_what_was_passed_over(tmp_path: Path) -> None:
    """Ansible ignores such a folder; here it is a mistake, and the ignored files are named."""
    (tmp_path / "hosts.cfg").write_text("db1\n")
    assert complaint(str(tmp_path)) == (
        f"{tmp_path}: is a folder without an inventory; passed over, as Ansible does: hosts.cfg"
    )


def test_a_file_that_is_no_text_is_refused_with_the_line(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are found, not replaced."""
    file = tmp_path / "inventory.yml"
    file.write_bytes(b"all:\n  hosts:\n    \xff:\n")
    assert complaint(str(file)) == f"{file}:3: is no UTF-8 text"


def test_a_password_may_come_from_the_environment_or_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program prints is the password; it is run once for all hosts, and shown nowhere."""
    program = tmp_path / "ask"
    program.write_text(f"#!/bin/sh\necho x >>{tmp_path}/calls\necho 'from a program'\n")
    program.chmod(0o755)
    monkeypatch.setenv("LOGIN_PASSWORD", "from the environment")
    text = f"""
all:
  hosts: {{"db[1:3]": }}
  vars:
    rollout_password_from: {{env: LOGIN_PASSWORD}}
    rollout_become_password_from: {{command: ["{program}"]}}
"""
    found = hosts(write(tmp_path, text))
    assert {host.connection.password for host in found.values()} == {Secret("from the environment")}
    assert {host.connection.become_password for host in found.values()} == {Secret("from a program")}
    assert (tmp_path / "calls").read_text() == "x\n"
    assert "from a program" not in repr(found)


def test_a_database_login_becomes_the_text_of_an_option_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the environment or from a variable: user and password, quoted, and hidden wherever they are shown."""
    monkeypatch.setenv("DATABASE_PASSWORD", 'it\'s #1 "twice" \\ x')
    text = """
all:
  vars: {rollout_database_user: dba}
  hosts:
    db1: {rollout_database_password_from: {env: DATABASE_PASSWORD}}
    db2: {rollout_database_password: in the open}
    db3:
"""
    found = hosts(write(tmp_path, text))
    logins = {name: host.connection.database_login for name, host in found.items()}
    assert {name: login.reveal().splitlines() for name, login in logins.items() if login} == {
        "db1": ["[client]", 'user="dba"', 'password="it\'s #1 \\"twice\\" \\\\ x"'],
        "db2": ["[client]", 'user="dba"', 'password="in the open"'],
        "db3": ["[client]", 'user="dba"'],
    }
    assert "in the open" not in repr(found)
    assert "twice" not in repr(found)


def test_a_database_password_without_a_user_is_a_mistake(tmp_path: Path) -> None:
    """It would be used for nobody."""
    path = write(tmp_path, "all:\n  hosts: {db1: }\n  vars:\n    rollout_database_password: x\n")
    assert f"{path}:4: rollout_database_password: needs rollout_database_user beside it" in complaint(path)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{env: NOT_SET_ANYWHERE}", "the environment variable NOT_SET_ANYWHERE is not set or empty"),
        ("{command: [/bin/false]}", "the program /bin/false ended with exit status 1 and gave no password"),
        ("{command: [/nowhere/ask]}", "the program /nowhere/ask cannot be run: No such file or directory"),
        ("{}", "must have either `env` or `command`"),
        ("{env: A, command: [b]}", "must have either `env` or `command`"),
    ],
)
def test_a_password_that_cannot_be_had_is_a_mistake_with_its_line(tmp_path: Path, source: str, expected: str) -> None:
    """No host is tried with no password where one was meant."""
    text = f"all:\n  hosts: {{db1: }}\n  vars:\n    rollout_password_from: {source}\n"
    path = write(tmp_path, text)
    assert f"{path}:4: rollout_password_from: {expected}" in complaint(path)
