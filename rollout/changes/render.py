"""How the shell text of a change and the drop-in are made from templates.

Strict: a name that a template uses and nobody gave is an error. Sandboxed: a user may bring own templates.
"""

import hashlib
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from rollout.resources import PACKAGE, shipped

MARKER = "# Written by rollout;"


def _environment(folder: Path) -> SandboxedEnvironment:
    made = SandboxedEnvironment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.filters["q"] = lambda value: shlex.quote(str(value))
    return made


def shell_scripts(folder: Path) -> Callable[..., str]:
    """Return a function that renders the shell template NAME.sh.j2 of `folder`: `script(name, **values) -> text`.

    In a template `value | q` quotes for the shell; a value that a template uses and nobody gave is an error.
    """
    environment = _environment(folder)

    def script(name: str, /, **values: Any) -> str:
        return environment.get_template(f"{name}.sh.j2").render(**values)

    return script


script = shell_scripts(PACKAGE / "changes" / "scripts")


def drop_in(library: str, malloc_conf: str, environment: Mapping[str, str], folder: Path | None = None) -> str:
    """Render the allocator's drop-in; `folder` may hold a user's own `allocator.conf.j2`.

    The checksum in it covers the assignments: a drop-in whose checksum fits is as some rollout wrote it.
    """
    assignments = [f"LD_PRELOAD={library}"]
    if malloc_conf:
        assignments.append(f"MALLOC_CONF={malloc_conf}")
    assignments += [f"{name}={value}" for name, value in sorted(environment.items())]
    quoted = [quote_assignment(assignment) for assignment in assignments]
    template = _environment(folder or shipped("templates")).get_template("allocator.conf.j2")
    return template.render(assignments=quoted, checksum=checksum(quoted), library=library).rstrip("\n") + "\n"


def quote_assignment(assignment: str) -> str:
    r"""Quote one assignment as systemd.exec(5) reads it: in double quotes, with `\`, `"` and `%` doubled or escaped."""
    escaped = assignment.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def checksum(assignments: list[str]) -> str:
    """Return the checksum line's value for these quoted assignments."""
    return hashlib.sha256("\n".join(assignments).encode()).hexdigest()[:16]
