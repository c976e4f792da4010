"""Seconds without an answer, in pairs, in turn, on a host of the rehearsal fleet.

An apply of both changes beside a bare restart of the same host; or, with `dirty`, an apply of the allocator with the
shorter stop beside one without it, on a host with many dirty pages. Needs root and Linux: it brings a fleet of one up
for itself. Usage: python benchmarks/downtime.py [PAIRS] [dirty]
"""

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from product import Product

from rollout.lab.fleet import Fleet, down, up
from rollout.lab.layout import Place

HOST = "db1"


RESTART = """begun=$(date +%s%N)
systemctl restart mariadb
until mariadb -e 'SELECT 1' >/dev/null 2>&1; do sleep 0.01; done
echo $(( ($(date +%s%N) - begun) / 1000000 ))"""

# A pool of 512 MiB in which hardly anything has to be written out before it is asked for, and rows that fill it.
LARGE = """printf '[mariadbd]\ninnodb_buffer_pool_size=512M\ninnodb_log_file_size=1G\ninnodb_max_dirty_pages_pct=99\n' \
  >/etc/mysql/mariadb.conf.d/90-dirty.cnf && systemctl restart mariadb"""
DIRT = """mariadb -N -e "CREATE DATABASE IF NOT EXISTS dirt;
CREATE OR REPLACE TABLE dirt.t (a INT PRIMARY KEY, b CHAR(200));
INSERT INTO dirt.t SELECT seq, REPEAT('x', 200) FROM dirt.seq_1_to_800000;
SHOW STATUS LIKE 'Innodb_buffer_pool_pages_dirty'" | cut -f 2"""


def bare_restart_seconds(fleet: Fleet) -> float:
    """Restart the server with nothing else to do: seconds from the command to the first answer."""
    return int(fleet.shell(HOST, RESTART).stdout) / 1000


def apply_seconds(product: Product, *words: str) -> float:
    """Apply the planned changes, take them back, and return the longest time without an answer of the apply."""
    product.plan("--host", HOST, *words)
    row = product.run("apply", "--yes", "--json").json["hosts"][0]
    assert (row["status"], row["restarts"]) == ("changed", 1), row
    product.run("rollback", "--host", HOST)
    return float(row["downtime_seconds"])


def stop_seconds(fleet: Fleet, product: Product, folder: Path, *, shorter: bool) -> float:
    """Make many pages dirty, apply the allocator, take it back, and return the apply's time without an answer."""
    playbook = folder / "stop.yml"
    wish = "{dirty_pages: 50, wait_seconds: 300}" if shorter else "false"
    settings = f"{{rollout_soak_seconds: 0, rollout_backup_method: none, rollout_shorter_stop: {wish}}}"
    playbook.write_text(f"name: stop\nchanges: [allocator]\nvars: {settings}\n")
    print(f"{int(fleet.shell(HOST, DIRT).stdout):,} dirty pages; ", end="", flush=True)
    return apply_seconds(product, "--playbook", str(playbook))


def pairs_of(number: int, names: tuple[str, str], first: Callable[[], float], second: Callable[[], float]) -> None:
    """Measure in turn and print each pair, the medians, and the second's ratio to the first."""
    seen: list[tuple[float, float]] = []
    for pair in range(1, number + 1):
        seen.append((first(), second()))
        print(f"pair {pair}: {names[0]} {seen[-1][0]:.2f} s, {names[1]} {seen[-1][1]:.2f} s", flush=True)
    medians = [statistics.median(column) for column in zip(*seen, strict=True)]
    print(f"medians: {names[0]} {medians[0]:.2f} s, {names[1]} {medians[1]:.2f} s, ratio {medians[1] / medians[0]:.1f}")


def main(number: int, what: str) -> None:
    """Bring a host up, measure, print, and take the host down."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = Place(folder, "downtime")
        try:
            fleet = up(place, hosts=1)
            product = Product(fleet.inventory, folder / "state")
            if what == "dirty":
                fleet.shell(HOST, LARGE)
                pairs_of(
                    number,
                    ("shorter stop", "plain stop"),
                    lambda: stop_seconds(fleet, product, folder, shorter=True),
                    lambda: stop_seconds(fleet, product, folder, shorter=False),
                )
            else:
                fleet.publish()
                pairs_of(
                    number,
                    ("bare restart", "apply"),
                    lambda: bare_restart_seconds(fleet),
                    lambda: apply_seconds(product),
                )
        finally:
            down(place)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, "dirty" if "dirty" in sys.argv[2:] else "both")
