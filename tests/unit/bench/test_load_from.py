"""Where the load of an LRU bench comes from, and what of it is told."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from healthy_host import WELL, unit

from rollout.bench.controller import ControllerLoad, listens_at, native_hash
from rollout.bench.load import Seen
from rollout.bench.lru import Case, LoadFrom, LruPlan
from rollout.bench.store import Measurement, Part, Result
from rollout.bench.words import diff_lines
from rollout.errors import WrongState
from rollout.settings import Secret

ROOMY = replace(
    WELL,
    workload=replace(WELL.workload, max_connections=151),
    pool=replace(WELL.pool, size_bytes=128 * 2**20),
)
SEEN = Seen(ROOMY, unit(), "20261130t100000-abcd", "--no-defaults", "/s", "", "/usr/bin/sysbench", 1.0)
HERE = replace(SEEN, sysbench="", sysbench_here="/usr/bin/sysbench", port=3306)
ONE = (Case("small", "points", "uniform"),)


@pytest.mark.parametrize(
    ("asked", "seen", "place"),
    [
        ("auto", SEEN, "host"),
        ("auto", replace(HERE, sysbench="/usr/bin/sysbench"), "host"),
        ("auto", HERE, "controller"),
        ("auto", replace(HERE, sysbench="/usr/bin/sysbench", login="--defaults-file=/x"), "controller"),
        ("host", replace(HERE, sysbench="/usr/bin/sysbench"), "host"),
        ("controller", replace(HERE, sysbench="/usr/bin/sysbench"), "controller"),
    ],
)
def test_the_host_goes_before_the_controller(asked: LoadFrom, seen: Seen, place: str) -> None:
    """sysbench runs on the host where it can log in there; the result says where it ran, and how it can be repeated."""
    load = LruPlan(cases=ONE, load_from=asked).compose(seen)
    assert load.about["load_from"] == place
    assert (load.driver is not None) == (place == "controller")
    assert ("lru.lua" in load.files) == (place == "host")


@pytest.mark.parametrize(
    ("asked", "seen", "reason"),
    [
        ("auto", replace(SEEN, sysbench=""), "sysbench is not there, neither on db1 nor on the controller: install"),
        ("host", HERE, "sysbench is not there: install Debian's package sysbench on db1"),
        ("host", replace(SEEN, login="--defaults-file=/x"), "logs in as root over the socket"),
        ("controller", SEEN, "sysbench is not on the controller: install Debian's package sysbench there"),
        ("auto", replace(HERE, port=0), "the server listens on no port that could be found"),
        ("auto", replace(SEEN, facts=WELL), "the size of the buffer pool cannot be told"),
    ],
)
def test_without_a_client_it_is_refused(asked: LoadFrom, seen: Seen, reason: str) -> None:
    """The refusal names where sysbench is missing and what to install."""
    with pytest.raises(WrongState) as caught:
        LruPlan(cases=ONE, load_from=asked).compose(seen)
    assert reason.replace("db1", seen.facts.host) in str(caught.value)


def test_the_host_learns_no_password() -> None:
    """What goes to the host holds the hash alone; the account reads one schema and comes from the host itself."""
    load = LruPlan(cases=ONE, pairs=1).compose(HERE)
    assert load.driver is not None
    whole = "\n".join([load.middle, *load.files.values(), str(load.about)])
    assert load.driver.password.reveal() not in whole
    assert load.files["account.sql"].splitlines() == [
        "CREATE USER 'rollout_bench_20261130t100000_abcd'@'127.0.0.1' IDENTIFIED BY PASSWORD "
        f"'{native_hash(load.driver.password)}';",
        r"GRANT SELECT ON `rollout\_bench\_20261130t100000\_abcd`.* TO "
        "'rollout_bench_20261130t100000_abcd'@'127.0.0.1';",
    ]


def test_the_hash_is_the_servers() -> None:
    """SELECT PASSWORD('mariadb') on a server."""
    assert native_hash(Secret("mariadb")) == "*54958E764CE10E50764C2EECBB71D01F08549980"


def test_every_start_of_sysbench_has_a_seed_of_its_own() -> None:
    """A measurement that began with its warming up's seed would read the same rows again; the same plan repeats."""
    load = LruPlan(pairs=2).compose(HERE)
    assert load.driver is not None
    seeds = [word for words in load.driver.runs for word in words if word.startswith("--rand-seed=")]
    assert len(seeds) == len(set(seeds)) == 2 * len(LruPlan(pairs=2).order())
    again = LruPlan(pairs=2).compose(HERE).driver
    assert again is not None
    assert again.runs == load.driver.runs


@pytest.mark.parametrize(
    ("bound", "address"),
    [
        ("", "127.0.0.1"),
        ("*", "127.0.0.1"),
        ("::", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("10.0.0.5,::1", "10.0.0.5"),
    ],
)
def test_where_the_server_listens_for_its_own_host(bound: str, address: str) -> None:
    """Loopback when it listens everywhere, else the first address that it names."""
    assert listens_at(bound) == address


def sysbench_that(folder: Path, text: str) -> ControllerLoad:
    """Return a load whose sysbench is a script of ours."""
    program = folder / "sysbench"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return ControllerLoad(str(program), Path("lru.lua"), (), "127.0.0.1", 3306, "bench", Secret("hush"))


def test_sysbench_gets_its_password_on_its_standard_input(tmp_path: Path) -> None:
    """Nothing of it stands in the arguments; what it says and how it ends come back."""
    load = sysbench_that(tmp_path, 'echo "$@"; cat; exit 3')
    status, said = load.run_once(Path("/socket"), ("--time=5",), {}, lambda: False)
    arguments, password = said.decode().splitlines()
    assert arguments == (
        "--config-file=/dev/stdin lru.lua --mysql-socket=/socket --mysql-user=bench --mysql-db=bench --time=5 run"
    )
    assert (status, password) == (3, "mysql-password=hush")


def test_a_run_that_nobody_wants_any_more_is_ended(tmp_path: Path) -> None:
    """An interrupt or the end on the host ends sysbench here; a missing one is told."""
    over = threading.Event()
    threading.Timer(0.3, over.set).start()
    load = sysbench_that(tmp_path, "exec sleep 60")
    assert load.run_once(Path("/socket"), (), {}, over.is_set)[0] == -15
    (tmp_path / "sysbench").unlink()
    assert load.run_once(Path("/socket"), (), {}, over.is_set) == (
        127,
        f"{tmp_path}/sysbench: No such file or directory\n".encode(),
    )


def test_a_comparison_of_two_places_warns() -> None:
    """Latency holds the network in one of them; results from before there was a choice are from the host."""

    def result(**about: str) -> Result:
        part = Part(label="points uniform in memory", measurements=(Measurement(name="p50 ms", values=(1.0,)),))
        return Result(kind="lru", host="db1", run_id="r", about=about, order=(part.label,), parts=(part,))

    warned = "the load came from the host in the first and from the controller in the second"
    assert warned in "\n".join(diff_lines(result(), result(load_from="controller")))
    assert "the load came" not in "\n".join(diff_lines(result(), result(load_from="host")))
