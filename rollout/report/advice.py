"""What a host's last status means for the person who has to go on from there."""

from collections.abc import Mapping

from rollout.report.model import Tone

TONES: Mapping[str, Tone] = {
    **dict.fromkeys(("changed", "ok", "rolled_back"), "good"),
    **dict.fromkeys(("failed", "recovered", "unreachable", "unknown"), "bad"),
    **dict.fromkeys(("stale", "blocked"), "notice"),
    **dict.fromkeys(("skipped", "pending"), "quiet"),
}

# HOST stands for the host's name.
ADVICE: Mapping[str, str] = {
    "failed": (
        "The phases below say how far it came. Mend what the error names, then `rollout apply --resume` goes on from "
        "there, or `rollout rollback --host HOST` takes the host back."
    ),
    "recovered": (
        "The change was taken back and the host serves as it did before. Mend the cause, make a fresh plan, and try "
        "this host alone before the others."
    ),
    "unreachable": "Nothing was changed there. Try the connection by hand; `rollout apply --resume` takes it up again.",
    "unknown": (
        "The connection broke while the change was under way; on the host it goes on by itself. "
        "`rollout apply --resume` attaches to it and says how it ended; nothing is started twice."
    ),
    "stale": "The host no longer is what the plan was made for. Make a fresh plan and read it.",
    "blocked": "Nothing was changed there. `rollout explain` tells what to do about each blocker.",
    "skipped": "Nothing was changed there, for the reason above.",
    "pending": "The run ended before its turn. `rollout apply --resume` goes on.",
}
