"""How many old backups of ours are kept on a host."""

from rollout.engine.steps import BASE, HostRun, script


def prune_backups(run: HostRun) -> list[str]:
    """Remove the backups of older runs beyond the number that the settings keep, and return their names.

    Never this run's own, and never that of a run which has begun a change and is not over.
    """
    settings = run.host.settings
    text = script("prune", directory=settings.backup_directory, base=BASE, run_id=run.run_id, keep=settings.backup_keep)
    return run.ask(text, timeout_seconds=600).check("removing old backups").text.split()
