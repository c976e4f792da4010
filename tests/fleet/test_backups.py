"""Backups on a real host: they restore, others' are accepted when fresh, own commands take them, old ones go."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from product import Product
from undo_law import table_checksums

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

FOLDER = "/var/backups/rollout"
STARTED = "systemctl show mariadb -p InvocationID --value"
OLD = """mkdir -p -m 0700 /var/backups/rollout; cd /var/backups/rollout
for name in 20250101t000000-aaaa 20250102t000000-bbbb 20250103t000000-cccc; do mkdir $name; echo >$name/manifest; done
mkdir -p 20250104t000000-dddd not-ours; mkdir -p -m 0700 /var/lib/rollout/20250102t000000-bbbb
touch /var/lib/rollout/20250102t000000-bbbb/begun"""


def product_for(fleet: Rehearsal, folder: Path, host: str, **settings: Any) -> Product:
    """Give a test the product with a plan for one host that has these settings."""
    fleet.dirty(host)
    playbook = folder / "backups.yml"
    variables = {"rollout_soak_seconds": 0, **settings}
    playbook.write_text(yaml.safe_dump({"name": "backups", "changes": ["allocator"], "vars": variables}))
    product = Product(fleet.inventory, folder / "state")
    product.plan("--host", host, "--playbook", str(playbook))
    return product


def ended(product: Product, phase: str) -> dict[str, Any]:
    """Return what the journal of the last run says of the end of a phase."""
    journal = max(product.state.glob("runs/*/journal.jsonl")).read_text().splitlines()
    ends = (json.loads(line)["data"] for line in journal if '"phase_ended"' in line)
    return next(dict(data) for data in ends if data["phase"] == phase)


def test_a_backup_is_started_and_read_and_old_ones_go(fleet: Rehearsal, tmp_path: Path) -> None:
    """--verify-restore reads every table and leaves no copy; two sealed backups stay, and that of an open run."""
    fleet.dirty("db1")
    fleet.text("db1", OLD)
    tables = table_checksums(fleet, "db1")
    product = product_for(fleet, tmp_path, "db1", rollout_backup_keep=2)
    product.run("apply", "--yes", "--verify-restore")
    run = product.run("status", "--json").json["run_id"]
    schemas = "'mysql', 'information_schema', 'performance_schema', 'sys'"
    live = f"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema NOT IN ({schemas})"
    assert ended(product, "restore")["tables_read"] == int(fleet.text("db1", f'mariadb -N -e "{live}"'))
    told = dict(line.split("\t") for line in fleet.text("db1", f"cat {FOLDER}/{run}/restored-checksums").splitlines())
    names = {name.replace("`", "") for (_, name) in tables}
    assert names <= told.keys()
    assert fleet.text("db1", f"ls {FOLDER}/{run}/restored 2>/dev/null || echo none") == "none"
    assert ended(product, "retention")["removed"] == ["20250101t000000-aaaa"]
    left = fleet.text("db1", f"ls {FOLDER}").split()
    assert left == ["20250102t000000-bbbb", "20250103t000000-cccc", "20250104t000000-dddd", run, "not-ours"]


def test_a_backup_that_does_not_restore_stops_before_the_change(fleet: Rehearsal, tmp_path: Path) -> None:
    """The second server is given too little memory to begin: nothing is stopped, nothing is left of it."""
    product = product_for(fleet, tmp_path, "db2")
    fleet.text("db2", "printf 'MemAvailable: 1000 kB\\n' >/root/meminfo; mount --bind /root/meminfo /proc/meminfo")
    started = fleet.text("db2", STARTED)
    row = product.run("apply", "--yes", "--verify-restore", "--json", expect=4).json["hosts"][0]
    fleet.text("db2", "umount /proc/meminfo")
    assert "the second server needs 524288 KiB of memory, 1000 KiB are available" in row["error"]
    assert fleet.text("db2", STARTED) == started


def test_backups_of_others(fleet: Rehearsal, tmp_path: Path) -> None:
    """A fresh one is accepted, an old one is not, and an own command takes one and is told where."""
    accept = {"command": ["sh", "-c", "date -u -d '3 hours ago' +%Y-%m-%dT%H:%M:%S+00:00"], "max_age": "2h"}
    own = {"command": ["sh", "-c", "mkdir -p $ROLLOUT_DIRECTORY; echo taken $ROLLOUT_HOST"], "where": "host"}
    product = product_for(fleet, tmp_path, "db3", rollout_backup_accept=accept, rollout_backup_command=own)
    product.run("apply", "--yes")
    assert ended(product, "backup")["how"] == "command"
    assert ended(product, "backup")["said"].endswith("on the host ended with 0: taken db3")
    product.run("rollback", "--host", "db3", "--yes")
    product = product_for(fleet, tmp_path, "db3", rollout_backup_accept={**accept, "max_age": "4h"})
    product.run("apply", "--yes")
    assert ended(product, "backup")["how"] == "accepted"
    assert ended(product, "backup")["said"].endswith(", 3.0 h ago")
