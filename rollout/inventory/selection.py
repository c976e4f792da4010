"""From what was typed (`--limit`, `--host`) and a playbook's `hosts` to the names of the hosts, in order."""

from collections.abc import Iterable, Sequence

from rollout.errors import UsageProblem
from rollout.inventory.model import Inventory
from rollout.inventory.patterns import limit_terms, match, select, split_terms
from rollout.inventory.validation import did_you_mean


def choose(inventory: Inventory, *, pattern: str = "", limit: str = "", names: Sequence[str] = ()) -> list[str]:
    """Name the hosts of `pattern` that `limit` and `names` leave, in the order of the pattern.

    Without a pattern the limit stands for it, so that the order is the limit's. `names` must all be there: they are
    what the user typed behind `--host`. Raises `UsageProblem` when one is not, or when no host is left.
    """
    terms = limit_terms(limit)
    if limit and not terms:
        raise UsageProblem(f"--limit {limit}: holds no pattern, and would mean all hosts")
    chosen = select(inventory, split_terms(pattern) if pattern else terms)
    if pattern and limit:
        kept = set(select(inventory, terms))
        chosen = [host for host in chosen if host in kept]
    if names:
        _refuse_unknown(inventory, names, chosen)
        chosen = list(dict.fromkeys(names))
    if not chosen:
        asked = limit or pattern
        raise UsageProblem(f"no host of the inventory matches '{asked}'" if asked else "the inventory names no host")
    return chosen


def _refuse_unknown(inventory: Inventory, names: Iterable[str], chosen: Sequence[str]) -> None:
    left = set(chosen)
    complaints = [
        f"--host {name}: is not in the inventory{did_you_mean(name, inventory.hosts)}"
        for name in names
        if name not in inventory.hosts
    ]
    complaints += [
        f"--host {name}: is in the inventory, but not among the hosts that the playbook and --limit leave"
        for name in names
        if name in inventory.hosts and name not in left
    ]
    if complaints:
        raise UsageProblem("\n".join(complaints))


def unmatched(inventory: Inventory, pattern: str) -> list[str]:
    """Name the terms of a pattern that match no host, group or glob: most often a slip of the pen."""
    terms = [term.removeprefix("&").removeprefix("!") for term in limit_terms(pattern)]
    return [term for term in terms if term not in inventory.groups and not match(inventory, term)]
