"""Runs the real Ansible's own commands: reads a JSON list of them from a file, prints a JSON list of outcomes.

A command is {"program": ..., "words": [...], "folder": ...}. Ansible keeps much of a command's state in its modules,
so each runs in a forked child, while the slow imports are paid for once. The program `list-hosts` does what
`ansible PATTERN --list-hosts` does, by the same methods, for many patterns over one inventory: behind its `--` stand
the patterns, and it prints a JSON mapping of each to its hosts.
"""

import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

from ansible.cli.adhoc import AdHocCLI
from ansible.cli.inventory import InventoryCLI
from ansible.cli.vault import VaultCLI
from ansible.errors import AnsibleError

PROGRAMS = {"ansible": AdHocCLI, "ansible-inventory": InventoryCLI, "ansible-vault": VaultCLI}


def run(program: str, words: list[str], folder: str) -> dict[str, object]:
    """Run one command and return its exit status and both streams."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.chdir(folder)
            os._exit(inside(program, words))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = [stream.read().decode("utf-8", "replace") for stream in (out, err) if not stream.seek(0)]
    return {"status": status, "out": texts[0], "err": texts[1]}


def inside(program: str, words: list[str]) -> int:
    """Be the child: do the command and return its exit status."""
    try:
        status = list_hosts(words) if program == "list-hosts" else PROGRAMS[program]([program, *words]).run()
    except SystemExit as end:
        status = end.code
    except Exception:  # noqa: BLE001 - the test reports whatever happened
        traceback.print_exc()
        status = 250
    sys.stdout.flush()
    sys.stderr.flush()
    return int(status or 0)


def list_hosts(words: list[str]) -> int:
    """List the hosts of every pattern behind `--` as the command for one pattern does."""
    split = words.index("--")
    command = AdHocCLI(["ansible", "all", *words[:split], "--list-hosts"])
    command.parse()
    _, inventory, _ = command._play_prereqs()
    found: dict[str, list[str]] = {}
    for pattern in words[split + 1 :]:
        try:
            found[pattern] = [host.name for host in command.get_host_list(inventory, None, pattern)]
        except AnsibleError:  # the command warns then, and lists none
            found[pattern] = []
    sys.stdout.write(json.dumps(found))
    return 0


if __name__ == "__main__":
    commands = json.loads(Path(sys.argv[1]).read_text())
    json.dump([run(**command) for command in commands], sys.stdout)
