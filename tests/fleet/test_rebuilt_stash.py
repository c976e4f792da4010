"""Where the installed packages are gone everywhere, the way back is made of the installed files."""

import json
from pathlib import Path

import pytest
from product import Product
from undo_law import differences, snapshot, table_checksums

from rollout.lab.rehearsal import Rehearsal

pytestmark = pytest.mark.fleet

# The host's repository without the release that is installed: only the newer one is left to be had.
FORGET = r"""version=$(dpkg-query -W -f '${Version}' mariadb-server)
cp -a /srv/repo /root/repo && rm -f /root/repo/*mariadb*"${version#*:}"*.deb && cd /root/repo
gzip -dc Packages.gz | awk -v version="$version" '
  BEGIN { RS = ""; ORS = "\n\n" } index($0, "\nVersion: " version "\n") == 0' >left
gzip -nc left >Packages.gz; mv left Packages
sed -i '/^SHA256/,$d' Release; echo SHA256: >>Release
for file in Packages Packages.gz; do
  printf ' %s %s %s\n' "$(sha256sum <$file | cut -d ' ' -f 1)" "$(stat -c %s $file)" $file >>Release
done
rm Packages
mount --bind /root/repo /srv/repo; rm -f /var/cache/apt/archives/*.deb
"""


@pytest.fixture
def product(fleet: Rehearsal, tmp_path: Path) -> Product:
    """Give the test the product, and db2 whose installed release is nowhere to be had."""
    fleet.publish()
    fleet.dirty("db2")
    fleet.text("db2", FORGET)
    product = Product(fleet.inventory, tmp_path / "state")
    row = product.plan("--host", "db2", "--json").json["hosts"][0]
    assert "origin_unknown" in {found["code"] for found in row["blockers"]}
    playbook = tmp_path / "gone.yml"
    # mariadb-backup of the running release is gone as well, so that a dump is the backup.
    variables = "rollout_packages_origin: rollout-lab/bookworm, rollout_soak_seconds: 0, "
    variables += "rollout_backup_method: mariadb-dump"
    playbook.write_text(f"name: gone\nchanges: [packages, allocator]\nvars: {{{variables}}}\n")
    product.plan("--host", "db2", "--playbook", str(playbook))
    return product


def test_packages_that_are_gone_everywhere_are_rebuilt_and_go_back(fleet: Rehearsal, product: Product) -> None:
    """The undo law holds with archives made of the installed files; the run names them."""
    before, tables = snapshot(fleet, "db2"), table_checksums(fleet, "db2")
    row = product.run("apply", "--yes", "--json").json["hosts"][0]
    assert row["status"] == "changed", row
    journal = max(product.state.glob("runs/*/journal.jsonl")).read_text().splitlines()
    ends = (json.loads(line)["data"] for line in journal if '"phase_ended"' in line)
    rebuilt = next(data["rebuilt"] for data in ends if data["phase"] == "way_back")
    assert "mariadb-server-core 1:10.11" in " ".join(rebuilt)
    assert len(rebuilt) > 5
    assert product.run("rollback", "--host", "db2", "--json").json["hosts"][0]["status"] == "rolled_back"
    assert table_checksums(fleet, "db2") == tables
    assert differences(before, snapshot(fleet, "db2")) == []


def test_packages_that_cannot_be_rebuilt_need_a_word(fleet: Rehearsal, product: Product) -> None:
    """A file that is not as it was installed: no way back, so no change, unless --accept-no-rollback says so."""
    fleet.text("db2", "echo '# changed by hand' >>/usr/bin/mariadb-access")
    row = product.run("apply", "--yes", "--json", expect=4).json["hosts"][0]
    assert row["status"] == "failed"
    assert "there is no way back: mariadb-" in row["error"]
    assert "/usr/bin/mariadb-access" in row["error"]
    assert "--accept-no-rollback" in row["error"]
    product.run("apply", "--yes", "--accept-no-rollback")
