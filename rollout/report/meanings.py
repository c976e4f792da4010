"""All codes that the program hands out, by kind: each room keeps its own beside what hands them out."""

from collections.abc import Mapping

from rollout.changes import codes as changes
from rollout.checks import codes as checks
from rollout.engine import codes as engine
from rollout.plan import codes as plan
from rollout.prediction import codes as prediction

KINDS: Mapping[str, Mapping[str, str]] = {
    "blocker": changes.BLOCKERS,
    "warning": changes.WARNINGS,
    "preflight": engine.PREFLIGHT,
    "status": engine.STATUSES,
    "check": checks.CHECKS,
    "cause": checks.CAUSES,
    "verdict": prediction.VERDICTS,
    "prediction": prediction.NOTES,
    "plan": plan.CODES,
}


def meaning(code: str) -> str:
    """Return what a code means and what to do, empty where no room knows it."""
    return next((codes[code] for codes in KINDS.values() if code in codes), "")
