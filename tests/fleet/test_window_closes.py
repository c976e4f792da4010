"""Maintenance windows on real hosts."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from product import Product

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

STARTED = "systemctl show mariadb -p InvocationID --value"


def test_a_window_that_closes_in_mid_wave_leaves_the_rest_pending(fleet: Rehearsal, tmp_path: Path) -> None:
    """The host that was begun is finished, the next is not begun and is pending; --resume goes on when it is open."""
    fleet.dirty("db1")
    fleet.dirty("db2")
    now = datetime.now(UTC)
    closes = (now + timedelta(seconds=90)).replace(second=0, microsecond=0)
    opens = closes + timedelta(minutes=2)
    first = f"daily {now - timedelta(hours=1):%H:%M}-{closes:%H:%M} UTC"
    windows = [first, f"daily {opens:%H:%M}-{opens + timedelta(hours=2):%H:%M} UTC"]
    until = ["sh", "-c", f"while [ $(date +%s) -le {closes.timestamp():.0f} ]; do sleep 1; done"]
    hooks = {"before": {"command": until, "timeout_seconds": 120}}
    variables = {"rollout_soak_seconds": 0, "rollout_backup_method": "none", "rollout_window": windows}
    playbook = tmp_path / "windows.yml"
    playbook.write_text(
        yaml.safe_dump({"name": "windows", "changes": ["allocator"], "vars": variables, "hooks": hooks})
    )
    product = Product(fleet.inventory, tmp_path / "state")
    planned = product.plan("--host", "db1", "--host", "db2", "--playbook", str(playbook))
    assert f"db1: window {first}, " in planned.out
    assert "it is open now" in planned.out
    started = fleet.text("db2", STARTED)
    ran = product.run("apply", "--yes", "--json", expect=4).json
    assert ran["stopped"].startswith("window_closed: db2: its window opens ")
    assert {row["name"]: row["status"] for row in ran["hosts"]} == {"db1": "changed", "db2": "pending"}
    assert fleet.text("db2", STARTED) == started
    if datetime.now(UTC) < opens - timedelta(seconds=20):
        early = product.run("apply", "--resume", "--yes", "--json", expect=4).json
        assert {row["name"]: row["status"] for row in early["hosts"]} == {"db1": "changed", "db2": "pending"}
    time.sleep(max(0.0, (opens - datetime.now(UTC)).total_seconds() + 1))
    resumed = product.run("apply", "--resume", "--yes", "--json").json
    assert {row["name"]: row["status"] for row in resumed["hosts"]} == {"db1": "changed", "db2": "changed"}
