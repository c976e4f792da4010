"""Ansible's host patterns: which hosts of an inventory are meant, and in which order.

A pattern is one or more terms, parted by commas or colons. A term is `all`, a group, a host, a glob, or a regular
expression behind `~`; `&` before it keeps only what it matches too, `!` takes it away, and `[0]`, `[-1]`, `[1:3]`
behind it count into what it matched. First all plain terms are joined, then `&` applied, then `!`.
"""

import fnmatch
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from rollout.errors import UsageProblem
from rollout.inventory.documents import read_text
from rollout.inventory.model import Inventory
from rollout.inventory.ranges import is_address, split_port

_SUBSCRIPT = re.compile(r"(?P<term>.+)\[(?:(?P<index>-?[0-9]+)|(?P<first>[0-9]+)[:-](?P<last>[0-9]*))\]", re.DOTALL)
_COLON_TERM = re.compile(r"(?:[^\s:\[\]]|\[[^\]]*\])+")
_GLOB = frozenset(".?*[")


def split_terms(pattern: str) -> list[str]:
    """Part a pattern into terms: at commas if there are any, else at colons that belong to no range or address."""
    if "," in pattern:
        parts = pattern.split(",")
    elif _is_one_address(pattern):
        parts = [pattern]
    else:
        parts = _COLON_TERM.findall(pattern)
    return [part.strip() for part in parts if part.strip()]


def _is_one_address(pattern: str) -> bool:
    host, port = split_port(pattern)
    return port is not None or is_address(host)


def select(inventory: Inventory, terms: Iterable[str]) -> list[str]:
    """Name the hosts that terms mean, in order, each once. A term that matches nothing matches nothing."""
    given = [term for term in terms if term]
    plain = [term for term in given if term[0] not in "&!"] or ["all"]
    kept = [term[1:] for term in given if term[0] == "&"]
    taken = [term[1:] for term in given if term[0] == "!"]
    chosen = dict.fromkeys(host for term in plain for host in _plain(inventory, term))
    for term in kept:
        among = set(match(inventory, term))
        chosen = {host: None for host in chosen if host in among}
    for term in taken:
        among = set(match(inventory, term))
        chosen = {host: None for host in chosen if host not in among}
    return list(chosen)


def _plain(inventory: Inventory, term: str) -> list[str]:
    """Take a host's own name as that host, even where a group is called the same."""
    return [term] if term in inventory.hosts else match(inventory, term)


def match(inventory: Inventory, term: str) -> list[str]:
    """Name the hosts that one term, without `&` or `!`, means; a host may come twice."""
    if not term:
        raise UsageProblem("a pattern has an empty term: '&' or '!' with nothing behind it")
    counted = None if term[0] == "~" else _SUBSCRIPT.fullmatch(term)
    if not counted:
        return _enumerate(inventory, term)
    hosts = _enumerate(inventory, counted["term"])
    if counted["index"] is None:
        # Zero as the last position means what Ansible means by it: only the first position counts.
        return _slice(hosts, int(counted["first"]), int(counted["last"] or -1), term)
    return _slice(hosts, int(counted["index"]), 0, term)


def _slice(hosts: list[str], first: int, last: int, term: str) -> list[str]:
    if not hosts:
        return []
    if last:
        return hosts[first : (len(hosts) if last == -1 else last + 1)]
    try:
        return [hosts[first]]
    except IndexError:
        raise UsageProblem(f"the pattern '{term}' counts beyond the {len(hosts)} hosts that it matches") from None


def _enumerate(inventory: Inventory, term: str) -> list[str]:
    """List the hosts of all groups that a term names; then single hosts, if it names no group or is a glob."""
    matches = _matcher(term).match
    groups = [name for name in inventory.groups if matches(name)]
    hosts = [host for group in groups for host in inventory.members(group)]
    if not groups or term[0] == "~" or _GLOB & set(term):
        hosts += [name for name in inventory.hosts if matches(name)]
    return hosts


def _matcher(term: str) -> "re.Pattern[str]":
    try:
        return re.compile(term[1:] if term[0] == "~" else fnmatch.translate(term))
    except re.error as error:
        raise UsageProblem(f"the pattern '{term}' is no regular expression: {error}") from error


def limit_terms(limit: str) -> list[str]:
    """Part a `--limit` into terms, reading `@FILE` (one pattern a line) where it stands."""
    terms: list[str] = []
    for term in split_terms(limit):
        terms += _lines(Path(term[1:])) if term[0] == "@" else [term]
    return terms


def _lines(file: Path) -> Sequence[str]:
    if not file.is_file():
        raise UsageProblem(f"--limit @{file}: there is no such file")
    return [line.strip() for line in read_text(file).splitlines() if line.strip()]
