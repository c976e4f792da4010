"""What the lab refuses before anything is started."""

from pathlib import Path

import pytest

from rollout.errors import UsageProblem
from rollout.lab import limits


def test_off_linux_is_refused_with_what_can_be_done_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    """On another system the sentence names it, and names what works there."""
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(UsageProblem, match="needs Linux, and this is darwin") as caught:
        limits.check_machine()
    assert "inventories/example" in caught.value.hint
    assert caught.value.exit_code == 2


def test_without_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root the sentence says what root is needed for."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(UsageProblem, match="needs root"):
        limits.check_machine()


def test_missing_debian_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every package that is missing is named, and the command that installs them."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageProblem, match=r"apt-utils .*mmdebstrap .*systemd-container") as caught:
        limits.check_machine()
    assert "apt-get install" in caught.value.hint


@pytest.mark.parametrize(
    ("what", "attribute"), [("MiB of memory", "_available_memory_bytes"), ("tasks", "_free_tasks")]
)
def test_too_many_hosts_are_refused_with_the_arithmetic(
    what: str, attribute: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The refusal says how much is needed, how much there is, and how many hosts would fit."""
    monkeypatch.setattr(limits, attribute, lambda: 700 << 20 if "memory" in attribute else 250)
    with pytest.raises(
        UsageProblem, match=rf"3 hosts need \d+ {what} \(\d+ each\), and this machine has \d+ left"
    ) as no:
        limits.check_room(3, folder=tmp_path / "not" / "made", with_base=False)
    assert no.value.hint == "2 hosts would fit"
    assert not list(tmp_path.iterdir())


def test_room_for_no_more_hosts_is_always_there(tmp_path: Path) -> None:
    """Bringing up a fleet that is up already asks for nothing."""
    limits.check_room(0, folder=tmp_path, with_base=False)
