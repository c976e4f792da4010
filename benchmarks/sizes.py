"""Seconds of `rollout plan` on 20 recorded hosts, and seconds and bytes of the report of a run of 3 and of 300 hosts.

Both are made of real ones: recorded hosts are copied under new names until they are 20, the hosts of a run until they
are 300, with plan, facts, checks and journal. Run, after `make demo` and `rollout facts INVENTORY --record FOLDER`:

    python -m benchmarks.sizes .rollout/runs/RUN-OF-AN-APPLY FOLDER
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rollout.engine.run_folder import RunFolder
from rollout.journal import dump_synced, read
from rollout.plan.model import load_plan

RECORDED = 20
HOSTS = 300
PROGRAM = str(Path(sys.executable).with_name("rollout"))


def more_hosts(recorded: Path, folder: Path) -> Path:
    """Copy recorded hosts under new names until they are `RECORDED`, and return the inventory's folder."""
    hosts = sorted(path for path in recorded.iterdir() if path.is_dir())
    names = [f"{hosts[number % len(hosts)].name}-{number}" for number in range(RECORDED)]
    for number, name in enumerate(names):
        shutil.copytree(hosts[number % len(hosts)], folder / name)
    lines = ["all:", "  vars: {ansible_connection: recorded}", "  hosts:", *(f"    {name}: null" for name in names)]
    (folder / "inventory.yml").write_text("\n".join(lines) + "\n")
    return folder


def widened(run: RunFolder, path: Path) -> RunFolder:
    """Write a run of `HOSTS` hosts whose every host is a copy of one of the run's."""
    plan, events, folder = run.plan(), read(run.journal_path), RunFolder(path)
    path.mkdir(parents=True)
    twins = {f"{row.name}-{number}": row.name for number in range(HOSTS // len(plan.hosts)) for row in plan.hosts}
    rows = {row.name: row for row in plan.hosts}
    changes = {
        "hosts": tuple(rows[own].model_copy(update={"name": name}) for name, own in twins.items()),
        "facts": {name: plan.facts[own] for name, own in twins.items()},
        "inventory": {name: plan.inventory[own] for name, own in twins.items()},
        "waves": tuple(tuple(name for name, own in twins.items() if own in wave) for wave in plan.waves),
    }
    dump_synced(path / "plan.json", plan.model_copy(update=changes).sealed().to_json())
    with folder.journal_path.open("w") as journal:
        for event in events:
            copies = [event.model_copy(update={"host": name}) for name, own in twins.items() if own == event.host]
            if event.event == "run_started":
                copies = [event.model_copy(update={"data": {**event.data, "hosts": list(twins)}})]
            journal.writelines(copy.model_dump_json() + "\n" for copy in copies or [event])
    for name, own in twins.items():
        shutil.copytree(run.host_path(own), folder.host_path(name))
    return folder


def seconds_of(*words: str) -> float:
    """Run the program and return the seconds that it took."""
    began = time.perf_counter()
    subprocess.run([PROGRAM, *words], check=True, capture_output=True)
    return time.perf_counter() - began


def report(run: RunFolder, page: Path) -> None:
    """Make the page of a run and print what it took."""
    state = str(run.state_dir)
    seconds = seconds_of("report", "--run", run.run_id, "--state-dir", state, "--out", str(page))
    print(f"report of {len(run.state().hosts)} hosts: {seconds:.2f} s, {page.stat().st_size:,} bytes")


def plan(inventory: Path, folder: Path) -> None:
    """Plan recorded hosts and print what it took, and what of it the simulator took on all cores together."""
    seconds = seconds_of("plan", str(inventory), "--no-refresh", "--state-dir", str(folder))
    predictions = [row.prediction for row in load_plan(folder / "plan.json").hosts if row.prediction]
    fits = [fitted["seconds"] for fitted in (one.get("fit") for one in predictions) if fitted]
    simulated = f"{len(fits)} of them simulated in {sum(fits):.2f} s of cores"
    print(f"plan of {len(predictions)} recorded hosts: {seconds:.2f} s; {simulated}")


def main() -> None:
    """Print all figures."""
    run = RunFolder(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report(run, folder / "few.html")
        report(widened(run, folder / "state" / "runs" / run.run_id), folder / "many.html")
        (folder / "recorded").mkdir()
        plan(more_hosts(Path(sys.argv[2]), folder / "recorded"), folder)


if __name__ == "__main__":
    main()
