"""The program, struck by a signal at one exact line of its journal, as nobody could do by watching the file.

    python struck.py KILL|STOP before|after EVENT PHASE WORDS...

KILL is the power cut: nothing of it gets to tidy up. STOP holds it there, so that the host can be broken meanwhile.
"""

import os
import signal
import sys
from typing import Any

from rollout.cli.app import main
from rollout.journal import Event, Journal


def arm(stroke: signal.Signals, when: str, event: str, phase: str) -> None:
    """Let the journal strike its own process before or after the first line of this event and phase."""
    write = Journal.append
    struck = []

    def append(journal: Journal, host: str, said: str, **data: Any) -> Event:
        here = said == event and data.get("phase", "") == phase and not struck
        if here and when == "before":
            struck.append(said)
            os.kill(os.getpid(), stroke)
        entry = write(journal, host, said, **data)
        if here and when == "after":
            struck.append(said)
            os.kill(os.getpid(), stroke)
        return entry

    Journal.append = append  # type: ignore[method-assign] # the one place where every line goes by


if __name__ == "__main__":
    name, when, event, phase, *words = sys.argv[1:]
    arm(signal.Signals[f"SIG{name}"], when, event, phase)
    sys.argv = ["rollout", *words]
    main()
