"""The program `rollout`: the table of its commands, and how an error becomes a sentence and an exit code."""

import sys
import traceback
from difflib import get_close_matches
from importlib import import_module

import click

from rollout import __version__
from rollout.errors import RolloutError
from rollout.printable import printable

# A command's module is loaded when the command is asked for: `rollout --help` must not pay for Fabric or numba.
COMMANDS: dict[str, str] = {
    "plan": "Look at every host, say what would be changed and why, and keep it as a file.",
    "apply": "Run the saved plan, host by host, with the way back prepared before each change.",
    "rollback": "Take back what a run did, by the record that it left on each host.",
    "status": "Show where each host of the last run stands.",
    "history": "List the runs so far.",
    "inventory": "Show hosts, groups and variables of an inventory.",
    "facts": "Show what is known of each host; changes nothing.",
    "playbook": "Check a playbook: all mistakes at once.",
    "explain": "Say what a blocker, warning, check or verdict means and what to do.",
    "verify": "Run every check on live hosts.",
    "report": "Show what came of a run, as a page, as text or as JSON.",
    "lab": "Run a rehearsal fleet of real hosts on this machine.",
    "simulate": "Replay page accesses through the buffer pool as each server version keeps it.",
    "bench": "Measure memory or the LRU on a host that allows it.",
    "predict": "Predict each server version for a described workload.",
}


class CommandTable(click.Group):
    """A group whose commands live in one module each, named like the command, and are loaded on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Return the names in the order in which a user meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load the module of `cmd_name`; None when there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"rollout.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant; a name that is nearly one gets the right one as advice."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as mistake:
            close = get_close_matches(args[0], COMMANDS, n=1)
            advice = f" Did you mean '{close[0]}'?" if close else ""
            raise click.UsageError(f"{mistake.message}{advice}", ctx) from mistake

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the table of commands from their names alone, without loading any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=CommandTable, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(__version__, prog_name="rollout")
def app(debug: bool) -> None:
    """Take a fleet of MariaDB hosts to the InnoDB LRU fix and to jemalloc, prove it, and take it back."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program and end the process with the exit code that `docs/cli.md` promises."""
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(words: list[str]) -> int:
    try:
        return app.main(args=words, prog_name="rollout", standalone_mode=False) or 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as mistake:
        mistake.show()
        return mistake.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("rollout: interrupted", err=True)
        return 130
    except RolloutError as error:
        if "--debug" in words:
            traceback.print_exc()
        click.echo(f"rollout: {printable(str(error), lines=True)}", err=True)
        return error.exit_code
