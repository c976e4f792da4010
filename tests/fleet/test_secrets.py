"""Passwords of vault, sudo and database, planted in an inventory: a whole run, and they are found nowhere."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from planted import HOST_PLACES, Watch, forms, seen_below, seen_in
from product import Product
from trial import HOST, Trial

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet
SECRETS = {
    "vault password": "planted of the vault? 'quoted' \"twice\" $x é/+",
    "become password": "planted for sudo? 'quoted' \"twice\" $x/+&",
    "database password": 'planted for MariaDB? it\'s #1 "twice" \\ $x/+&',
}


@dataclass(frozen=True)
class Planted:
    """The product with an inventory that holds the secrets, the files that may hold them, and the vault's option."""

    product: Product
    allowed: frozenset[Path]
    vault: tuple[str, str]


def plant(trial: Trial, folder: Path) -> Planted:
    """Let the host want a password for sudo and for its database, and write an inventory that knows both."""
    fleet, sources = trial.fleet, folder / "planted"
    sources.mkdir()
    vault, program = sources / "vault-password", sources / "database-password"
    vault.write_text(SECRETS["vault password"])
    (sources / "word").write_text(SECRETS["database password"])
    program.write_text(f"#!/bin/sh\ncat {sources}/word\n")
    program.chmod(0o700)
    sealed = seal(vault, SECRETS["become password"])
    content = yaml.safe_load(fleet.inventory.read_text())
    content["all"]["vars"] |= {
        "rollout_database_user": "dba",
        "rollout_database_password_from": {"command": [str(program)]},
        "ansible_become_password": "HERE",
    }
    text = yaml.safe_dump(content, sort_keys=False, width=1000)
    inventory = sources / "inventory.yml"
    inventory.write_text(text.replace("ansible_become_password: HERE", f"ansible_become_password: {sealed.strip()}"))
    break_doors(fleet)
    allowed = frozenset({vault, sources / "word"})
    return Planted(Product(inventory, folder / "state"), allowed, ("--vault-password-file", str(vault)))


def seal(vault: Path, secret: str) -> str:
    """Return a secret as the real ansible-vault writes it into an inventory: `!vault |` and its lines."""
    program = str(Path(sys.executable).with_name("ansible-vault"))
    words = [program, "encrypt_string", "--vault-password-file", str(vault)]
    return subprocess.run(words, input=secret, capture_output=True, text=True, check=True).stdout


def break_doors(fleet: Rehearsal) -> None:
    """Take from the host what lets anybody in without a password: sudo's NOPASSWD, and the socket of root."""
    fleet.dirty(HOST)
    fleet.shell(HOST, "chpasswd", f"admin:{SECRETS['become password']}".encode())
    fleet.text(HOST, "grep -rl NOPASSWD /etc/sudoers.d | xargs sed -i 's/NOPASSWD: *//'; rm -f /etc/sudoers.d/*~")
    password = SECRETS["database password"].replace("\\", "\\\\").replace("'", "\\'")
    statements = (
        f"CREATE USER dba@localhost IDENTIFIED BY '{password}'; GRANT ALL ON *.* TO dba@localhost WITH GRANT OPTION;"
        "ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING 'invalid';"
    )
    ended = fleet.shell(HOST, "mariadb", statements.encode())
    assert ended.returncode == 0, ended.stderr


def vaulted_login(trial: Trial, folder: Path, secret: str) -> Planted:
    """Write an inventory whose database password is a vaulted variable, in its group_vars, that another one names."""
    sources = folder / "vaulted"
    (sources / "group_vars").mkdir(parents=True)
    vault = sources / "vault-password"
    vault.write_text(SECRETS["vault password"])
    content = yaml.safe_load(trial.fleet.inventory.read_text())
    content["all"]["vars"] |= {
        "rollout_database_user": "dba",
        "rollout_database_password": "{{ vault_dba }}",
        "ansible_become_password": "{{ vault_sudo }}",
    }
    inventory = sources / "inventory.yml"
    inventory.write_text(yaml.safe_dump(content, sort_keys=False, width=1000))
    sealed = {"vault_dba": seal(vault, secret), "vault_sudo": seal(vault, SECRETS["become password"])}
    lines = "".join(f"{name}: {text.strip()}\n" for name, text in sealed.items())
    (sources / "group_vars" / "all.yml").write_text(lines)
    return Planted(Product(inventory, folder / "state"), frozenset({vault}), ("--vault-password-file", str(vault)))


def looked(planted: Planted, *words: str) -> dict[str, Any]:
    """Return the one host of `rollout facts`."""
    ran = planted.product.run("facts", str(planted.product.inventory), "--json", *words)
    host: dict[str, Any] = ran.json["hosts"][0]["facts"]
    return host


