"""When a host is left in peace: every reason at once, each with what would change it. Pure."""

from collections.abc import Iterator

from rollout.bench.load import Seen
from rollout.errors import UsageProblem
from rollout.facts.model import Replication
from rollout.facts.unknown import Unknown, known_or
from rollout.prediction.memory import known_reason
from rollout.remote.recorded import refuse_recorded
from rollout.settings import Host

BUSY_QUESTIONS_PER_SECOND = 20.0


def check_marked(host: Host, *, restart: bool) -> None:
    """Refuse a host whose inventory does not allow a load, or restarts where some are needed; before any connection.

    Raises `UsageProblem`.
    """
    refuse_recorded([host])
    if not host.settings.bench:
        hint = "A host for measurements says `rollout_bench: true` in the inventory. Never one that serves."
        raise UsageProblem(f"{host.name} is not marked as a host for measurements", hint=hint)
    if restart and not host.settings.bench_restart:
        hint = "Say `rollout_bench_restart: true` in the inventory, or measure the process as it stands: --no-restart."
        raise UsageProblem(f"{host.name} may not be restarted for a measurement", hint=hint)


def against(seen: Seen, busy: float) -> Iterator[str]:
    """Yield what speaks against any load on this host now."""
    facts = seen.facts
    if seen.unit.active_state != "active":
        yield f"{seen.unit.id} does not run (it is {seen.unit.active_state})"
        return
    running = facts.server.running
    if isinstance(running, Unknown):
        yield f"the server cannot be asked: {running.reason}"
        return
    yield from _topology(facts.replication)
    if seen.questions_per_second is None:
        yield "how busy the server is cannot be told: it gave no count of questions"
    elif seen.questions_per_second > busy:
        yield (
            f"it serves {seen.questions_per_second:,.0f} questions a second, more than {busy:g}: somebody uses it "
            "(--busy names another threshold)"
        )
    swapped = known_or(facts.memory.swap_bytes, 0)
    if swapped:
        yield f"{swapped / 2**20:,.0f} MiB of the server are in swap already"


def _topology(replication: Replication) -> Iterator[str]:
    galera, replicas = replication.galera, replication.replicas
    if isinstance(galera, Unknown) or isinstance(replicas, Unknown):
        reason = galera.reason if isinstance(galera, Unknown) else known_reason(replicas)
        yield f"whether other servers hang on it cannot be told: {reason}"
    elif galera is not None:
        yield "it is a node of a Galera cluster, where the schema of a load would go to all nodes"
    elif replicas:
        yield f"replicas hang on it: {', '.join(replicas)}"
