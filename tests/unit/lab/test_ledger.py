"""What the fleets of one machine share."""

from pathlib import Path

import pytest

from rollout.errors import UsageProblem
from rollout.lab import ledger
from rollout.lab.layout import Place, preferred_subnet


@pytest.fixture
def limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a machine of the test's own: a ledger, a limit of 128 of which 20 are in use, two addressed subnets."""
    limit = tmp_path / "max_user_instances"
    limit.write_text("128\n")
    monkeypatch.setattr(ledger, "LEDGER", tmp_path / "ledger.json")
    monkeypatch.setattr(ledger, "INOTIFY", limit)
    monkeypatch.setattr(ledger, "inotify_needed", lambda hosts: 20 + 16 * hosts)
    monkeypatch.setattr(ledger, "_addressed_subnets", lambda: {preferred_subnet("lab"), preferred_subnet("lab") + 1})
    return limit


def test_a_subnet_that_a_link_has_is_passed_over(limit: Path, tmp_path: Path) -> None:
    """The next free subnet is taken, and the same one when the fleet is claimed again."""
    place = Place(tmp_path, "lab")
    assert ledger.claim(place, 3) == preferred_subnet("lab") + 2
    assert ledger.claim(place, 4) == preferred_subnet("lab") + 2
    assert ledger.subnet_of(place) == preferred_subnet("lab") + 2


def test_the_limit_is_raised_for_all_fleets_and_given_back_by_the_last(limit: Path, tmp_path: Path) -> None:
    """Two fleets raise it to what both need; it is 128 again after the second is down, and not before."""
    ledger.claim(Place(tmp_path, "lab"), 6)
    assert limit.read_text() == "128\n"
    ledger.claim(Place(tmp_path, "other"), 10)
    assert limit.read_text() == str(20 + 16 * 16)
    ledger.release(Place(tmp_path, "other"))
    assert limit.read_text() == str(20 + 16 * 16)
    ledger.release(Place(tmp_path, "lab"))
    assert limit.read_text() == "128"
    assert not ledger.LEDGER.exists()


def test_a_limit_that_cannot_be_raised_is_refused_with_the_arithmetic(
    limit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal says what is needed and what there is, and no claim stays behind."""

    class ReadOnly:
        @staticmethod
        def read_text() -> str:
            return "128\n"

        @staticmethod
        def write_text(text: str) -> None:
            raise OSError(30, f"Read-only file system, so no {text}")

    monkeypatch.setattr(ledger, "INOTIFY", ReadOnly)
    with pytest.raises(UsageProblem, match=r"20 hosts need fs.inotify.max_user_instances=340; it is 128"):
        ledger.claim(Place(tmp_path, "lab"), 20)
    assert ledger.subnet_of(Place(tmp_path, "lab")) is None


def test_a_name_from_another_state_directory_is_refused(limit: Path, tmp_path: Path) -> None:
    """Two state directories cannot hold fleets of one name at once, and neither takes the other's down."""
    ledger.claim(Place(tmp_path / "one", "lab"), 1)
    with pytest.raises(UsageProblem, match="a fleet named lab is up already"):
        ledger.claim(Place(tmp_path / "two", "lab"), 1)
    Place(tmp_path / "one", "lab").folder.mkdir(parents=True)
    with pytest.raises(UsageProblem, match=f"belongs to another state directory, {tmp_path}/one") as told:
        ledger.subnet_of(Place(tmp_path / "two", "lab"))
    assert told.value.hint == f"take it down with --state-dir {tmp_path}/one"


def test_a_fleet_whose_state_is_gone_is_anybodys_to_take_down(limit: Path, tmp_path: Path) -> None:
    """Who removed a working directory finds no other way to the hosts that still run."""
    ledger.claim(Place(tmp_path / "one", "lab"), 1)
    assert ledger.subnet_of(Place(tmp_path / "two", "lab")) == preferred_subnet("lab") + 2
