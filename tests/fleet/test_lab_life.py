"""A fleet comes, half comes, comes again and goes without a trace."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollout.errors import UsageProblem
from rollout.lab.fleet import down, up
from rollout.lab.layout import Place

pytestmark = [pytest.mark.fleet, pytest.mark.alone]
PROGRAM = [sys.executable, "-c", "from rollout.cli.app import main; main()", "lab"]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Give a place for a fleet of the test's own, and take down whatever is there afterwards."""
    place = Place(tmp_path / "state", f"u{os.getpid()}")
    yield place
    down(place)


def traces(place: Place, subnet: int) -> list[str]:
    """Return all that a fleet of this name and subnet could leave on this machine, as text."""
    names = (place.name, str(place.state))
    links = json.loads(subprocess.run(["ip", "-json", "link"], capture_output=True, check=True).stdout)
    ours = re.compile(rf"rlab{subnet}(h\d+)?")
    mounts = [line for line in Path("/proc/mounts").read_text().splitlines() if any(name in line for name in names)]
    groups = [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/rollout-lab-{place.name}*")]
    ledger = Path("/run/rollout-lab.json")
    claims = json.loads(ledger.read_text())["fleets"] if ledger.exists() else {}
    found = [*mounts, *groups, *processes(names), *(name for name in claims if name == place.name)]
    return [*found, *(link["ifname"] for link in links if ours.fullmatch(link["ifname"]))]


def processes(names: tuple[str, ...]) -> list[str]:
    """Return command line and control groups of every other process that bears one of these names in them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_text()
            text = command + (folder / "cgroup").read_text()
        except OSError:
            continue
        ended = not command  # its parent has not asked for its status yet
        if not ended and folder.name != str(os.getpid()) and any(name in text for name in names):
            found.append(text)
    return found


def listing() -> list[Path]:
    """Return what stands in the folders of /run that the lab comes near, save the ledger of all fleets."""
    return sorted({*Path("/run").iterdir(), *Path("/run/systemd").iterdir()} - {Path("/run/rollout-lab.json")})


def test_down_leaves_nothing(place: Place) -> None:
    """Mounts, links, control groups, processes, files and the ledger's entry are gone; /run looks as before."""
    before = listing()
    fleet = up(place, hosts=1, writer=True)
    assert len(traces(place, fleet.record.subnet)) > 5
    fleet.down()
    assert traces(place, fleet.record.subnet) == []
    assert not place.state.exists()
    assert listing() == before


def test_up_again_changes_nothing(place: Place) -> None:
    """A second `up` finds every host running and leaves it alone; one that is off is started."""
    fleet = up(place, hosts=2, writer=False)
    first, second = fleet.machines
    leader, inventory = first.leader(), fleet.inventory.read_bytes()
    fleet.power_off("db2")
    up(place)
    assert first.leader() == leader
    assert second.leader() is not None
    assert fleet.inventory.read_bytes() == inventory


def test_a_half_finished_up_is_finished_by_the_next(place: Place) -> None:
    """The program killed at any moment of `up` leaves what the next `up` completes and `down` removes."""
    words = [*PROGRAM, "up", "--hosts", "2", "--no-writer", "--name", place.name, "--state-dir", str(place.state)]
    for seconds in (0.0, 0.3, 1.0):
        program = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not place.record.exists() and program.poll() is None:
            time.sleep(0.01)
        time.sleep(seconds)
        program.send_signal(signal.SIGKILL)
        program.wait()
    fleet = up(place, hosts=2, writer=False)
    for name in ("db1", "db2"):
        assert fleet.shell(name, "systemctl is-active mariadb").stdout == b"active\n"
    fleet.down()
    assert traces(place, fleet.record.subnet) == []


def test_down_works_when_the_state_is_gone(place: Place) -> None:
    """Somebody removed the state directory while the fleet was up: `down` still ends every process."""
    fleet = up(place, hosts=1, writer=False)
    shutil.rmtree(place.folder)
    assert down(place)
    assert traces(place, fleet.record.subnet) == []
    assert not down(place)


def test_a_name_belongs_to_one_state_directory(place: Place, tmp_path: Path) -> None:
    """From another one it is neither brought up nor taken down; with its own gone it is anybody's to take down."""
    fleet, other = up(place, hosts=1, writer=False), Place(tmp_path / "other", place.name)
    with pytest.raises(UsageProblem, match="is up already, with its state in"):
        up(other, hosts=1)
    with pytest.raises(UsageProblem, match="belongs to another state directory"):
        down(other)
    assert fleet.machines[0].leader() is not None
    shutil.rmtree(place.folder)
    assert down(other)
    assert traces(place, fleet.record.subnet) == []


def test_another_kind_of_fleet_under_the_same_name_is_refused(place: Place) -> None:
    """Fewer hosts or another distribution need another name, or `down` first."""
    up(place, hosts=1, writer=False)
    with pytest.raises(UsageProblem, match="is there with 1 hosts of bookworm, standalone"):
        up(place, hosts=1, distro="trixie")


def test_the_commands_say_what_they_did(place: Place) -> None:
    """Status is one JSON document, ssh passes the exit status on, and each mistake is a sentence with exit 2."""
    options = ["--name", place.name, "--state-dir", str(place.state)]

    def lab(*words: str) -> "subprocess.CompletedProcess[str]":
        command, *rest = words
        return subprocess.run([*PROGRAM, command, *options, *rest], capture_output=True, text=True, check=False)

    assert lab("status").returncode == 2
    assert lab("up", "--hosts", "1", "--publish-fix").returncode == 0
    document = json.loads(lab("status", "--json").stdout)
    assert (document["schema"], document["published"]) == (1, True)
    assert [(row["name"], row["state"], row["mariadb"]) for row in document["hosts"]] == [("db1", "running", "active")]
    assert lab("ssh", "db1", "exit 7").returncode == 7
    assert lab("ssh", "db2").stderr == f"rollout: the fleet {place.name} has no host db2\n  it has db1\n"
    elsewhere = subprocess.run([*PROGRAM, "ssh", *options[2:], "db1"], capture_output=True, text=True, check=False)
    assert f"There is {place.name}: --name {place.name}" in elsewhere.stderr
    assert lab("reset", "db1").stderr == "Back in the first state: db1.\n"
    assert lab("down").returncode == 0
