"""With which settings hosts are taken back: those of the inventory, and of the playbook that they were changed by."""

from pathlib import Path

from rollout.cli.options import FleetOptions, select_hosts_of
from rollout.plan.playbook import load_playbook

INVENTORY = "all:\n  vars: {ansible_connection: recorded, rollout_soak_seconds: 5}\n  hosts: {db1: , db2: , db3: }\n"
PLAYBOOK = """name: nightly
changes: [allocator]
hosts: db1
vars: {rollout_soak_seconds: 40}
"""


def test_a_playbooks_vars_hold_for_the_hosts_of_its_plan_and_its_hosts_leave_nobody_out(tmp_path: Path) -> None:
    """db1 and db2 were planned with it; db3 was not, and its settings are the inventory's."""
    inventory, playbook = tmp_path / "inventory.yml", tmp_path / "nightly.yml"
    inventory.write_text(INVENTORY)
    playbook.write_text(PLAYBOOK)
    hosts = select_hosts_of(FleetOptions(sources=(str(inventory),)), load_playbook(playbook), {"db1", "db2"})
    assert {host.name: host.settings.soak_seconds for host in hosts} == {"db1": 40, "db2": 40, "db3": 5}
    assert [host.name for host in hosts] == ["db1", "db2", "db3"]
