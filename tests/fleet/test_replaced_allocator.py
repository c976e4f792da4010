"""An allocator that somebody chose, on a real host: respected by name, replaced where asked, and put in force again.

Seconds: about 150 (two cores).
"""

import json
import re
from pathlib import Path

import pytest
from allocators import DROP_INS, LIBRARY, OVERRIDE, install, preload_tcmalloc
from product import Product
from undo_law import differences, snapshot

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

SAID = "mariadb -N -e 'SELECT @@version_malloc_library'"
MAPS = "/proc/$(systemctl show -p MainPID --value mariadb)/maps"
MAPPED = f"grep -oE 'lib(tcmalloc|jemalloc|mimalloc)[a-z_]*' {MAPS} | sort -u"
ROAD = ("--host", "db1", "--playbook", "jemalloc", "--json")
TO_A_FILE = f"""printf 'LD_PRELOAD={LIBRARY}\\n' >/etc/default/of-somebody
printf '[Service]\\nEnvironmentFile=/etc/default/of-somebody\\n' >{OVERRIDE}
systemctl daemon-reload && systemctl restart mariadb"""
BEATEN = f"""printf '[Service]\\nEnvironment=LD_PRELOAD=/nothing.so\\n' >{DROP_INS}/zz-later.conf
systemctl daemon-reload && systemctl restart mariadb && rm {DROP_INS}/zz-later.conf && systemctl daemon-reload"""

MIMALLOC = "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0"
BY_THE_MANAGER = f"""mkdir -p /etc/systemd/system.conf.d
printf '[Manager]\\nDefaultEnvironment=LD_PRELOAD={MIMALLOC}\\n' >/etc/systemd/system.conf.d/of-somebody.conf
systemctl daemon-reexec && systemctl restart mariadb"""
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
OWN = "/usr/local/lib/own"
INSIDE = f"{OWN}/libinside.so"  # jemalloc under another name: the map says as little of it as of one in the program
PROGRAM = f"""mkdir -p {OWN} && cp /usr/sbin/mariadbd {OWN}/new
cp {JEMALLOC} {INSIDE} && patchelf --set-soname libinside.so {INSIDE}
patchelf --add-needed NEEDED {OWN}/new && mv {OWN}/new {OWN}/mariadbd
printf '[Service]\\nExecStart=\\nExecStart={OWN}/mariadbd $MYSQLD_OPTS\\n' >{DROP_INS}/own.conf
systemctl daemon-reload && systemctl restart mariadb"""
AS_IT_WAS = """systemctl show mariadb -p InvocationID --value; systemctl show-environment
find /etc/systemd /etc/ld.so.preload -type f -exec sha256sum {} + 2>/dev/null || :; dpkg -l | sha256sum"""


def test_a_preloaded_allocator_is_replaced_and_comes_back(fleet: Rehearsal, tmp_path: Path) -> None:
    """Blocked without the option; with it one restart, both proofs, and after the rollback tcmalloc as before."""
    preload_tcmalloc(fleet, "db1", tmp_path)
    said = fleet.text("db1", SAID)
    assert said.startswith("tcmalloc")
    assert fleet.text("db1", MAPPED) == "libtcmalloc_minimal"
    before = snapshot(fleet, "db1")
    product = Product(fleet.inventory, tmp_path / "state")

    kept = product.plan(*ROAD, expect=None).json["hosts"][0]
    told = {finding["code"]: finding["message"] for finding in kept["blockers"]}
    assert kept["status"] == "blocked"
    assert f"the server runs with {said}" in told["other_allocator"]
    assert f"{OVERRIDE} sets LD_PRELOAD={LIBRARY}" in told["foreign_preload"]

    row = product.plan(*ROAD, "--replace-allocator").json["hosts"][0]
    assert (row["status"], row["restarts"], row["blockers"]) == ("change", 1, [])
    assert "allocator_replaced" in {finding["code"] for finding in row["warnings"]}
    applied = product.run("apply", "--yes", "--json", "--skip-backup", "a rehearsal").json["hosts"][0]
    assert (applied["status"], applied["restarts"]) == ("changed", 1), applied
    assert fleet.text("db1", SAID).startswith("jemalloc")
    assert fleet.text("db1", MAPPED) == "libjemalloc"
    verify = ("verify", str(fleet.inventory), *ROAD)
    product.run(*verify)
    assert product.plan(*ROAD).json["hosts"][0]["status"] == "ok"  # also without the option

    back = product.run("rollback", "--host", "db1", "--json").json["hosts"][0]
    assert (back["status"], back["restarts"]) == ("rolled_back", 1), back
    assert (fleet.text("db1", SAID), fleet.text("db1", MAPPED)) == (said, "libtcmalloc_minimal")
    assert differences(before, snapshot(fleet, "db1")) == []
    again = product.run(*verify, expect=1).json["hosts"][0]["checks"]
    causes = {check["id"]: check["cause"] for check in again if check["status"] == "fail"}
    assert causes["allocator_reported"] == "preload_not_asked"


