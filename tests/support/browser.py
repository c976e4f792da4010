"""Headless Chromium (Debian package `chromium`) as a function: a page in, what the browser made of it out.

The browser runs in a network namespace of its own with nothing in it: a page that asked for something would get
nothing, and the browser's own habits (updates, the time) reach nobody.
"""

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync", "--disable-extensions"),
    *("--disable-background-networking", "--disable-component-update", "--disable-default-apps"),
    *("--enable-logging=stderr", "--virtual-time-budget=10000"),
)
DARK = "--blink-settings=preferredColorScheme=0"


@dataclass(frozen=True)
class Visit:
    """What a visit of a page came to: the document afterwards, the console's lines, addresses that were asked for."""

    document: str
    console: tuple[str, ...]
    requests: tuple[str, ...]


def visit(page: Path, *flags: str) -> Visit:
    """Open a file in the browser and return what came of it."""
    program = shutil.which("chromium")
    assert program, "these tests need Chromium: apt-get install chromium"
    log = page.with_suffix(".netlog")
    command = [
        "unshare",
        "--net",
        program,
        *_FLAGS,
        f"--user-data-dir={page.parent / 'profile'}",
        f"--log-net-log={log}",
        *flags,
    ]
    ended = subprocess.run(
        [*command, "--dump-dom", page.as_uri()], check=False, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    console = tuple(line for line in ended.stderr.splitlines() if "CONSOLE" in line)
    # A line an event; what the browser asks for on its own account has no origin.
    events = [line for line in log.read_text().splitlines() if '"initiator":"' in line and "not an origin" not in line]
    urls = [url for line in events for url in re.findall(r'"url":"([a-z]+://[^"]*)"', line)]
    return Visit(ended.stdout, console, tuple(url for url in urls if not url.startswith("file:")))


def ask(page: str, folder: Path, script: str, *flags: str) -> Any:
    """Run JavaScript in a copy of the page that allows it; `script` calls `done(value)`, the value is returned."""
    allowed = re.sub(r"<meta http-equiv=.Content-Security-Policy.[^>]*>", "", page)
    answer = "document.body.setAttribute('data-answer', JSON.stringify(value))"
    code = f"<script>window.addEventListener('load', () => {{ const done = value => {answer}; {script} }});</script>"
    copy = folder / "asked.html"
    copy.write_text(allowed.replace("</body>", code + "</body>"))
    found = re.search(r'data-answer="([^"]*)"', visit(copy, *flags).document)
    assert found, "the script gave no answer"
    return json.loads(html.unescape(found[1]))


def accessibility(page: str, folder: Path, *flags: str) -> list[str]:
    """Return the violations that the checker axe finds, each with the place of the first."""
    axe = files("axe_core_python").joinpath("axe.min.js").read_text()
    opened = page.replace("<details", "<details open").replace("</head>", f"<script>{axe}</script></head>")
    found = ask(opened, folder, "axe.run().then(done)", *flags)
    assert len(found["passes"]) > 10, "the checker ran"
    return [f"{row['id']}: {row['nodes'][0]['html']}" for row in found["violations"]]
