"""Host patterns and what `--limit` and `--host` leave."""

import re
from pathlib import Path

import pytest

from rollout.errors import UsageProblem
from rollout.inventory.model import Inventory
from rollout.inventory.patterns import split_terms
from rollout.inventory.selection import choose, unmatched
from rollout.inventory.sources import load_inventory

TEXT = """
all:
  children:
    web: {hosts: {"w[1:3]": }}
    db:
      children:
        primary: {hosts: {db1.example.com: }}
        replica: {hosts: {"db[2:4].example.com": }}
"""


@pytest.fixture
def inventory(tmp_path: Path) -> Inventory:
    """Three web servers, a primary and three replicas."""
    file = tmp_path / "inventory.yml"
    file.write_text(TEXT)
    return load_inventory([str(file)])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("all", "w1 w2 w3 db1 db2 db3 db4"),
        ("*", "w1 w2 w3 db1 db2 db3 db4"),
        ("db,web", "db1 db2 db3 db4 w1 w2 w3"),
        ("w3:w1", "w3 w1"),
        ("db:!replica", "db1"),
        ("!replica:db", "db1"),
        ("db:&~.*[34]\\.", "db3 db4"),
        ("web[0]", "w1"),
        ("web[-1]", "w3"),
        ("web[1:]", "w2 w3"),
        ("db[1:2]", "db2 db3"),
        ("~(w|db)1", "w1 db1"),
        ("w?,!w2", "w1 w3"),
        ("nothing,w1", "w1"),
        ("!web", "db1 db2 db3 db4"),
    ],
)
def test_a_pattern_means_what_it_means_to_ansible(inventory: Inventory, pattern: str, expected: str) -> None:
    """Worked examples; the comparison with the real program stands in its own test."""
    found = choose(inventory, limit=pattern)
    assert " ".join(name.split(".")[0] for name in found) == expected


def test_a_limit_cuts_and_leaves_the_order_of_the_pattern(inventory: Inventory) -> None:
    """With a playbook's `hosts`, --limit only takes hosts away."""
    assert choose(inventory, pattern="web", limit="w3,w1,db") == ["w1", "w3"]


def test_a_limit_can_be_read_from_a_file(inventory: Inventory, tmp_path: Path) -> None:
    """`@FILE` holds one pattern a line."""
    (tmp_path / "limit").write_text("w2\n\nprimary\n")
    assert choose(inventory, limit=f"@{tmp_path / 'limit'}") == ["w2", "db1.example.com"]


@pytest.mark.parametrize(
    ("limit", "names", "expected"),
    [
        ("", ("db1.exampel.com",), "is not in the inventory: did you mean 'db1.example.com'?"),
        ("db", ("w1",), "--host w1: is in the inventory, but not among the hosts"),
        ("nothing", (), "no host of the inventory matches 'nothing'"),
        ("web[7]", (), "the pattern 'web[7]' counts beyond the 3 hosts"),
        ("~(", (), "the pattern '~(' is no regular expression"),
        (" , ", (), "--limit  , : holds no pattern, and would mean all hosts"),
        ("@/nowhere", (), "--limit @/nowhere: there is no such file"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(
    inventory: Inventory, limit: str, names: tuple[str, ...], expected: str
) -> None:
    """The program never goes on with fewer hosts than were named."""
    with pytest.raises(UsageProblem, match=re.escape(expected)):
        choose(inventory, limit=limit, names=names)


def test_terms_that_match_nothing_are_found(inventory: Inventory) -> None:
    """A slip of the pen in one of several terms is told to the user."""
    assert unmatched(inventory, "web,dbs,!w9,&db") == ["dbs", "w9"]


@pytest.mark.parametrize(
    ("pattern", "terms"),
    [
        ("a,b[1], c[2:3] , d", ["a", "b[1]", "c[2:3]", "d"]),
        ("a:b:&c:!d", ["a", "b", "&c", "!d"]),
        ("db[1:3]", ["db[1:3]"]),
        ("2001:db8::1", ["2001:db8::1"]),
        ("host:2222", ["host:2222"]),
    ],
)
def test_colons_part_terms_only_where_they_are_no_address(pattern: str, terms: list[str]) -> None:
    """Commas win; without them, ranges and IPv6 addresses keep their colons."""
    assert split_terms(pattern) == terms