def test_what_a_drop_in_cannot_overrule_stays(fleet: Rehearsal, tmp_path: Path) -> None:
    """An EnvironmentFile does beat the last drop-in, and the plan says so; the setting is as good as the option."""
    preload_tcmalloc(fleet, "db2", tmp_path)
    fleet.text("db2", TO_A_FILE)
    fleet.text("db2", BEATEN)
    assert fleet.text("db2", MAPPED) == "libtcmalloc_minimal"
    content = fleet.inventory.read_text().replace("rollout_bench: true", "rollout_replace_allocator: true", 1)
    inventory = tmp_path / "inventory.yml"
    inventory.write_text(content)
    product = Product(inventory, tmp_path / "state")
    words = ("--host", "db2", "--playbook", "jemalloc", "--json")
    told = product.plan(*words, expect=None).json["hosts"][0]["blockers"]
    assert [finding["code"] for finding in told] == ["foreign_preload"]
    assert "/etc/default/of-somebody" in told[0]["message"]
    assert "an EnvironmentFile beats every drop-in" in told[0]["message"]
    fleet.text("db2", f"printf '[Service]\\nEnvironment=LD_PRELOAD={LIBRARY}\\n' >{OVERRIDE}; systemctl daemon-reload")
    assert product.plan(*words).json["hosts"][0]["status"] == "change"
    settings = json.loads((tmp_path / "state/plan.json").read_text())["inventory"]["db2"]["settings"]
    assert settings["replace_allocator"] is True


def test_what_the_manager_preloads_is_replaced_and_comes_back(fleet: Rehearsal, tmp_path: Path) -> None:
    """mimalloc by DefaultEnvironment=: the server says `system`, its map says more; our drop-in is the stronger."""
    install(fleet, "db3", tmp_path, "libmimalloc2.0")
    fleet.text("db3", BY_THE_MANAGER)
    assert (fleet.text("db3", SAID), fleet.text("db3", MAPPED)) == ("system", "libmimalloc")
    before = snapshot(fleet, "db3")
    product = Product(fleet.inventory, tmp_path / "state")
    words = ("--host", "db3", "--playbook", "jemalloc", "--json")
    kept = product.plan(*words, expect=None).json["hosts"][0]
    told = {finding["code"]: finding["message"] for finding in kept["blockers"]}
    assert f"the server runs with system and has {MIMALLOC} loaded: somebody chose that" in told["other_allocator"]
    assert f"the manager's environment sets LD_PRELOAD={MIMALLOC}" in told["foreign_preload"]

    assert product.plan(*words, "--replace-allocator").json["hosts"][0]["status"] == "change"
    applied = product.run("apply", "--yes", "--json", "--skip-backup", "a rehearsal").json["hosts"][0]
    assert (applied["status"], applied["restarts"]) == ("changed", 1), applied
    assert fleet.text("db3", MAPPED) == "libjemalloc"
    back = product.run("rollback", "--host", "db3", "--json").json["hosts"][0]
    assert (back["status"], back["restarts"]) == ("rolled_back", 1), back
    assert (fleet.text("db3", SAID), fleet.text("db3", MAPPED)) == ("system", "libmimalloc")
    assert differences(before, snapshot(fleet, "db3")) == []


def test_an_allocator_of_the_whole_host_or_of_the_program_is_left_alone(fleet: Rehearsal, tmp_path: Path) -> None:
    """Each is refused or respected with its reason, with the option and without it, and the host stays as it is."""
    install(fleet, "db3", tmp_path, "libmimalloc2.0", "patchelf")
    fleet.text("db3", f"apt-get update -q && apt-get install -q -y libjemalloc2 && mkdir -p {DROP_INS}")
    product = Product(fleet.inventory, tmp_path / "state")
    everywhere = f"echo {JEMALLOC} >/etc/ld.so.preload"
    linked = "no preload asks for it, so it is linked into its program"
    inside = "compiled in or linked, and no drop-in can replace it"
    for make, kind, code, why in (
        (everywhere, "blockers", "foreign_preload", "every program of the host loads it"),
        ("systemctl restart mariadb", "warnings", "allocator_kept", "/etc/ld.so.preload asks for it"),
        ("rm /etc/ld.so.preload; " + PROGRAM.replace("NEEDED", JEMALLOC), "warnings", "allocator_kept", linked),
        (PROGRAM.replace("NEEDED", INSIDE), "blockers", "other_allocator", f"the server runs with jemalloc.*{inside}"),
        (PROGRAM.replace("NEEDED", MIMALLOC), "blockers", "other_allocator", f"system and has {MIMALLOC}.*{inside}"),
    ):
        fleet.text("db3", make)
        found = fleet.text("db3", AS_IT_WAS)
        for option in ((), ("--replace-allocator",)):
            words = ("--host", "db3", "--playbook", "jemalloc", "--json")
            row = product.plan(*words, *option, expect=None).json["hosts"][0]
            assert row["status"] == ("ok" if kind == "warnings" else "blocked"), row
            told = {finding["code"]: finding["message"] for finding in row[kind]}
            assert re.search(why, told[code]), told
            product.run("apply", "--yes", "--skip-backup", "a rehearsal", expect=None)
        assert fleet.text("db3", AS_IT_WAS) == found
