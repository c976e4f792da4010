"""Ansible Vault: envelopes made by the real `ansible-vault`, passwords, and where secrets must not go."""

from pathlib import Path

import pytest

from rollout.errors import ConfigProblem, UsageProblem
from rollout.inventory.hosts import resolve
from rollout.inventory.sources import load_inventory
from rollout.inventory.vault import Vault, VaultPassword, VaultProblem, password_from, vault_of
from rollout.settings import Host, Secret

# Made with `ansible-vault encrypt_string` 2.19 from "hunter2 {{ not_a_template }}", password "correct horse".
ENVELOPE = """$ANSIBLE_VAULT;1.1;AES256
32663634356430666438623539353837343765663536666461613431666262656435373834346162
3966633536343234653465373165613739393938613966360a323739323436366162353066613162
64383639376632343261323638656566363838323133333837613430646461373161383063363136
6133353830396238320a393134643065393035353464613435393464383665376164376334313434
35306234366536306264326265383133633037636635623564316631666664663831
"""
PLAIN = "hunter2 {{ not_a_template }}"
VAULT = Vault((VaultPassword("default", Secret("correct horse")),))


def hosts(tmp_path: Path, variables: str) -> list[Host]:
    """Resolve one host that has the variables given and the envelope as `secret`."""
    envelope = ENVELOPE.replace("\n", "\n        ")
    file = tmp_path / "inventory.yml"
    file.write_text(f"all:\n  hosts:\n    db1:\n      secret: !vault |\n        {envelope}\n{variables}")
    inventory = load_inventory([str(file)], VAULT)
    return resolve(inventory, ["db1"], VAULT)


def test_an_envelope_of_the_real_program_is_opened() -> None:
    """A known answer: text and password of an envelope that ansible-vault made."""
    assert VAULT.decrypt(ENVELOPE) == PLAIN


@pytest.mark.parametrize(
    ("vault", "envelope", "reason"),
    [
        (Vault(), ENVELOPE, "no vault password was given"),
        (Vault((VaultPassword("default", Secret("wrong")),)), ENVELOPE, "none of 1 passwords opens it"),
        (VAULT, ENVELOPE.replace("663831", "663832"), "none of 1 passwords opens it"),
        (VAULT, ENVELOPE[:200], "damaged or cut off"),
        (VAULT, ENVELOPE.replace("AES256", "ROT13"), "not known"),
    ],
)
def test_an_envelope_that_cannot_be_opened_is_refused(vault: Vault, envelope: str, reason: str) -> None:
    """No password, a wrong one, a changed byte, a cut-off file and a cipher that is not known."""
    with pytest.raises(VaultProblem, match=reason):
        vault.decrypt(envelope)


def test_a_vaulted_become_password_reaches_the_connection_and_nothing_else(tmp_path: Path) -> None:
    """It is found in no representation of the host."""
    [host] = hosts(tmp_path, '      ansible_become_password: "{{ secret }}"\n')
    assert host.connection.become_password == Secret(PLAIN)
    assert "hunter2" not in repr(host)


def test_a_plain_password_is_hidden_in_the_raw_variables(tmp_path: Path) -> None:
    """A password that stands open in the inventory does not travel on with the host's variables."""
    [host] = hosts(tmp_path, "      ansible_password: opensesame\n")
    assert host.connection.password == Secret("opensesame")
    assert "opensesame" not in repr(host)


def test_a_secret_in_a_setting_that_is_written_down_is_refused(tmp_path: Path) -> None:
    """Settings stand in plans and drop-ins, so a vaulted value may not end there, not even inside a text."""
    with pytest.raises(ConfigProblem, match="rollout_environment: holds a vaulted secret") as caught:
        hosts(tmp_path, "      rollout_environment: {TOKEN: 'x{{ secret }}'}\n")
    assert "hunter2" not in str(caught.value)


def test_without_a_password_the_mistake_names_file_and_line(tmp_path: Path) -> None:
    """A vaulted value that is needed is a mistake of the inventory, one that is not needed is none."""
    file = tmp_path / "inventory.yml"
    envelope = ENVELOPE.replace("\n", "\n      ")
    for name, needed in (("ansible_password", True), ("something_else", False)):
        file.write_text(f"all:\n  hosts: {{db1: }}\n  vars:\n    {name}: !vault |\n      {envelope}\n")
        inventory = load_inventory([str(file)])
        if needed:
            with pytest.raises(ConfigProblem, match=f"inventory.yml:4: {name}: is encrypted by Ansible Vault"):
                resolve(inventory, ["db1"])
        else:
            assert resolve(inventory, ["db1"])[0].name == "db1"


def test_passwords_come_from_files_programs_and_ids(tmp_path: Path) -> None:
    """A program prints its password; one called `-client` is told the id it is asked for."""
    (tmp_path / "pw").write_text("  from a file \n")
    program = tmp_path / "ask-client"
    program.write_text('#!/bin/sh\necho "$1 $2"\n')
    program.chmod(0o755)
    vault = vault_of([str(tmp_path / "pw")], [f"prod@{program}"], Secret("typed"))
    assert vault.passwords == (
        VaultPassword("prod", Secret("--vault-id prod")),
        VaultPassword("default", Secret("from a file")),
        VaultPassword("default", Secret("typed")),
    )


@pytest.mark.parametrize(("text", "mode"), [("", 0o644), ("#!/bin/sh\nexit 4\n", 0o755)])
def test_a_password_source_that_gives_none_is_refused(tmp_path: Path, text: str, mode: int) -> None:
    """An empty file, and a program that fails."""
    file = tmp_path / "pw"
    file.write_text(text)
    file.chmod(mode)
    with pytest.raises(UsageProblem, match=r"is empty|exit status 4"):
        password_from(str(file))
