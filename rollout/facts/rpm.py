"""Packages of an rpm host, from what rpm, dnf and zypper printed."""

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from rollout.facts.frame import Answers, lines, read
from rollout.facts.model import Package, PackageSource, PackageVersion
from rollout.facts.unknown import Known, Unknown
from rollout.versions import parse_package_version

_SIBLING = re.compile(r"mariadb|galera|libmariadb|jemalloc|libjemalloc", re.IGNORECASE)
Offer = tuple[str, str, str]  # name, version, repository


def parse_rpm_list(text: str) -> tuple[Package, ...]:
    """Read rpm's rows of name, architecture, version, "installed", source package and vendor."""
    packages = []
    for row in lines(text):
        name, architecture, version, status, source, vendor = row.split("\t")
        if _SIBLING.match(name):
            packages.append(Package(name, architecture, version, status, source, "" if vendor == "(none)" else vendor))
    return tuple(packages)


def parse_repoquery(text: str) -> tuple[Offer, ...]:
    """Read dnf's rows of name, architecture, version, repository and vendor; epoch 0 is left out as rpm leaves it out.

    Lines of another shape (the age of the metadata stands among them, in the user's language) are no rows.
    """
    rows = (row.split("\t") for row in text.splitlines() if row.count("\t") >= 3)
    return tuple((row[0], row[2].removeprefix("0:"), row[3]) for row in rows)


def parse_zypper(text: str) -> tuple[Offer, ...]:
    """Read `zypper --xmlout search --details`; what is only installed stands there under "(System Packages)"."""
    try:
        tree = ElementTree.fromstring(text)  # noqa: S314 - root's own package manager wrote it
    except ElementTree.ParseError as problem:
        raise ValueError(str(problem)) from problem
    rows = (node.attrib for node in tree.iter("solvable"))
    return tuple(
        (row["name"], row["edition"], row["repository"]) for row in rows if row["repository"] != "(System Packages)"
    )


def parse_rpm_items(answers: Answers, manager: str) -> Known[tuple[Package, ...]]:
    """Join rpm's list with what the repositories offer."""
    installed = read(answers.text("packages"), parse_rpm_list)
    if isinstance(installed, Unknown):
        return installed
    offers = read(answers.text("package-versions"), parse_repoquery if manager == "dnf" else parse_zypper)
    holds = answers.text("holds")
    items = [_with_versions(item, offers, holds) for item in installed]
    if isinstance(offers, Unknown):
        return tuple(items)
    names = {item.name for item in installed}
    missing = dict.fromkeys(name for name, _, _ in offers if name not in names)
    other = Unknown("not installed, and offered for several")
    return (*items, *(_with_versions(Package(name, other, None), offers, holds) for name in missing))


def _with_versions(item: Package, offers: Known[tuple[Offer, ...]], holds: Known[str]) -> Package:
    table = read(offers, lambda rows: version_table(item.name, rows))
    return Package(
        name=item.name,
        architecture=item.architecture,
        installed=item.installed,
        status=item.status,
        source=item.source,
        vendor=item.vendor,
        automatic=Unknown("rpm does not tell; dnf's history is not read"),
        held=read(holds, lambda text: any(_locks(row, item.name) for row in parse_versionlock(text))),
        candidate=Unknown("dnf and zypper name no candidate without a transaction"),
        versions=table,
    )


def _locks(entry: str, name: str) -> bool:
    """Whether a versionlock entry (name, epoch, version) is about that very package and not a longer name."""
    return re.match(rf"{re.escape(name)}-(?:\d+:)?[\d*]", entry) is not None


def version_table(name: str, offers: Iterable[Offer]) -> tuple[PackageVersion, ...]:
    """Gather the offers of one package by version, newest upstream release first."""
    table: dict[str, list[PackageSource]] = {}
    for offered, version, repository in offers:
        if offered == name:
            table.setdefault(version, []).append(PackageSource(0, repository, origin=repository))
    newest_first = sorted(table, key=_upstream, reverse=True)
    return tuple(PackageVersion(version, 0, tuple(table[version])) for version in newest_first)


def _upstream(version: str) -> tuple[int, ...]:
    found = parse_package_version(version)
    return found.upstream if found else ()


def parse_versionlock(text: str) -> tuple[str, ...]:
    """Read dnf's versionlock list (`procps-ng-0:3.3.17-1.fc34.*`); comments and `!` exclusions are kept out."""
    return tuple(row.strip() for row in lines(text) if row.strip()[0] not in "#!" and row.strip() != "absent")
