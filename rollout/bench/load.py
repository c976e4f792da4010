"""What a bench does to a host, as values: the scripts with a load in their middle, and what was seen beforehand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rollout.bench.controller import ControllerLoad
from rollout.changes.render import shell_scripts
from rollout.facts.model import Facts, Unit
from rollout.resources import PACKAGE

script = shell_scripts(PACKAGE / "bench" / "scripts")
SCRIPTS = PACKAGE / "bench" / "scripts"


@dataclass(frozen=True)
class Seen:
    """One host right before its load. `questions_per_second` None: the server gave no such count."""

    facts: Facts
    unit: Unit
    run_id: str
    login: str  # the client's first option
    socket: str
    slap: str  # path of mariadb-slap on the host, empty for none
    sysbench: str
    questions_per_second: float | None
    sysbench_here: str = ""  # path of sysbench on the controller, empty for none
    port: int = 0  # on which the server listens, 0 for none that could be found
    bind_address: str = ""


@dataclass(frozen=True)
class Load:
    """A load, composed for one host.

    `middle` is the text of do.sh after its beginning, `files` lie beside it, `about` is kept with the results so that
    the run can be repeated. `library_tree` is a folder of ours outside the run's folder, empty for none.
    `driver` is there when the controller gives the load that do.sh asks for.
    """

    kind: str
    summary: str
    schema: str
    middle: str
    files: Mapping[str, str] = field(default_factory=dict)
    library_tree: str = ""
    seconds: float = 3600.0  # after which nobody waits any longer
    about: Mapping[str, Any] = field(default_factory=dict)
    driver: ControllerLoad | None = None


Compose = Callable[[Seen], Load]  # raises `WrongState` with every reason against it


def schema_of(run_id: str) -> str:
    """Return the name of the run's own schema, which no user has."""
    return f"rollout_bench_{run_id.replace('-', '_')}"


def scripts_file(name: str) -> str:
    """Return a file of ours that goes to the host as it is."""
    return (SCRIPTS / name).read_text()
