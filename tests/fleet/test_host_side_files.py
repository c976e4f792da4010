"""What is written on a host is root's alone, and nothing is written through a link that somebody planted."""

import pytest
from host_faults import INVOCATION
from trial import HOST, Trial

pytestmark = pytest.mark.fleet

# Below tool/ lie the files of a package as their authors made them; the folders above keep everybody out.
LOOSE = r"""find /var/lib/rollout /var/backups/rollout \( ! -user root -o ! -group root -o \
  -type d ! -perm 0700 ! -path '*/tool/*' -o -type f -perm /0077 ! -path '*/tool/*' \) -printf '%p %M %u\n'"""
VICTIM = "/srv/victim"


def refused(trial: Trial, path: str) -> None:
    """Apply against a planted link: refused by its name, the server and the victim untouched."""
    trial.text(f"mkdir -p {VICTIM}; rm -rf {path}; mkdir -p $(dirname {path}); ln -s {VICTIM} {path}")
    ended = trial.product.run("apply", "--yes", "--json", expect=None)
    row = ended.json["hosts"][0]
    assert (row["status"], row["restarts"]) == ("failed", 0), row
    assert f"{path} is a symbolic link" in row["error"]
    assert trial.text(f"ls -A {VICTIM}") == ""
    trial.text(f"rm {path}")


def test_a_planted_link_is_refused(trial: Trial) -> None:
    """In the place of our folder, the lock, the run's folder, the backups; so is a folder of another user."""
    trial.plan()
    started = trial.text(INVOCATION)
    for path in ("/var/lib/rollout", "/var/lib/rollout/lock"):
        refused(trial, path)
    process = trial.strike("STOP", "after", "run_started")
    run = next(trial.product.state.glob("runs/*/guard")).parent.parent
    run_id = max(path.name for path in run.iterdir())
    trial.text(f"mkdir -p /var/lib/rollout; ln -s {VICTIM} /var/lib/rollout/{run_id}")
    trial.go_on(process)
    row = trial.ended(process).json["hosts"][0]
    assert f"/var/lib/rollout/{run_id} is a symbolic link" in row["error"]
    trial.text("rm -r /var/lib/rollout; mkdir /var/lib/rollout; chown admin /var/lib/rollout")
    row = trial.product.run("apply", "--yes", "--json", expect=None).json["hosts"][0]
    assert "/var/lib/rollout belongs to somebody else than root" in row["error"]
    trial.text("rm -r /var/lib/rollout")
    refused(trial, "/var/backups/rollout")
    assert trial.text(INVOCATION) == started
    assert trial.text(f"ls -A {VICTIM}") == ""


def test_everything_on_the_host_is_roots_alone(trial: Trial) -> None:
    """Folders 0700, files 0600, of root; a link in the place of a file of ours is replaced and not followed."""
    target = trial.plan()
    process = trial.strike("STOP", "after", "phase_ended", "baseline")
    trial.text(
        f"mkdir {VICTIM}; cd /var/lib/rollout/2*; "
        f"for name in do.sh undo.sh record.json run-do-1.sh run-backup-1.sh; do ln -s {VICTIM}/$name $name; done"
    )
    trial.go_on(process)
    trial.arrived(target, trial.ended(process))
    assert trial.text(f"ls -A {VICTIM}") == ""
    assert trial.text("cd /var/lib/rollout/2*; for name in do.sh undo.sh record.json; do [ ! -L $name ]; done; echo ok")
    assert trial.text(LOOSE) == ""
    trial.product.run("rollback", "--host", HOST)
    assert trial.text(LOOSE) == ""
