"""What a host must be like by its settings alone: the expectation that `rollout verify` holds it against."""

from collections.abc import Collection
from dataclasses import replace

from rollout.changes.allocator import assess_allocator
from rollout.changes.model import Kind
from rollout.changes.packages import assess_packages
from rollout.changes.placement import drop_in_path
from rollout.changes.render import drop_in
from rollout.checks.model import DropIn, Expectation
from rollout.facts.model import Facts, Unit
from rollout.settings import Settings
from rollout.versions import ServerVersion, fix_releases

ANY_JEMALLOC = "libjemalloc.so.2"  # stands for the path where no package says it


def expectation(facts: Facts, settings: Settings, kinds: Collection[Kind]) -> Expectation:
    """Return what the changes of `kinds` would have come to on this host. Pure.

    Where the fix release of the series is not to be had, no release is asked for; where jemalloc was set up by hand,
    no drop-in of ours is.
    """
    releases = fix_releases(settings.fix_releases)
    wanted = Expectation(version=_version(facts, settings) if "packages" in kinds else None, releases=releases)
    return _with_allocator(wanted, facts, settings) if _wants_jemalloc(settings, kinds) else wanted


def _wants_jemalloc(settings: Settings, kinds: Collection[Kind]) -> bool:
    return "allocator" in kinds and settings.allocator == "jemalloc"


def _version(facts: Facts, settings: Settings) -> str | None:
    verdict = assess_packages(facts, settings)
    if verdict.target is not None:
        return verdict.target
    known = (facts.server.running, facts.server.on_disk)
    series = next((version.series for version in known if isinstance(version, ServerVersion)), "")
    release = fix_releases(settings.fix_releases).get(series)
    return release.version if release and verdict.fix in ("present", "available", "rehearsal") else None


def _with_allocator(wanted: Expectation, facts: Facts, settings: Settings) -> Expectation:
    verdict = assess_allocator(facts, settings)
    wanted = replace(wanted, library=verdict.library or ANY_JEMALLOC)
    unit = facts.unit
    if not isinstance(unit, Unit):
        return wanted
    path = drop_in_path(unit, settings)
    if verdict.change is None and all(file.path != path for file in unit.drop_ins):
        return wanted
    content = drop_in(verdict.library or ANY_JEMALLOC, settings.malloc_conf, settings.environment)
    return replace(wanted, drop_in=DropIn(path, content))
