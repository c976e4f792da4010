"""Packages of an rpm host, from what rpm and dnf printed; what zypper has of its own is in `zypper`."""

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from rollout.facts.frame import Answers, lines, read
from rollout.facts.model import ListRefresh, Package, PackageSource, PackageVersion
from rollout.facts.unknown import Known, Unknown
from rollout.versions import parse_package_version

_SIBLING = re.compile(r"mariadb|galera|libmariadb|jemalloc|libjemalloc", re.IGNORECASE)
# dnf's words, then zypper's.
_COMPLAINT = re.compile(
    r"Error|Failed|Ignoring|Cannot|Warning|  - "
    r"|Skipping (repository|service)|Some of the|Could not|Problem|Abort|Repository '.*' (is invalid|could not)",
    re.IGNORECASE,
)
Offer = tuple[str, str, str, str]  # name, version, repository, vendor (empty where nobody says it)


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
    return tuple((row[0], row[2].removeprefix("0:"), row[3], _vendor(row[4:])) for row in rows)


def _vendor(rest: list[str]) -> str:
    return rest[0].strip().replace("(none)", "") if rest else ""


def dnf_offers(answers: Answers) -> Known[tuple[Offer, ...]]:
    """Return what the repositories offer, as dnf lists it."""
    return read(answers.text("package-versions"), parse_repoquery)


def parse_rpm_items(
    answers: Answers, offers: Known[tuple[Offer, ...]], locks: Callable[[str, str], bool]
) -> Known[tuple[Package, ...]]:
    """Join rpm's list with what the repositories offer; `locks` reads the manager's own list of locks for a name."""
    installed = read(answers.text("packages"), parse_rpm_list)
    if isinstance(installed, Unknown):
        return installed
    holds = answers.text("holds")

    def held(name: str) -> Known[bool]:
        return read(holds, lambda text: locks(text, name))

    items = [_with_versions(item, offers, held(item.name)) for item in installed]
    if isinstance(offers, Unknown):
        return tuple(items)
    names = {item.name for item in installed}
    missing = dict.fromkeys(name for name, *_ in offers if name not in names)
    other = Unknown("not installed, and offered for several")
    return (*items, *(_with_versions(Package(name, other, None), offers, held(name)) for name in missing))


def _with_versions(item: Package, offers: Known[tuple[Offer, ...]], held: Known[bool]) -> Package:
    table = read(offers, lambda rows: version_table(item.name, rows))
    return Package(
        name=item.name,
        architecture=item.architecture,
        installed=item.installed,
        status=item.status,
        source=item.source,
        vendor=item.vendor,
        automatic=Unknown("rpm does not tell; dnf's history is not read"),
        held=held,
        candidate=Unknown("dnf and zypper name no candidate without a transaction"),
        versions=table,
    )


def versionlocked(text: str, name: str) -> bool:
    """Whether dnf's versionlock list has an entry about that package."""
    return any(_locks(row, name) for row in parse_versionlock(text))


def _locks(entry: str, name: str) -> bool:
    """Whether a versionlock entry (name, epoch, version; the name may be a pattern) is about that very package."""
    parted = re.match(r"(.+?)-(?:\d+:)?(?:\d|\*$)", entry)
    return fnmatchcase(name, entry) or (parted is not None and fnmatchcase(name, parted[1]))


def version_table(name: str, offers: Iterable[Offer]) -> tuple[PackageVersion, ...]:
    """Gather the offers of one package by version, newest upstream release first.

    The origin of an offer is the vendor that built it, the repository where none is named: a distribution's release
    and its updates are two repositories of one vendor, and a vendor's change is what rpm's own scriptlets refuse.
    """
    table: dict[str, list[PackageSource]] = {}
    for offered, version, repository, vendor in offers:
        if offered == name:
            table.setdefault(version, []).append(PackageSource(0, repository, origin=vendor or repository))
    newest_first = sorted(table, key=_upstream, reverse=True)
    return tuple(PackageVersion(version, 0, tuple(table[version])) for version in newest_first)


def _upstream(version: str) -> tuple[int, ...]:
    found = parse_package_version(version)
    return found.upstream if found else ()


def parse_versionlock(text: str) -> tuple[str, ...]:
    """Read dnf's versionlock list (`procps-ng-0:3.3.17-1.fc34.*`); comments and `!` exclusions are kept out."""
    return tuple(row.strip() for row in lines(text) if row.strip()[0] not in "#!" and row.strip() != "absent")


def parse_modules(text: str) -> tuple[str, ...]:
    """Read dnf's module files and name each enabled stream: `mariadb:10.11`."""
    found, name, stream = [], "", ""
    for row in lines(text):
        key, _, value = row.partition("=")
        if row.startswith("["):
            name, stream = row.strip("[] "), ""
        elif key.strip() == "stream":
            stream = value.strip()
        elif key.strip() == "state" and value.strip() == "enabled":
            found.append(f"{name}:{stream}")
    return tuple(found)


def parse_rpm_refresh(exit_status: int, text: str) -> ListRefresh:
    """Judge `dnf makecache` and `zypper refresh` by what they said: dnf ends with 0 where it passes one over."""
    return ListRefresh(exit_status, tuple(row.strip() for row in text.splitlines() if _COMPLAINT.match(row)))
