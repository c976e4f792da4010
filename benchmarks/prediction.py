"""How good the fitted simulator is: predicted and measured hit ratio and promotions on a host of the rehearsal fleet.

Runs sysbench (Debian package) from this machine against one lab host, fits the simulator to what two probes saw, then
changes `innodb_old_blocks_time`, `innodb_old_blocks_pct` and the size of the pool, and puts the prediction beside what
was measured. Every number of docs/prediction.md about it comes from here. Takes six to nine minutes a workload:

    sudo rollout lab up --hosts 1 --distro trixie --no-writer
    sudo python benchmarks/prediction.py .rollout/lab/lab/inventory.yml db1 uniform pareto
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click

from rollout.cli.options import FleetOptions, select_hosts
from rollout.facts.model import Facts
from rollout.facts.unknown import known_or
from rollout.prediction.fit import Fitted, fit
from rollout.prediction.observed import Observed, observed
from rollout.prediction.rates import rates
from rollout.remote import Transport, open_transport
from rollout.remote.probing import look_at
from rollout.settings import Host

ROWS = 500_000
WARM_SECONDS, SAMPLE_SECONDS = 50, 20
FULL_SECONDS, GROWTH = 15, 0.002  # a pool counts as full when its data pages have grown by less than that in so long
ZIPF = Path(__file__).with_name("zipf_point_select.lua")
_POINTS = ("oltp_point_select", "--rate=600")
_CONFIG = """
cat > /etc/mysql/mariadb.conf.d/zz-load.cnf <<'END'
[mariadbd]
bind-address=0.0.0.0
innodb_buffer_pool_size={pool}
innodb_lru_scan_depth=100
innodb_flush_log_at_trx_commit=0
innodb_buffer_pool_load_at_startup=0
innodb_buffer_pool_dump_at_shutdown=0
END
systemctl restart mariadb
mariadb -e "create database if not exists sbtest; grant all on sbtest.* to sb@'%' identified by ''"
"""
# A server that only reads moves no page: its clock starts when purge frees the first one.
_START_CLOCK = """
mariadb sbtest -e "create table freed select * from sbtest1 limit 20000; delete from freed; do sleep(4);
drop table freed; set global innodb_max_dirty_pages_pct=0; do sleep(5); set global innodb_max_dirty_pages_pct=90"
"""
_DUMP = "timeout {seconds} sh -c 'while :; do mariadb-dump --single-transaction sbtest > /dev/null; done'"


@dataclass(frozen=True)
class Workload:
    """A sysbench script with its options, the pool it runs in, the other pool, and whether dumps run beside it."""

    options: tuple[str, ...]
    pool: str = "64M"
    other_pool: str = "96M"
    dump: bool = False


# The rates are such that a full pool comes to rest within WARM_SECONDS: at 25 transactions a second ranges do not.
WORKLOADS: Mapping[str, Workload] = {
    "memory": Workload((*_POINTS, "--rand-type=uniform"), pool="384M", other_pool="256M"),
    "uniform": Workload((*_POINTS, "--rand-type=uniform")),
    "pareto": Workload((*_POINTS, "--rand-type=pareto"), other_pool="40M"),
    "zipf": Workload((str(ZIPF), "--rate=600"), other_pool="40M"),
    "ranges": Workload(("oltp_read_only", "--rate=150", "--point-selects=0", "--skip-trx=on", "--rand-type=pareto")),
    "read-write": Workload(("oltp_read_write", "--rate=60", "--rand-type=pareto")),
    "dump": Workload((*_POINTS, "--rand-type=pareto"), dump=True),
    "idle": Workload(("oltp_point_select", "--rate=1", "--rand-type=uniform")),
    # Never looked at while the model was made: no power law among them but in the last.
    "gaussian": Workload((*_POINTS, "--rand-type=gaussian")),
    "hot-rows": Workload(
        (*_POINTS, "--rand-type=special", "--rand-spec-pct=10", "--rand-spec-res=60"), other_pool="40M"
    ),
    "points-and-ranges": Workload(("oltp_read_only", "--rate=60", "--skip-trx=on", "--rand-type=uniform")),
    "updates": Workload(("oltp_update_non_index", "--rate=300", "--rand-type=pareto")),
}


class Bench:
    """One lab host under sysbench."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.transport: Transport = open_transport(host)

    def run(self, script: str) -> None:
        """Run a script on the host as root."""
        self.transport.run(script, timeout_seconds=600).check("preparing the load")

    def sysbench(self, *words: str) -> list[str]:
        """Return the command line of sysbench against the host."""
        host = f"--mysql-host={self.host.connection.address}"
        return ["sysbench", words[0], host, "--mysql-user=sb", "--tables=1", f"--table-size={ROWS}", *words[1:]]

    def prepare(self, pool: str) -> None:
        """Set the pool's size (the server restarts), and make the table where it is not there."""
        self.run(_CONFIG.format(pool=pool))
        subprocess.run(self.sysbench("oltp_point_select", "prepare"), check=False, capture_output=True)
        self.run(_START_CLOCK)

    @contextmanager
    def load(self, workload: Workload) -> Iterator[None]:
        """Keep the load on while the body runs."""
        words = self.sysbench(*workload.options, "--threads=4", "--time=900", "run")
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as client:
            if workload.dump:
                self.run(f"setsid {_DUMP.format(seconds=900)} > /dev/null 2>&1 < /dev/null &")
            try:
                yield
            finally:
                client.terminate()
                if workload.dump:
                    self.run("systemctl restart mariadb")

    def fill(self) -> None:
        """Wait until the load has filled the pool, or has nothing more to bring in, and then until that is at rest.

        A pool that still fills evicts nothing and moves few pages: with skew the last tenth of it takes minutes.
        """
        pages = 0
        while (now := known_or(self.look().pool.pages_data, 0)) > pages * (1 + GROWTH):
            pages = now
            time.sleep(FULL_SECONDS)
        time.sleep(WARM_SECONDS)

    def look(self) -> Facts:
        """Probe the host."""
        return look_at(self.transport, self.host).facts

    def observe(self) -> Observed | str:
        """Probe twice; a sentence where there is nothing to fit."""
        first = self.look()
        time.sleep(SAMPLE_SECONDS)
        second = self.look()
        # A pool this small is warm within a minute: what the program says of young servers is set aside here.
        seen = observed(replace(rates(first, second), fatal=()), second, "mariadb-10.5")
        return seen if isinstance(seen, Observed) else seen.message


