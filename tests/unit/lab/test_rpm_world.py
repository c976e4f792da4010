"""The two kinds of hosts of the rpm world stand on one tree and differ in what they say that they are."""

from rollout.lab.base import base_folder
from rollout.lab.profile import HostProfile
from rollout.lab.rpm import as_kind


def test_both_kinds_stand_on_one_tree() -> None:
    """A second tree would take its minutes and its gigabyte for one file."""
    assert base_folder("suse") == base_folder("rpm")
    assert base_folder("rpm") != base_folder("bookworm")


def test_a_host_of_the_suse_family_says_so() -> None:
    """Its files come on top of what else sets it apart; the other kind keeps what is in the tree."""
    profile = HostProfile(files={"etc/motd": "hello"})
    assert as_kind("rpm", profile) == profile
    files = as_kind("suse", profile).files
    assert files["etc/motd"] == "hello"
    assert 'ID_LIKE="suse opensuse"' in files["etc/os-release"]
