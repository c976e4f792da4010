"""Secrets that are planted in an inventory, and the search for them in every form and place where they could leak."""

import base64
import json
import re
import shlex
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

# Of the host, all that is written there or by it; the datadir is the database's own.
HOST_PLACES = "/var/lib/rollout /var/log /var/backups /var/cache/debconf /root /home /etc /tmp /var/tmp /run /dev/shm"
SAMPLE_SECONDS = 0.05


def forms(secret: str) -> dict[str, bytes]:
    """Return each form in which a secret may stand in a file, by name."""
    raw = secret.encode()
    found = {
        "raw": raw,
        "JSON": json.dumps(secret)[1:-1].encode(),
        "JSON ASCII": json.dumps(secret, ensure_ascii=True)[1:-1].encode(),
        "URL": quote(secret, safe="").encode(),
        "URL form": quote_plus(secret).encode(),
        "shell": shlex.quote(secret)[1:-1].encode(),
        "shell double": re.sub(r'(["$`\\])', r"\\\1", secret).encode(),
        "option file": secret.replace("\\", "\\\\").replace('"', '\\"').encode(),
    }
    for shift in range(3):  # wherever in a longer text it stands, one of three ways to fall into groups of three bytes
        coded = base64.b64encode(b"x" * shift + raw)
        found[f"base64 at {shift}"] = coded[(shift * 8 + 5) // 6 : len(coded) - 4 if coded.endswith(b"=") else None]
    return found


def seen_in(content: bytes, secrets: Mapping[str, str]) -> list[str]:
    """Name the secrets that stand in `content`, with their form."""
    return [
        f"{name} as {form}"
        for name, secret in secrets.items()
        for form, text in forms(secret).items()
        if text in content
    ]


def seen_below(places: Iterable[Path], secrets: Mapping[str, str], allowed: frozenset[Path]) -> Iterator[str]:
    """Name every file below `places` that holds a secret, save those in which it was planted."""
    for place in places:
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        for file in files:
            if file.is_file() and file not in allowed:
                yield from (f"{file}: {told}" for told in seen_in(file.read_bytes(), secrets))


class Watch:
    """Looks at the arguments and the environment of every process of this machine, the fleet's hosts included."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._needles = [(f"{n} as {f}", text) for n, secret in secrets.items() for f, text in forms(secret).items()]
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.looked = 0
        self.found: set[str] = set()

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stopped.wait(SAMPLE_SECONDS):
            for process in Path("/proc").glob("[0-9]*"):
                for name in ("cmdline", "environ"):
                    self._look_at(process / name)

    def _look_at(self, file: Path) -> None:
        try:
            content = file.read_bytes()
        except OSError:  # the process is gone
            return
        self.looked += 1
        self.found |= {f"{file.name} of {content[:80]!r}: {told}" for told, text in self._needles if text in content}
