"""Packages of a Debian or Ubuntu host, from what dpkg and apt printed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from rollout.facts.frame import Answers, lines, read
from rollout.facts.model import ListRefresh, LockHolder, Package, PackageSource, PackageVersion
from rollout.facts.unknown import Known, Unknown

_VERSION_LINE = re.compile(r"^ (?:\*\*\*|   ) (\S+) (-?\d+)(?: \(phased \d+%\))?$")
_SOURCE_LINE = re.compile(r"^ {5,}\s*(-?\d+) (\S.*)$")
_FILE_LINE = re.compile(r"^ *(-?\d+) (\S.*)$")
_SIBLING = re.compile(r"mariadb-|libmariadb|galera|mysql-common$|libjemalloc", re.IGNORECASE)
_RELEASE_FIELDS = {"o": "origin", "l": "label", "a": "suite", "n": "codename"}


@dataclass(frozen=True)
class InstalledPackage:
    """One row of dpkg's list."""

    name: str
    architecture: str
    version: str
    status: str
    source: str

    @property
    def held(self) -> bool:
        """Whether it is on hold."""
        return self.status.startswith("hold ")

    @property
    def present(self) -> bool:
        """Whether any of its files are there; a removed package may leave its configuration and is not."""
        return self.status.split()[-1] not in ("not-installed", "config-files")


@dataclass(frozen=True)
class Policy:
    """What `apt-cache policy NAME` says of one package."""

    candidate: str | None
    versions: tuple[PackageVersion, ...]


def parse_dpkg_list(text: str) -> tuple[InstalledPackage, ...]:
    """Read dpkg-query's rows of name, architecture, version, status and source."""
    rows = (row.split("\t") for row in lines(text))
    return tuple(
        InstalledPackage(name, architecture, version, status, source)
        for name, architecture, version, status, source, *_ in rows
    )


def parse_automatic(text: str) -> frozenset[tuple[str, str]]:
    """Read apt's extended_states: name and architecture of each package that was installed automatically."""
    marked = set()
    for stanza in text.split("\n\n"):
        fields = dict(row.partition(": ")[::2] for row in lines(stanza))
        if fields.get("Auto-Installed") == "1":
            marked.add((fields["Package"], fields["Architecture"]))
    return frozenset(marked)


def parse_sources(text: str) -> dict[str, PackageSource]:
    """Read `apt-cache policy` without a name: what each place that offers packages says of itself, by location."""
    sources: dict[str, PackageSource] = {}
    location, priority, fields = "", 0, dict[str, str]()
    for row in [*text.partition("\nPinned packages:")[0].splitlines(), " 0 end"]:
        stripped = row.strip()
        found = _FILE_LINE.match(row)
        if stripped.startswith("release "):
            pairs = (part.partition("=") for part in stripped.removeprefix("release ").split(","))
            fields |= {_RELEASE_FIELDS[key]: value for key, _, value in pairs if key in _RELEASE_FIELDS}
        elif stripped.startswith("origin "):
            fields["site"] = stripped.removeprefix("origin ")
        elif found:
            if location:
                sources[location] = PackageSource(priority, location, **fields)
            priority, location, fields = int(found[1]), found[2], {}
    return sources


def parse_pins(text: str) -> tuple[str, ...]:
    """Return the lines of `apt-cache policy` that name pinned packages."""
    return tuple(row.strip() for row in lines(text.partition("\nPinned packages:")[2]))


def parse_policy(text: str, sources: Mapping[str, PackageSource]) -> dict[str, Policy]:
    """Read `apt-cache policy NAME…` by package; `sources` tells the origin of each place."""
    heads = [found.start() for found in re.finditer(r"^\S.*:$", text, re.MULTILINE)]
    policies = {}
    for start, end in pairwise([*heads, len(text)]):
        name, _, body = text[start:end].partition("\n")
        candidate = re.search(r"^  Candidate: (\S+)$", body, re.MULTILINE)
        offered = candidate[1] if candidate and candidate[1] != "(none)" else None
        policies[name.rstrip(":")] = Policy(offered, tuple(_versions(body, sources)))
    return policies


def _versions(body: str, sources: Mapping[str, PackageSource]) -> list[PackageVersion]:
    table: list[PackageVersion] = []
    for row in body.splitlines():
        version, source = _VERSION_LINE.match(row), _SOURCE_LINE.match(row)
        if version:
            table.append(PackageVersion(version[1], int(version[2]), ()))
        elif source and table:
            known = sources.get(source[2], PackageSource(int(source[1]), source[2]))
            last = table[-1]
            table[-1] = PackageVersion(last.version, last.priority, (*last.sources, known))
    return table


def parse_apt_items(answers: Answers) -> Known[tuple[Package, ...]]:
    """Join dpkg's list, apt's marks and the version tables into one row a package that matters here."""
    installed = read(answers.text("packages"), parse_dpkg_list)
    if isinstance(installed, Unknown):
        return installed
    automatic = read(answers.text("automatic"), parse_automatic)
    sources = read(answers.text("package-sources"), parse_sources)
    policies = (
        sources
        if isinstance(sources, Unknown)
        else read(answers.text("package-versions"), lambda text: parse_policy(text, sources))
    )
    rows = [row for row in installed if row.present and _SIBLING.match(row.name)]
    items = [_item(row, automatic, policies) for row in rows]
    missing = () if isinstance(policies, Unknown) else policies.items()
    names = {row.name for row in rows}
    items += [_offered(name, policy, answers) for name, policy in missing if name not in names and policy.versions]
    return tuple(items)


def _item(
    row: InstalledPackage, automatic: Known[frozenset[tuple[str, str]]], policies: Known[dict[str, Policy]]
) -> Package:
    policy = read(policies, lambda found: found[row.name])
    return Package(
        name=row.name,
        architecture=row.architecture,
        installed=row.version,
        status=row.status,
        source=row.source,
        automatic=read(automatic, lambda marked: any(mark[0] == row.name for mark in marked)),
        held=row.held,
        candidate=read(policy, lambda found: found.candidate),
        versions=read(policy, lambda found: found.versions),
    )


def _offered(name: str, policy: Policy, answers: Answers) -> Package:
    return Package(
        name=name,
        architecture=answers.text("package-architecture"),
        installed=None,
        candidate=policy.candidate,
        versions=policy.versions,
    )


def parse_refresh(exit_status: int, text: str) -> ListRefresh:
    """Judge `apt-get update` by what it said: it ends with 0 on stale lists too."""
    return ListRefresh(exit_status, tuple(row for row in text.splitlines() if re.match(r"W:|E:|Err:", row)))


def parse_lock_holders(text: str) -> tuple[LockHolder, ...]:
    """Read rows of lock file, process id and command line."""
    rows = (row.split("\t", 2) for row in lines(text))
    return tuple(LockHolder(path, int(pid), command.strip()) for path, pid, command in rows)


def parse_fragment_sums(text: str) -> tuple[str, ...]:
    """Name the unit's file where its checksum is not the one of its package; a file of no package has none to keep."""
    sums = {row.split()[0]: row.split()[1:3] for row in lines(text)}
    if "file" not in sums or "package" not in sums or sums["file"][0] == sums["package"][0]:
        return ()
    return (sums["file"][1],)
