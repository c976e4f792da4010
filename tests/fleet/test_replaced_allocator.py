"""An allocator that somebody chose, on a real host: respected by name, replaced where asked, and put in force again.

Seconds: about 60 on two idle cores.
"""

import json
from pathlib import Path

import pytest
from product import Product
from tcmalloc import DROP_INS, LIBRARY, OVERRIDE, preload_tcmalloc
from undo_law import differences, snapshot

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

SAID = "mariadb -N -e 'SELECT @@version_malloc_library'"
MAPPED = "grep -oE 'lib(tcmalloc|jemalloc)[a-z_]*' /proc/$(systemctl show -p MainPID --value mariadb)/maps | sort -u"
ROAD = ("--host", "db1", "--playbook", "jemalloc", "--json")
TO_A_FILE = f"""printf 'LD_PRELOAD={LIBRARY}\\n' >/etc/default/of-somebody
printf '[Service]\\nEnvironmentFile=/etc/default/of-somebody\\n' >{OVERRIDE}
systemctl daemon-reload && systemctl restart mariadb"""
BEATEN = f"""printf '[Service]\\nEnvironment=LD_PRELOAD=/nothing.so\\n' >{DROP_INS}/zz-later.conf
systemctl daemon-reload && systemctl restart mariadb && rm {DROP_INS}/zz-later.conf && systemctl daemon-reload"""


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
