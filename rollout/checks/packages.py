"""Checks of the package system."""

from rollout.checks.model import Judgement, Situation, asked, held, not_known
from rollout.facts.model import Package
from rollout.facts.unknown import Unknown
from rollout.versions import parse_package_version

_LIST = "dpkg-query --show --showformat='${Package} ${Version} ${Status}\\n'"


def packages_version(situation: Situation) -> Judgement:
    """Hold the installed siblings against the plan, or else against each other."""
    wanted = situation.expected.packages
    expected = "all MariaDB packages at one version" if wanted is None else "the packages as planned"
    packages = situation.after.packages
    if isinstance(packages.items, Unknown):
        return not_known(expected, packages.items)
    installed = {package.name: package.installed or "" for package in packages.siblings if _is_server(package)}
    if not installed:
        return Judgement("warn", expected, "no MariaDB package is installed: the server is from elsewhere")
    evidence = asked(_LIST, "\n".join(f"{name} {version}" for name, version in sorted(installed.items())))
    if wanted is not None:
        off = [
            f"{name} {installed.get(name, 'missing')}" for name in sorted(wanted) if installed.get(name) != wanted[name]
        ]
        return held(not off, expected, f"not as planned: {', '.join(off)}" if off else "as planned", evidence)
    versions = {_numbers(version) for version in installed.values()}
    found = f"{len(installed)} packages, {', '.join(sorted(versions))}"
    return held(len(versions) == 1, expected, found, evidence)


def _is_server(package: Package) -> bool:
    """Whether it moves with the server: the Galera provider has numbers of its own, and `mysql-common` none."""
    return "mariadb" in package.name.lower() and _comparable(package)


def _comparable(package: Package) -> bool:
    return parse_package_version(package.installed or "") is not None


def _numbers(version: str) -> str:
    parsed = parse_package_version(version)
    return ".".join(map(str, parsed.upstream)) if parsed else version


def packages_configured(situation: Situation) -> Judgement:
    """See that no package is half installed or half configured."""
    expected = "every package whole and configured"
    packages = situation.after.packages
    if isinstance(packages.audit, Unknown):
        return not_known(expected, packages.audit)
    if isinstance(packages.items, Unknown):
        return not_known(expected, packages.items)
    broken = [f"{package.name}: {package.status}" for package in packages.items if not package.healthy]
    found = [*broken, *packages.audit]
    evidence = asked("dpkg --audit", "\n".join(found) or "(nothing)")
    return held(not found, expected, broken[0] if broken else "\n".join(found[:1]) or "none is broken", evidence)


def unattended_upgrades(situation: Situation) -> Judgement:
    """Warn where packages may move on their own."""
    expected = "no upgrade that nobody started"
    state = situation.after.packages.unattended_upgrades
    if isinstance(state, Unknown):
        return not_known(expected, state, "warn")
    evidence = asked("apt-config dump APT::Periodic::Unattended-Upgrade", "1" if state else "0 or not set")
    if state:
        return Judgement("warn", expected, "unattended upgrades are switched on", evidence)
    return Judgement("pass", expected, "they are off", evidence)
