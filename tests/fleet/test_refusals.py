"""What is refused on real hosts of apt, as printed, with the server never touched.

Seconds: about 60 on two idle cores.
"""

from pathlib import Path

import pytest
from product import Product

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

STATE = "systemctl show mariadb -p InvocationID -p MainPID --value | tr '\\n' ' '"
# A repository of another origin that has the newer release; the host's own has not.
FOREIGN = """apt-get update -q >/dev/null
mkdir -p /srv/foreign && cd /srv/foreign
sed 's/^Version: OLD$/Version: NEW/' /var/lib/apt/lists/*_Packages >Packages
gzip -k Packages
{ printf 'Origin: Elsewhere\\nLabel: Elsewhere\\nSuite: stable\\nCodename: stable\\n'
  date -u '+Date: %a, %d %b %Y %H:%M:%S +0000'
  echo SHA256:
  for file in Packages Packages.gz; do
    echo " $(sha256sum <$file | cut -d ' ' -f 1) $(stat -c %s $file) $file"
  done; } >Release
echo 'deb [trusted=yes] file:/srv/foreign ./' >/etc/apt/sources.list.d/foreign.list"""
HALF = """cd /tmp && apt-get download -q mariadb-common=OLD 2>&1
cp /var/lib/dpkg/info/mariadb-common.postinst /root/postinst
dpkg --unpack mariadb-common_*.deb"""


@pytest.fixture
def product(fleet: Rehearsal, tmp_path: Path) -> Product:
    """Give the test the product; db2 is changed by hand and db1 stands beside it as it is."""
    fleet.dirty("db2")
    return Product(fleet.inventory, tmp_path / "state")


def printed(product: Product) -> str:
    """Plan db2 and return what was said; `pytest -s` shows it."""
    ran = product.plan("--host", "db2", expect=None)
    told = "\n".join(line for line in (ran.out + ran.err).splitlines() if line.startswith("db2: "))
    print(told)
    return told


def test_a_held_package(fleet: Rehearsal, product: Product) -> None:
    """Named, blocked, and still held afterwards; an unrelated hold stays too (L20, L21)."""
    fleet.publish()
    fleet.text("db2", "apt-mark hold mariadb-server mariadb-common sudo")
    state = fleet.text("db2", STATE)
    assert "BLOCKED held: held: mariadb-common mariadb-server; a hold is an order" in printed(product)
    assert product.run("apply", "--yes", expect=None).code != 0
    assert fleet.text("db2", "apt-mark showhold").split() == ["mariadb-common", "mariadb-server", "sudo"]
    assert fleet.text("db2", STATE) == state


def test_a_foreign_repository_that_is_newer(fleet: Rehearsal, product: Product) -> None:
    """Its origin is named and not taken; jemalloc alone is planned."""
    record = fleet.lab.base.record
    fleet.text("db2", FOREIGN.replace("OLD", record.old).replace("NEW", record.new))
    told = printed(product)
    found = f"mariadb-server-core {record.new} is at file:/srv/foreign ./ Packages (Elsewhere)"
    assert f"warning other_origin_newer: {found}, another origin: not taken" in told
    assert "db2: packages:" not in told


def test_a_package_that_is_half_configured(fleet: Rehearsal, product: Product) -> None:
    """dpkg --audit is quoted; nothing is planned on top of it (L31)."""
    fleet.publish()
    fleet.text("db2", HALF.replace("OLD", fleet.lab.base.record.old))
    state = fleet.text("db2", STATE)
    told = printed(product)
    assert "BLOCKED packages_broken: dpkg --audit:" in told
    assert "mariadb-common" in told
    assert fleet.text("db2", STATE) == state


def test_what_preflight_finds_before_the_server_is_stopped(fleet: Rehearsal, product: Product) -> None:
    """L27: an index that lists a file which is not there. L31: the option file without which a script would fail."""
    fleet.publish()
    product.plan("--host", "db2")
    fleet.text("db2", "mv /etc/mysql/mariadb.cnf /root/")
    gone = next(fleet.lab.place.repository.glob(f"libmariadb3_*{fleet.lab.base.record.new.split(':')[-1]}*.deb"))
    state, kept = fleet.text("db2", STATE), gone.read_bytes()
    try:
        gone.unlink()
        tried = product.run("apply", "--check", "--json", expect=None).json["hosts"][0]["preflight"]
    finally:
        gone.write_bytes(kept)
    found = {entry["id"]: (entry["status"], entry["seen"]) for entry in tried}
    assert found["option_file"][0] == "fail"
    assert "/etc/mysql/mariadb.cnf is missing" in found["option_file"][1]
    assert found["download"][0] == "fail"
    assert "libmariadb3" in found["download"][1]
    assert fleet.text("db2", STATE) == state
    fleet.text("db2", "mv /root/mariadb.cnf /etc/mysql/")
