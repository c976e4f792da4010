"""Seconds without an answer: an apply of both changes beside a bare restart of the same host, in pairs, in turn.

With `dirty`: an apply of the allocator with the shorter stop beside one without it, on a host with many dirty pages.
Needs root and Linux: it brings a fleet of one up for itself. Usage: python benchmarks/downtime.py [PAIRS] [dirty]
"""

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from product import Product

from rollout.lab.fleet import Fleet, down, up
from rollout.lab.layout import Place

HOST = "db1"
NAMES = {"both": ("bare restart", "apply"), "dirty": ("shorter stop", "plain stop")}


RESTART = """begun=$(date +%s%N)
systemctl restart mariadb
until mariadb -e 'SELECT 1' >/dev/null 2>&1; do sleep 0.01; done
echo $(( ($(date +%s%N) - begun) / 1000000 ))"""


# About 3,800 dirty pages of 16 KiB in a pool of 8,192, and nobody writes them out before they are asked for.
DIRT = """mariadb -e "SET GLOBAL innodb_max_dirty_pages_pct=99; CREATE DATABASE IF NOT EXISTS dirt;
CREATE OR REPLACE TABLE dirt.t (a INT PRIMARY KEY, b CHAR(200)) ENGINE=InnoDB;
INSERT INTO dirt.t SELECT seq, REPEAT('x', 200) FROM dirt.seq_1_to_250000;
SHOW STATUS LIKE 'Innodb_buffer_pool_pages_dirty'" -N | cut -f 2"""


def bare_restart_seconds(fleet: Fleet) -> float:
    """Restart the server with nothing else to do: seconds from the command to the first answer.

    Its sockets stay open then, so that a client waits and is not refused: the command's own time is what can be told.
    """
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
    wish = "{dirty_pages: 50, wait_seconds: 120}" if shorter else "false"
    settings = f"{{rollout_soak_seconds: 0, rollout_backup_method: none, rollout_shorter_stop: {wish}}}"
    playbook.write_text(f"name: stop\nchanges: [allocator]\nvars: {settings}\n")
    print(f"{int(fleet.shell(HOST, DIRT).stdout)} dirty pages; ", end="")
    return apply_seconds(product, "--playbook", str(playbook))


def main(pairs: int, what: str) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = Place(folder, "downtime")
        try:
            fleet = up(place, hosts=1)
            fleet.publish()
            product = Product(fleet.inventory, folder / "state")
            first, second = [], []
            for number in range(1, pairs + 1):
                if what == "dirty":
                    first.append(stop_seconds(fleet, product, folder, shorter=True))
                    second.append(stop_seconds(fleet, product, folder, shorter=False))
                else:
                    first.append(bare_restart_seconds(fleet))
                    second.append(apply_seconds(product))
                names = NAMES[what]
                print(f"pair {number}: {names[0]} {first[-1]:.2f} s, {names[1]} {second[-1]:.2f} s", flush=True)
        finally:
            down(place)
    medians = statistics.median(first), statistics.median(second)
    print(f"medians: {medians[0]:.2f} and {medians[1]:.2f} s, ratio {medians[1] / medians[0]:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, "dirty" if "dirty" in sys.argv[2:] else "both")
