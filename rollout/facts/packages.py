"""The package system of a host, whichever it is."""

import re
from dataclasses import replace
from typing import get_args

from rollout.facts.apt import (
    parse_apt_items,
    parse_dpkg_list,
    parse_fragment_sums,
    parse_lock_holders,
    parse_pins,
    parse_refresh,
)
from rollout.facts.frame import Answer, Answers, lines, read
from rollout.facts.model import ListRefresh, Package, PackageManager, Packages
from rollout.facts.rpm import (
    dnf_offers,
    parse_modules,
    parse_rpm_items,
    parse_rpm_refresh,
    parse_versionlock,
    versionlocked,
)
from rollout.facts.unknown import Known, Unknown, blank, known_or
from rollout.facts.zypper import locked, named_in_locks, zypper_offers


def parse_packages(answers: Answers) -> Packages:
    """Read the facts of the package system; nothing is known where it is none of the three."""
    name = answers.text("package-manager")
    if isinstance(name, Unknown) or name not in get_args(PackageManager):
        return _without_manager(name)
    manager: PackageManager = "apt" if name == "apt" else "dnf" if name == "dnf" else "zypper"
    return Packages(
        manager=manager,
        manager_version=answers.text("package-manager-version"),
        architecture=answers.text("package-architecture"),
        items=_items(answers, manager),
        refresh=_refresh(answers.first("refresh"), manager),
        lists_age_seconds=_lists_age(answers),
        audit=_audit(answers, manager),
        holds=_holds(answers, manager),
        pins=read(answers.text("package-sources"), parse_pins) if manager == "apt" else (),
        excludes=read(answers.text("excludes"), lines) if manager == "dnf" else (),
        lock_holders=read(answers.text("package-locks"), parse_lock_holders),
        needrestart=_installed(answers, manager, "needrestart"),
        unattended_upgrades=_unattended(answers, manager),
        changed_files=_changed_files(answers, manager),
        modules=read(answers.text("modules"), parse_modules) if manager == "dnf" else (),
        offered_libraries=read(answers.text("offered-files"), _libraries) if answers.first("offered-files") else (),
    )


def _items(answers: Answers, manager: PackageManager) -> Known[tuple[Package, ...]]:
    if manager == "apt":
        return parse_apt_items(answers)
    if manager == "dnf":
        return parse_rpm_items(answers, dnf_offers(answers), versionlocked)
    return parse_rpm_items(answers, zypper_offers(answers), locked)


def _without_manager(name: Known[str]) -> Packages:
    if isinstance(name, Unknown):
        return blank(Packages, name.reason)
    return replace(blank(Packages, "this host has neither apt nor dnf nor zypper"), manager=None, items=())


def _libraries(text: str) -> tuple[str, ...]:
    return tuple(row for row in lines(text) if re.search(r"/libjemalloc\.so\.\d+$", row))


def _refresh(answer: Answer | None, manager: PackageManager) -> Known[ListRefresh | None]:
    if answer is None:
        return None
    text = f"{answer.printed}\n{answer.complaint}"
    refreshed = (parse_refresh if manager == "apt" else parse_rpm_refresh)(answer.status, text)
    return refreshed if refreshed.messages or answer.status == 0 else Unknown(answer.failure)


def _lists_age(answers: Answers) -> Known[float | None]:
    answer = answers.first("lists-age")
    if answer is None:
        return Unknown("the probe did not ask for the age of the package lists")
    times = [int(row) for row in re.findall(r"^\d+$", answer.printed, re.MULTILINE)]
    if not times:
        return Unknown(answer.failure)
    return read(answers.text("time-begin"), lambda now: round(float(now) - max(times), 1))


def _audit(answers: Answers, manager: PackageManager) -> Known[tuple[str, ...]]:
    """Return what `dpkg --audit` found; it ends with 1 when it found something. rpm has no half-installed state."""
    if manager != "apt":
        return ()
    answer = answers.first("package-audit")
    if answer is None or answer.status not in (0, 1):
        return Unknown(answer.failure if answer else "dpkg --audit was not run")
    return lines(answer.printed)


def _holds(answers: Answers, manager: PackageManager) -> Known[tuple[str, ...]]:
    if manager != "apt":
        return read(answers.text("holds"), parse_versionlock if manager == "dnf" else named_in_locks)
    installed = read(answers.text("packages"), parse_dpkg_list)
    return read(installed, lambda rows: tuple(row.name for row in rows if row.held))


def _installed(answers: Answers, manager: PackageManager, name: str) -> Known[str | None]:
    if manager != "apt":
        return None
    installed = read(answers.text("packages"), parse_dpkg_list)
    return read(installed, lambda rows: next((row.version for row in rows if row.name == name and row.present), None))


def _unattended(answers: Answers, manager: PackageManager) -> Known[bool]:
    installed = _installed(answers, manager, "unattended-upgrades")
    if known_or(installed, "unknown") is None:
        return False
    return read(answers.text("unattended"), lambda text: re.search(r'Unattended-Upgrade "0*[1-9]', text) is not None)


def _changed_files(answers: Answers, manager: PackageManager) -> Known[tuple[str, ...]]:
    if manager == "apt":
        return read(answers.text("changed-files"), parse_fragment_sums)
    answer = answers.first("changed-files")
    if answer is None:
        return Unknown("no unit whose package could be asked")
    changed = re.findall(r"^\S{8,}  .? ?(/\S.*)$", answer.printed, re.MULTILINE)
    return tuple(changed) if changed or answer.status == 0 else Unknown(answer.failure)
