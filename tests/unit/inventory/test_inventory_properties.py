"""Laws of ranges and of the pattern algebra, on inventories and patterns made at random."""

import random
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.inventory.draft import Draft
from rollout.inventory.model import Inventory
from rollout.inventory.patterns import select, split_terms
from rollout.inventory.ranges import expand

HOSTS = ["alpha1", "alpha2", "beta1", "beta2.example", "gamma", "delta-9"]
GROUPS = ["red", "green", "blue", "alpha"]
TERMS = [*HOSTS, *GROUPS, "all", "*", "a*", "*1", "~.*a.*", "~b", "ungrouped", "nothing", "?ed", "beta[12]"]

# Deadlines would measure the machine, not the code.
LAW = settings(deadline=None, max_examples=60)


@st.composite
def inventories(draw: st.DrawFn) -> Inventory:
    """Make an inventory of some hosts in some groups, some of them below others."""
    draft = Draft()
    for group in GROUPS:
        draft.add_group(group, "made")
        for host in draw(st.lists(st.sampled_from(HOSTS), unique=True)):
            draft.add_host(host, group, "made")
    for host in draw(st.lists(st.sampled_from(HOSTS), unique=True)):
        draft.add_host(host, "all", "made")
    # Only from an earlier group to a later one, so that no circle can come about.
    for first, second in draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)))):
        if first < second:
            draft.add_child(GROUPS[first], GROUPS[second], "made", 0)
    return draft.close()


terms = st.sampled_from(TERMS)


@LAW
@given(inventories(), terms, terms)
def test_a_joined_pattern_lists_the_first_term_and_then_what_is_new(inventory: Inventory, one: str, two: str) -> None:
    """Joining is a union that keeps the order and lists no host twice."""
    first, second = select(inventory, [one]), select(inventory, [two])
    both = select(inventory, [one, two])
    assert both == first + [host for host in second if host not in first]
    assert len(both) == len(set(both))


@LAW
@given(inventories(), terms, terms)
def test_intersection_and_exclusion_split_a_term_in_two(inventory: Inventory, one: str, two: str) -> None:
    """What `&` keeps and what `!` keeps are together the whole, in its order, and have nothing in common."""
    whole = select(inventory, [one])
    kept, rest = select(inventory, [one, f"&{two}"]), select(inventory, [one, f"!{two}"])
    assert sorted(kept + rest) == sorted(whole)
    assert not set(kept) & set(rest)
    assert kept == [host for host in whole if host in kept]


@LAW
@given(inventories(), st.lists(terms, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_place_of_intersections_and_exclusions_does_not_matter(
    inventory: Inventory, chosen: list[str], dice: random.Random
) -> None:
    """Only the order of the plain terms shows in the result."""
    plain, marked = chosen[:2], [dice.choice("&!") + term for term in chosen[2:]]
    mixed = list(marked)
    for term in reversed(plain):
        mixed.insert(0, term)
    dice.shuffle(marked)
    assert select(inventory, marked + plain) == select(inventory, mixed)


@LAW
@given(inventories(), terms)
def test_a_term_without_itself_is_empty_and_with_all_is_itself(inventory: Inventory, term: str) -> None:
    """`a:!a` is empty, `a:&a` and `a:&all` are `a`, and only `&a` is `all:&a`."""
    hosts = select(inventory, [term])
    assert select(inventory, [term, f"!{term}"]) == []
    assert select(inventory, [term, f"&{term}"]) == select(inventory, [term, "&all"]) == hosts
    assert select(inventory, [f"&{term}"]) == select(inventory, ["all", f"&{term}"])


@LAW
@given(inventories(), st.sampled_from(GROUPS), st.integers(0, 5), st.integers(1, 5))
def test_a_subscript_counts_into_the_group(inventory: Inventory, group: str, first: int, last: int) -> None:
    """`g[a:b]` is Python's slice with its end included, `g[-1]` the last host."""
    hosts = select(inventory, [group]) if group not in inventory.hosts else []
    if hosts:
        assert select(inventory, [f"{group}[{first}:{last}]"]) == hosts[first : last + 1]
        assert select(inventory, [f"{group}[{first}:]"]) == hosts[first:]
        assert select(inventory, [f"{group}[-1]"]) == hosts[-1:]


@LAW
@given(st.lists(terms, min_size=1, max_size=4), st.booleans())
def test_terms_survive_being_joined_and_parted(chosen: list[str], commas: bool) -> None:
    """What was joined with commas or colons is parted into the same terms."""
    assert split_terms(("," if commas else ":").join(chosen)) == chosen


@LAW
@given(st.integers(0, 300), st.integers(0, 40), st.integers(1, 7), st.integers(0, 5))
def test_a_numeric_range_is_pythons_range_with_its_end(begin: int, length: int, step: int, zeros: int) -> None:
    """Every name once, in order, all of one width when the first bound has a leading zero."""
    end = begin + length
    width = len(str(end)) + zeros
    numbers = list(range(begin, end + 1, step))
    assert expand(f"db[{begin}:{end}:{step}].x") == [f"db{number}.x" for number in numbers]
    padded = str(begin).zfill(width)
    if padded[0] == "0" and width > 1:
        assert expand(f"db[{padded}:{str(end).zfill(width)}:{step}]") == [f"db{number:0{width}}" for number in numbers]


@LAW
@given(st.integers(0, 51), st.integers(0, 51), st.integers(1, 5))
def test_a_letter_range_walks_the_alphabet(one: int, two: int, step: int) -> None:
    """Small letters come before capital ones."""
    letters = string.ascii_letters
    begin, end = sorted((one, two))
    assert expand(f"[{letters[begin]}:{letters[end]}:{step}]") == list(letters[begin : end + 1 : step])


@LAW
@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_two_ranges_make_every_pair(a: int, b: int, c: int, d: int) -> None:
    """The left range varies slowest."""
    names = expand(f"x[{min(a, b)}:{max(a, b)}]y[{min(c, d)}:{max(c, d)}]")
    assert names == [
        f"x{left}y{right}" for left in range(min(a, b), max(a, b) + 1) for right in range(min(c, d), max(c, d) + 1)
    ]
