"""Reads that move pages, measured on a real server before the fix, beside what the simulator says of them."""

from pathlib import Path

import pytest
from product import Product
from sysbench_host import give_sysbench
from undo_law import differences, snapshot

from rollout.lab.rehearsal import Rehearsal

pytestmark = [pytest.mark.fleet, pytest.mark.alone]

VERSION = "mariadb -N -e \"SELECT SUBSTRING_INDEX(VERSION(), '-', 1)\""
# Whether one of our loads is on the way: a session of the run's own account.
SESSIONS = "mariadb -N -e \"SELECT COUNT(*) FROM information_schema.processlist WHERE user LIKE 'rollout_bench%'\""
USERS = "mariadb -N -e \"SELECT COUNT(*) FROM mysql.global_priv WHERE user LIKE 'rollout_bench%'\""
SCHEMAS = "mariadb -N -e \"SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE 'rollout_bench%'\""


def test_promotions_in_memory_are_those_of_the_simulator(trixie: Rehearsal, tmp_path: Path) -> None:
    """Uniform reads by primary key: a promotion a row as simulated, no miss, nothing left; refused without sysbench."""
    trixie.dirty("db1")
    product = Product(trixie.inventory, tmp_path / "state")
    words = ("bench", "lru", str(product.inventory), "--host", "db1", "--no-progress", "--case", "small:points:uniform")
    assert "sysbench is not there" in product.run(*words, "--load-from", "host", expect=1).err
    give_sysbench(trixie, "db1")
    short = ("--pairs", "1", "--seconds", "8", "--warm-seconds", "8", "--memory-share", "0.7", "--threads", "2")
    document = product.run(*words, *short, "--json").json
    (part,) = document["parts"]
    measured = {row["name"]: row["values"] for row in part["measurements"]}
    simulated = measured["simulated promotions a row"]
    assert len(measured["queries/s"]) == 2
    assert 0.05 < simulated[-1] < 0.369
    assert measured["promotions a row"][-1] == pytest.approx(simulated[-1], rel=0.2)
    assert max(measured["misses a row"]) < 0.001
    assert max(measured["others' share"]) < 0.2
    assert document["about"]["load_from"] == "host"
    assert (document["about"]["server"], document["kind"]) == (trixie.text("db1", VERSION), "lru")
    assert trixie.text("db1", SCHEMAS) == "0"
    assert "points uniform in memory" in product.run("bench", "show").out


def test_the_load_comes_from_the_controller_where_the_host_has_no_sysbench(trixie: Rehearsal, tmp_path: Path) -> None:
    """It is said where the load ran, the counters are the host's, and neither the account nor anything else stays."""
    trixie.dirty("db1")
    before = snapshot(trixie, "db1")
    product = Product(trixie.inventory, tmp_path / "state")
    short = ("--pairs", "1", "--seconds", "4", "--warm-seconds", "8", "--memory-share", "0.7", "--threads", "3")
    one = ("--host", "db1", "--no-progress", "--case", "small:points:uniform")
    words = ("bench", "lru", str(product.inventory), *one, *short)
    document = product.run(*words, "--json").json
    assert document["about"]["load_from"] == "controller"
    assert "through SSH" in document["remarks"][0]
    (part,) = document["parts"]
    measured = {row["name"]: row["values"] for row in part["measurements"]}
    assert len(measured["queries/s"]) == 2
    assert min(measured["queries/s"]) > 10
    assert max(measured["others' share"]) < 0.2
    assert measured["promotions a row"][-1] == pytest.approx(measured["simulated promotions a row"][-1], rel=0.2)
    assert (trixie.text("db1", SCHEMAS), trixie.text("db1", USERS)) == ("0", "0")
    assert differences(before, snapshot(trixie, "db1")) == []