def on_the_host(fleet: Rehearsal, secrets: Mapping[str, str]) -> list[str]:
    """Search what the host has written: files, journal, histories."""
    files = f"find {HOST_PLACES} -xdev -type f -print0 2>/dev/null | xargs -0 cat 2>/dev/null"
    return seen_in(fleet.shell(HOST, f"{files}; journalctl --no-pager -o export").stdout, secrets)


def histories() -> list[Path]:
    """Name the histories of shells and clients of the user who runs this."""
    return [file for file in Path.home().glob(".*history*") if file.is_file()]


def test_planted_secrets_are_found_nowhere(trial: Trial, tmp_path: Path) -> None:
    """Facts, plan, apply, verify, report and rollback need all three passwords, and write none of them anywhere."""
    trial.fleet.publish()
    planted = plant(trial, tmp_path)
    product, vault, inventory = planted.product, planted.vault, str(planted.product.inventory)
    said = []
    with Watch(SECRETS) as watch:
        assert product.run("facts", inventory, expect=None).code != 0  # the vault is shut
        said.append(product.run("facts", inventory, "--record", str(tmp_path / "recording"), *vault))
        said.append(product.run("inventory", inventory, "--json", *vault))
        said.append(product.plan(*vault))
        applied = product.run("apply", "--yes", "--json", "--events", str(tmp_path / "events"), *vault, expect=None)
        assert applied.json["hosts"][0]["status"] == "changed", applied
        said += [applied, product.run("verify", inventory, "--json", *vault, expect=None)]
        said.append(product.run("report", "--out", str(tmp_path / "report.html")))
        back = product.run("rollback", "--host", HOST, "--json", *vault)
        assert back.json["hosts"][0]["status"] == "rolled_back"
        said += [back, product.run("status"), product.run("history", "--json")]
    assert watch.looked > 1000
    assert watch.found == set()
    for ran in said:
        assert seen_in((ran.out + ran.err).encode(), SECRETS) == []
    assert list(seen_below([tmp_path, *histories()], SECRETS, planted.allowed)) == []
    assert on_the_host(trial.fleet, SECRETS) == []
    assert trial.text("ls -A /var/lib/rollout | grep -c login || :") == "0"


def test_a_vaulted_variable_logs_in_to_the_database(trial: Trial, tmp_path: Path) -> None:
    """With the vault open a password of group_vars opens the database of a real host; a wrong one is named as such."""
    break_doors(trial.fleet)
    assert "Access denied" in trial.fleet.shell(HOST, "mariadb -e 'SELECT 1'").stderr.decode()
    planted = vaulted_login(trial, tmp_path, SECRETS["database password"])
    shut = planted.product.run("facts", str(planted.product.inventory), expect=2)
    assert "vault" in shut.err
    with Watch(SECRETS) as watch:
        facts = looked(planted, *planted.vault)
    assert facts["server"]["login"] == "defaults file"
    assert facts["server"]["running"]["flavour"] == "mariadb"
    assert watch.found == set()
    assert seen_in(json.dumps(facts).encode(), SECRETS) == []
    wrong = vaulted_login(trial, tmp_path / "wrong", "of yesterday")
    unknown = looked(wrong, *wrong.vault)["unknown"]["server.running"]
    assert "Access denied for user 'dba'@'localhost'" in unknown
    assert list(seen_below([tmp_path], SECRETS, planted.allowed | wrong.allowed)) == []
    assert on_the_host(trial.fleet, SECRETS) == []


def test_the_search_finds_what_stands_in_the_open(trial: Trial, tmp_path: Path) -> None:
    """One secret in each form in each kind of place, and in a process's arguments and environment: all are found."""
    secret = {"database password": SECRETS["database password"]}
    named = [f"database password as {form}" for form in forms(secret["database password"])]
    leaked = b"\n".join(b"before " + text + b" after" for text in forms(secret["database password"]).values())
    (tmp_path / "journal.jsonl").write_bytes(leaked)
    found = [line.partition(": ")[2] for line in seen_below([tmp_path], secret, frozenset())]
    assert set(found) == set(named)
    trial.fleet.dirty(HOST)
    for place in ("/var/log/leak", "/var/lib/rollout/leak", "/root/.bash_history"):
        trial.fleet.shell(HOST, f"mkdir -p $(dirname {place}); cat >{place}", leaked)
        assert set(on_the_host(trial.fleet, secret)) == set(named)
        trial.text(f"rm {place}")
    trial.fleet.shell(HOST, "logger -t leak", secret["database password"].encode())
    assert "database password as raw" in on_the_host(trial.fleet, secret)
    with Watch(secret) as watch:
        word = secret["database password"]
        script = 'systemd-run --quiet --setenv=LEAK="$(cat)" sleep 2'
        trial.fleet.shell(HOST, script, word.encode())
        subprocess.run([sys.executable, "-c", "import time; time.sleep(1)", word], check=True)
        time.sleep(2)
    assert any(told.startswith("cmdline") for told in watch.found)
    assert any(told.startswith("environ") for told in watch.found)