def validate(bench: Bench, name: str) -> None:
    """Fit one workload, then predict and measure it under other settings."""
    workload = WORKLOADS[name]
    bench.prepare(workload.pool)
    with bench.load(workload):
        bench.fill()
        seen = bench.observe()
        if isinstance(seen, str):
            click.echo(f"{name}: {seen}")
            return
        found = fit(seen)
        summary = found.summary
        click.echo(
            f"{name}: fit {'good' if summary.good else 'BAD'} in {summary.seconds:.1f} s; misses a request observed "
            f"{summary.observed_miss_ratio:.4f} fitted {summary.fitted_miss_ratio:.4f}; promotions a request observed "
            f"{summary.observed_promotion_ratio:.5f} fitted {summary.fitted_promotion_ratio:.5f}; old pages left alone "
            f"{_ratio(summary.observed_not_young_ratio)} fitted {_ratio(summary.fitted_not_young_ratio)}; {found.reads}"
        )
        for setting, values in (
            ("innodb_old_blocks_time", {"old_blocks_time_ms": 0}),
            ("innodb_old_blocks_time", {"old_blocks_time_ms": 3000}),
            ("innodb_old_blocks_pct", {"old_blocks_pct": 60}),
        ):
            (value,) = values.values()
            bench.run(f"mariadb -e 'set global innodb_old_blocks_time=1000; set global {setting}={value}'")
            time.sleep(WARM_SECONDS)
            report(bench, name, f"{setting.removeprefix('innodb_')}={value}", found, values)
    bench.prepare(workload.other_pool)
    with bench.load(workload):
        bench.fill()
        report(bench, name, f"pool={workload.other_pool}", found, {})


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.5f}"


def report(bench: Bench, name: str, label: str, found: Fitted, values: Mapping[str, int]) -> None:
    """Measure, and print the prediction beside it."""
    seen = bench.observe()
    if isinstance(seen, str):
        click.echo(f"{name} {label}: {seen}")
        return
    outcome = found.under("mariadb-10.5", **values, frames=seen.frames)
    hit, truth = found.hit_ratio(outcome), 1 - seen.reads / seen.requests
    made, measured = outcome.promotions / found.seen.requests, seen.promotions / seen.requests
    ratio = f"{made / measured:.3f}" if measured else "-"
    click.echo(
        f"{name:10} {label:22} hit ratio predicted {hit:.4f} measured {truth:.4f} ({100 * (hit - truth):+.2f} points); "
        f"promotions a request predicted {made:.5f} measured {measured:.5f} (ratio {ratio}); "
        f"{seen.requests:,.0f} requests/s"
    )


def main() -> None:
    """Run the workloads that are named, or all."""
    inventory, host, *names = sys.argv[1:]
    (found,) = select_hosts(FleetOptions((inventory,), "", (host,)))
    bench = Bench(found)
    for name in names or WORKLOADS:
        validate(bench, name)
    bench.transport.close()


if __name__ == "__main__":
    main()
