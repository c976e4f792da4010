"""What zypper says of a host's packages: offers and their vendors, and the locks of libzypp."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from xml.etree import ElementTree

from rollout.facts.frame import Answers, lines, read
from rollout.facts.rpm import Offer
from rollout.facts.unknown import Known, Unknown, known_or

Lock = Mapping[str, tuple[str, ...]]  # attribute to its values, as locks(5) names them
# What narrows a lock down to versions, architectures or repositories does not make it less of an order.
_READ = {"type", "solvable_name", "query_string", "match_type", "case_sensitive", "comment"}
_NARROWING = {"repo", "version", "solvable_arch", "install_status", "complex"}


def zypper_offers(answers: Answers) -> Known[tuple[Offer, ...]]:
    """Join what `zypper search` lists with the vendors that `zypper info` names for each repository."""
    rows = read(answers.text("package-versions"), parse_search)
    if isinstance(rows, Unknown):
        return rows
    vendors = known_or(read(answers.text("package-vendors"), parse_vendors), {})
    return tuple((name, version, place, vendors.get((place, name), "")) for name, version, place, _ in rows)


def parse_search(text: str) -> tuple[Offer, ...]:
    """Read `zypper --xmlout search --details`; what is only installed stands there under "(System Packages)"."""
    try:
        tree = ElementTree.fromstring(text)  # noqa: S314 - root's own package manager wrote it
    except ElementTree.ParseError as problem:
        raise ValueError(str(problem)) from problem
    rows = (node.attrib for node in tree.iter("solvable"))
    return tuple(
        (row["name"], row["edition"], row["repository"], "") for row in rows if row["repository"] != "(System Packages)"
    )


def parse_vendors(text: str) -> dict[tuple[str, str], str]:
    """Read rows of repository, package and vendor."""
    rows = (row.split("\t") for row in lines(text))
    return {(repository, name): vendor.strip() for repository, name, vendor in rows}


def parse_locks(text: str) -> tuple[Lock, ...]:
    """Read libzypp's file of locks: blocks of `attribute: value` with an empty line between them, see locks(5)."""
    if text.strip() == "absent":
        return ()
    found = []
    for block in re.split(r"\n[ \t]*\n", text):
        lock: dict[str, tuple[str, ...]] = {}
        for row in lines(block):
            if row.startswith("#"):
                continue
            name, colon, value = row.partition(":")
            if not colon:
                raise ValueError(f"no lock of libzypp: {row.strip()}")
            lock[name.strip()] = (*lock.get(name.strip(), ()), value.strip())
        if lock:
            found.append(lock)
    return tuple(found)


def named_in_locks(text: str) -> tuple[str, ...]:
    """Return the names and patterns that are locked."""
    return tuple(word for lock in parse_locks(text) for word in _wanted(lock))


def locked(text: str, name: str) -> bool:
    """Whether a lock is about that package; raises ValueError where a lock is of a kind that is not understood."""
    return True in tuple(_about(lock, name) for lock in parse_locks(text))  # all of them have to be understood


def _wanted(lock: Lock) -> tuple[str, ...]:
    words = (*lock.get("solvable_name", ()), *lock.get("query_string", ()))
    return tuple(word for word in words if word)


def _about(lock: Lock, name: str) -> bool:
    if set(lock.get("type", ("package",))).isdisjoint({"package"}):
        return False
    strange = lock.keys() - _READ - _NARROWING
    if strange or not _wanted(lock):
        raise ValueError(f"a lock of libzypp by {', '.join(sorted(strange)) or 'no name'}, which is not read here")
    exact_case = lock.get("case_sensitive", ("off",))[-1].lower() in ("on", "true", "yes", "1")
    kind = lock.get("match_type", ("substring",))[-1]
    return any(_matches(kind, word, name, exact_case=exact_case) for word in _wanted(lock))


def _matches(kind: str, word: str, name: str, *, exact_case: bool) -> bool:
    if kind in ("regex", "word"):
        pattern = word if kind == "regex" else rf"\b{re.escape(word)}\b"
        try:
            return re.search(pattern, name, 0 if exact_case else re.IGNORECASE) is not None
        except re.error as problem:
            raise ValueError(f"the pattern {word} of a lock: {problem}") from problem
    if not exact_case:
        word, name = word.lower(), name.lower()
    if kind not in ("exact", "glob", "substring"):
        raise ValueError(f"match_type {kind} of a lock")
    return {"exact": word == name, "glob": fnmatchcase(name, word), "substring": word in name}[kind]
