"""Seconds without an answer: an apply of both changes beside a bare restart of the same host, in pairs, in turn.

Needs root and Linux: it brings a fleet of one up for itself. Usage: python benchmarks/downtime.py [PAIRS]
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


RESTART = """begun=$(date +%s%N)
systemctl restart mariadb
until mariadb -e 'SELECT 1' >/dev/null 2>&1; do sleep 0.01; done
echo $(( ($(date +%s%N) - begun) / 1000000 ))"""


def bare_restart_seconds(fleet: Fleet) -> float:
    """Restart the server with nothing else to do: seconds from the command to the first answer.

    Its sockets stay open then, so that a client waits and is not refused: the command's own time is what can be told.
    """
    return int(fleet.shell(HOST, RESTART).stdout) / 1000


def apply_seconds(product: Product) -> float:
    """Apply both changes, take them back, and return the longest time without an answer of the apply."""
    product.plan("--host", HOST)
    row = product.run("apply", "--yes", "--json").json["hosts"][0]
    assert (row["status"], row["restarts"]) == ("changed", 1), row
    product.run("rollback", "--host", HOST)
    return float(row["downtime_seconds"])


def main(pairs: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), "downtime")
        try:
            fleet = up(place, hosts=1)
            fleet.publish()
            product = Product(fleet.inventory, Path(folder) / "state")
            bare, applied = [], []
            for number in range(1, pairs + 1):
                bare.append(bare_restart_seconds(fleet))
                applied.append(apply_seconds(product))
                print(f"pair {number}: bare restart {bare[-1]:.2f} s, apply {applied[-1]:.2f} s", flush=True)
        finally:
            down(place)
    ratio = statistics.median(applied) / statistics.median(bare)
    print(f"median: bare {statistics.median(bare):.2f} s, apply {statistics.median(applied):.2f} s, ratio {ratio:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
