"""The shorter stop on a real host with many dirty pages: written out before, and all put back where no stop came."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from cutting import kill, wait_for_line
from product import Product

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

ASK = """mariadb -N -e "SELECT @@innodb_max_dirty_pages_pct, @@innodb_max_dirty_pages_pct_lwm, @@innodb_fast_shutdown,
@@innodb_buffer_pool_dump_pct" """
DIRTY = """mariadb -e "CREATE DATABASE dirt; CREATE TABLE dirt.t (a INT PRIMARY KEY, b CHAR(200)) ENGINE=InnoDB;
INSERT INTO dirt.t SELECT seq, REPEAT('x', 200) FROM dirt.seq_1_to_120000" """


def product_for(fleet: Rehearsal, folder: Path, **shorter_stop: Any) -> Product:
    """Give a test the product with a plan for db1 that asks for a shorter stop, and a host with many dirty pages."""
    fleet.dirty("db1")
    fleet.text("db1", DIRTY)
    playbook = folder / "shorter.yml"
    variables = {
        "rollout_soak_seconds": 0,
        "rollout_backup_method": "none",
        "rollout_shorter_stop": shorter_stop or True,
    }
    playbook.write_text(yaml.safe_dump({"name": "shorter", "changes": ["allocator"], "vars": variables}))
    product = Product(fleet.inventory, folder / "state")
    product.plan("--host", "db1", "--playbook", str(playbook))
    return product


def test_dirty_pages_are_written_out_before_the_stop(fleet: Rehearsal, tmp_path: Path) -> None:
    """Fewer are left than the settings allow, and the new process has the files' values; the plan tells both times."""
    product = product_for(fleet, tmp_path, dirty_pages=50, dump_pct=10)
    row = json.loads((product.state / "plan.json").read_text())["hosts"][0]
    ranges = row["expected_downtime_by_stop"]
    assert ranges["shorter"]["high"] < ranges["plain"]["high"]
    assert row["expected_downtime_seconds"] == ranges["shorter"]
    assert product.run("apply", "--yes", "--json").json["hosts"][0]["status"] == "changed"
    journal = max(product.state.glob("runs/*/journal.jsonl")).read_text().splitlines()
    ends = [json.loads(line)["data"] for line in journal if '"phase_ended"' in line]
    said = next(data for data in ends if data["phase"] == "shorter_stop")
    assert int(said["dirty_before"]) > 500
    assert int(said["dirty_after"]) <= 50
    assert "late" not in said
    assert fleet.text("db1", ASK).split() == ["90.000000", "0.000000", "1", "25"]


def test_what_was_set_is_put_back_where_no_stop_came(fleet: Rehearsal, tmp_path: Path) -> None:
    """Killed while dirty pages are written out: rollback puts back all four variables of the process that goes on."""
    fleet.text("db1", "mariadb -e 'SET GLOBAL innodb_max_dirty_pages_pct=80, GLOBAL innodb_max_dirty_pages_pct_lwm=5'")
    product = product_for(fleet, tmp_path, dirty_pages=0, wait_seconds=60, dump_pct=10)
    fleet.text("db1", "systemctl start rollout-demo-writer")
    before = fleet.text("db1", ASK)
    process = product.start("apply", "--yes", "--json")
    wait_for_line(product, process, "db1", "phase_started", "shorter_stop")
    time.sleep(3)
    kill(process)
    assert fleet.text("db1", ASK).split() == ["0.000000", "0.000000", "1", "10"]
    product.run("rollback", "--host", "db1", "--json")
    assert fleet.text("db1", ASK) == before
