"""Parts of Debian versions that the lab needs."""

import pytest

from rollout.lab.base import BaseRecord, next_release, series, upstream
from rollout.lab.inventory_file import fix_releases


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1:10.11.18-0+deb12u1", ("10.11.18", "10.11")),
        ("1:11.8.10+ds-0+deb13u1+rehearsal1", ("11.8.10", "11.8")),
        ("10.6.22-1", ("10.6.22", "10.6")),
    ],
)
def test_parts_of_a_debian_version(version: str, expected: tuple[str, str]) -> None:
    """The upstream version and the series stand between epoch and Debian revision."""
    assert (upstream(version), series(version)) == expected


def test_the_next_release_counts_and_does_not_spell() -> None:
    """After 11.8.9 comes 11.8.10."""
    assert next_release("11.8.9") == "11.8.10"
    assert next_release("10.11.19") == "10.11.20"


@pytest.mark.parametrize(
    ("new", "stand_in", "carries"),
    [
        ("1:10.11.19-0+deb12u1", False, False),
        ("1:11.8.10+ds-0+deb13u1+rehearsal1", True, False),
        ("1:11.8.10+ds-0+deb13u1", False, True),
        ("1:11.8.9+ds-0+deb13u2", False, False),
    ],
)
def test_only_a_real_release_with_the_fix_is_said_to_carry_it(new: str, stand_in: bool, carries: bool) -> None:
    """A stand-in bears the number of the release with the fix and not the fix."""
    record = BaseRecord(distro="trixie", old="1:11.8.8+ds-0+deb13u1", new=new, stand_in=stand_in)
    (release,) = fix_releases(record).values()
    assert release.version == upstream(new)
    assert release.carries_lru_fix is carries
