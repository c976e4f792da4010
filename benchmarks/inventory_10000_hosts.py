"""Time of reading an inventory of 10 000 hosts with group and host variables, beside `ansible-inventory --list`.

Both are whole processes that print the same document, which is compared; seconds are those of the processor, so that
what else the machine does counts little. Run: python benchmarks/inventory_10000_hosts.py
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HOSTS, GROUPS, REGIONS, HOST_FILES = 10_000, 100, 4, 1_000


def write_inventory(folder: Path) -> Path:
    """Write one YAML inventory with variables at every host, 104 files of group variables, 1000 of host variables."""
    per_group = HOSTS // GROUPS
    lines = ["all:", "  children:"]
    for region in range(REGIONS):
        lines += [f"    region{region}:", "      children:"]
        for group in range(region, GROUPS, REGIONS):
            lines += [f"        shard{group:03}:", "          hosts:"]
            for host in range(group * per_group, (group + 1) * per_group):
                lines += [
                    f"            db{host:05}.example.com:",
                    f"              ansible_host: 10.{host // 250}.0.{host % 250}",
                ]
                lines += [f"              server_id: {host}", '              data: "/srv/{{ inventory_hostname }}"']
    source = folder / "hosts.yml"
    source.write_text("\n".join(lines) + "\n")
    write_variables(folder)
    return source


def write_variables(folder: Path) -> None:
    """Write the variable folders beside the inventory."""
    for name in ("group_vars", "host_vars"):
        (folder / name).mkdir()
    (folder / "group_vars/all.yml").write_text("ansible_user: admin\nansible_become: true\nrollout_soak_seconds: 60\n")
    for group in [f"region{number}" for number in range(REGIONS)] + [f"shard{number:03}" for number in range(GROUPS)]:
        (folder / f"group_vars/{group}.yml").write_text(f"owner: team of {group}\nports: [3306, 4567]\n")
    for host in range(0, HOSTS, HOSTS // HOST_FILES):
        (folder / f"host_vars/db{host:05}.example.com.yml").write_text("rollout_backup_directory: /srv/backup\n")


def timed(words: list[str], environment: dict[str, str]) -> tuple[float, str]:
    """Run a command and return its processor seconds and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main() -> None:
    """Time both, and the table of all resolved hosts, and print the figures as JSON."""
    programs = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = str(write_inventory(folder))
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": name}
        ours, document = timed([str(programs / "rollout"), "inventory", source, "--json"], environment)
        table, _ = timed([str(programs / "rollout"), "inventory", source], {**environment, "COLUMNS": "200"})
        theirs, expected = timed([str(programs / "ansible-inventory"), "-i", source, "--list"], environment)
    figures = {
        "hosts": HOSTS,
        "rollout_inventory_json_seconds": round(ours, 2),
        "rollout_inventory_table_seconds": round(table, 2),
        "ansible_inventory_list_seconds": round(theirs, 2),
        "ratio": round(theirs / ours, 1),
        "documents_equal": json.loads(document) == json.loads(expected),
    }
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
