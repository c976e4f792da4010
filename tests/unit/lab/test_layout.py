"""Names and addresses of a fleet."""

from pathlib import Path

import pytest

from rollout.errors import UsageProblem
from rollout.lab.layout import MOST_HOSTS, FleetRecord, check_folder, check_name, preferred_subnet, wiring

RECORD = FleetRecord(name="lab", distro="bookworm", subnet=254, hosts=MOST_HOSTS, writer=True, base=Path("/base"))
LINK_NAME_BYTES = 15  # IFNAMSIZ of linux/if.h is 16, with the closing zero


@pytest.mark.parametrize("name", ["", "Lab", "1lab", "a/b", "..", "x" * 21, "a b", "a,b"])
def test_a_name_that_cannot_be_a_folder_or_link_is_refused(name: str) -> None:
    """A name that would break a path, a link or a mount option is refused in one sentence."""
    with pytest.raises(UsageProblem, match="cannot be the name of a fleet"):
        check_name(name)


@pytest.mark.parametrize("folder", ["/a b", "/a:b", "/a,b", "/a\\b", "/it's"])
def test_a_folder_that_an_option_cannot_hold_is_refused(folder: str) -> None:
    """The sentence names the folder and the character."""
    with pytest.raises(UsageProblem, match="cannot hold"):
        check_folder(Path(folder))


def test_a_folder_with_letters_of_any_language_is_taken() -> None:
    """Only what separates or quotes is in the way."""
    check_folder(Path("/home/Живка/projects/rollout-1.0_x/.rollout"))


def test_the_last_host_of_the_largest_fleet_has_valid_names() -> None:
    """Link names stay within the kernel's limit and addresses within the subnet, even for the last host."""
    last = wiring(RECORD, MOST_HOSTS - 1)
    assert len(last.link) <= LINK_NAME_BYTES
    assert len(last.machine) <= 64
    assert last.address == "10.77.254.210"


def test_names_and_addresses_of_a_fleet_are_all_different() -> None:
    """No two hosts of a fleet share an address, a hardware address or a link."""
    wires = [wiring(RECORD, index) for index in range(MOST_HOSTS)]
    for values in ({w.address for w in wires}, {w.mac for w in wires}, {w.link for w in wires}):
        assert len(values) == MOST_HOSTS


@pytest.mark.parametrize("name", ["lab", "t1", "a-very-long-name-1"])
def test_the_preferred_subnet_is_a_number_of_a_subnet(name: str) -> None:
    """The subnet that a name prefers is 1 to 254, and always the same one."""
    assert 1 <= preferred_subnet(name) <= 254
    assert preferred_subnet(name) == preferred_subnet(name)
