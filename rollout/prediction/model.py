"""`Prediction`: what is likely to change on one host, with ranges, reasons and a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from pydantic import TypeAdapter

from rollout.prediction.ranges import Range, significant

Verdict = Literal["gain", "no_gain_expected", "cannot_tell", "loss_possible"]


@dataclass(frozen=True)
class Note:
    """A sentence for people with its code (see `codes.CODES`)."""

    code: str
    message: str


@dataclass(frozen=True)
class NowAfter:
    """A figure now and after the change; None is not known."""

    now: float | None
    after: float | None


@dataclass(frozen=True)
class MemoryForecast:
    """What the allocator holds now and what is likely to come back, in bytes; None is not known."""

    verdict: Verdict
    reasons: tuple[Note, ...]
    held_bytes: int | None
    saving_bytes: Range | None


@dataclass(frozen=True)
class BackupEffect:
    """What the backup does to the buffer pool: bytes read through it, and the share of its pages it may replace."""

    method: str
    reason: Note
    bytes_through_pool: int | None
    replaced_share: float | None


@dataclass(frozen=True)
class WhatIf:
    """The fitted workload under another policy, pool or setting, as figures a read request; no advice."""

    changed: str
    hit_ratio: float
    promotions_per_read: float
    mutex_per_read: float


@dataclass(frozen=True)
class FitSummary:
    """How well a simulated workload reproduces what was observed, each as a ratio of reads; `good` if it is used.

    Hits on old pages before `innodb_old_blocks_time` (`not_young`) were not fitted to: they tell whether the workload
    is of the kind that is assumed. None where the counter cannot be used.
    """

    good: bool
    observed_miss_ratio: float
    fitted_miss_ratio: float
    observed_promotion_ratio: float
    fitted_promotion_ratio: float
    seconds: float
    what_if: tuple[WhatIf, ...] = ()
    observed_not_young_ratio: float | None = None
    fitted_not_young_ratio: float | None = None


@dataclass(frozen=True)
class Prediction:
    """One host. `verdict` is about speed where a fix (or a rehearsal of it) is planned, else about memory.

    `mutex_utilisation` is the share of time in which `buf_pool.mutex` would be held now if each operation took what
    it takes under contention; `capacity_ratio` the highest rate of queries after the change over that before.
    `promotions_per_read` is pages made young a read request. Byte savings count resident and swapped memory.
    """

    host: str
    verdict: Verdict
    reasons: tuple[Note, ...]
    driver: str
    mutex_utilisation: Range | None
    capacity_ratio: Range | None
    latency_ms: NowAfter
    hit_ratio: NowAfter
    promotions_per_read: float | None
    memory: MemoryForecast
    backup: BackupEffect
    warnings: tuple[Note, ...]
    fit: FitSummary | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the form of `plan --json`: fields of `docs/cli.md`, null where something is not known."""
        return {
            "verdict": self.verdict,
            "reasons": [note.message for note in self.reasons],
            "reason_codes": [note.code for note in self.reasons],
            "driver": self.driver,
            "mutex_utilisation": _plain(self.mutex_utilisation),
            "capacity_ratio": _plain(self.capacity_ratio),
            "latency_ms": _plain(self.latency_ms),
            "hit_ratio": _plain(self.hit_ratio),
            "promotions_per_read": _plain(self.promotions_per_read),
            "rss_saving_bytes": _whole(self.memory.saving_bytes),
            "memory": _plain(self.memory) | {"saving_bytes": _whole(self.memory.saving_bytes)},
            "backup": _plain(self.backup),
            "warnings": _plain(self.warnings),
            "fit": _plain(self.fit),
        }


def prediction_from_json(host: str, document: Mapping[str, Any]) -> Prediction:
    """Turn the form of `to_json` into a prediction again; raises pydantic's ValidationError where it is none."""
    names = {item.name for item in fields(Prediction)}
    reasons = [
        {"code": code, "message": message}
        for code, message in zip(document["reason_codes"], document["reasons"], strict=True)
    ]
    known = {key: value for key, value in document.items() if key in names}
    return TypeAdapter(Prediction).validate_python({**known, "host": host, "reasons": reasons})


def _plain(value: object) -> Any:
    if isinstance(value, Range):
        return value.to_json()
    if isinstance(value, float):
        return significant(value, 6)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Note | NowAfter | MemoryForecast | BackupEffect | FitSummary | WhatIf):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    return value


def _whole(size: Range | None) -> dict[str, int] | None:
    return {name: round(value) for name, value in vars(size).items()} if size else None
