"""`rollout explain`: what a code means and what to do."""

import difflib
import json

import click

from rollout.cli.options import json_option
from rollout.errors import UsageProblem
from rollout.report.meanings import KINDS


@click.command()
@click.argument("code", required=False)
@json_option
def command(code: str | None, as_json: bool) -> None:
    """Say what a blocker, warning, check or verdict means and what to do; without CODE list them all.

    \b
    Example:
      rollout explain preload_secure_execution
    """
    found = _all() if code is None else [_named(code)]
    if as_json:
        rows = [{"code": name, "kind": kind, "text": text} for name, kind, text in found]
        click.echo(json.dumps({"schema": 1, "codes": rows}, indent=1))
    elif code is None:
        for name, kind, _text in found:
            click.echo(f"{name:28} {kind}")
    else:
        name, kind, text = found[0]
        click.echo(f"{name} ({kind})\n\n{click.wrap_text(text, width=100)}")


def _all() -> list[tuple[str, str, str]]:
    return [(code, kind, text) for kind, codes in KINDS.items() for code, text in codes.items()]


def _named(code: str) -> tuple[str, str, str]:
    known = {row[0]: row for row in _all()}
    if code not in known:
        near = difflib.get_close_matches(code, known, n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "rollout explain lists all codes."
        raise UsageProblem(f"there is no code {code!r}", hint=hint)
    return known[code]
