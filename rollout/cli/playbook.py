"""`rollout playbook`: what can be done with a playbook without touching a host."""

import click

from rollout.plan.playbook import Playbook, find_playbook, load_playbook


@click.group()
def command() -> None:
    """Work with playbooks."""


@command.command(epilog="Example: rollout playbook check playbooks/fix-and-jemalloc.yml")
@click.argument("file")
def check(file: str) -> None:
    """Check a playbook and name all of its mistakes at once."""
    playbook = load_playbook(find_playbook(file))
    click.echo(f"{playbook.file}: {_summary(playbook)}")


def _summary(playbook: Playbook) -> str:
    waves = ", ".join(map(str, playbook.serial))
    return (
        f"sound. Changes: {', '.join(playbook.changes)}; hosts: {playbook.hosts}; canary: {playbook.canary}; "
        f"waves: {waves}; order: {playbook.order}"
    )
