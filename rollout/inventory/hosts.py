"""From a row of the inventory to the frozen `Host` that all other rooms take."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rollout.errors import ConfigProblem, Mistake
from rollout.inventory.connection import ALIASES, PASSWORDS, connection_of
from rollout.inventory.model import HostRow, Inventory
from rollout.inventory.secret_source import SecretProblem, read_secret
from rollout.inventory.templating import Resolver, TemplateProblem
from rollout.inventory.validation import mistakes_of
from rollout.inventory.variables import Variable, Variables
from rollout.inventory.vault import Vault
from rollout.settings import Connection, Host, Secret, SecretSource, Settings

PREFIX = "rollout_"


def resolve(
    inventory: Inventory, names: Iterable[str], vault: Vault | None = None, extra: Variables | None = None
) -> list[Host]:
    """Resolve hosts by name; `extra` are the variables of a playbook, stronger than any of the inventory.

    Raises `ConfigProblem` with the mistakes of all hosts, each once.
    """
    hosts: list[Host] = []
    mistakes: dict[Mistake, None] = {}
    for name in names:
        host, wrong = _resolve_one(inventory, name, vault or Vault(), extra or {})
        mistakes.update(dict.fromkeys(wrong))
        if host:
            hosts.append(host)
    if mistakes:
        raise ConfigProblem(sorted(mistakes, key=lambda mistake: (mistake.file, mistake.line)))
    return hosts


def _resolve_one(inventory: Inventory, name: str, vault: Vault, extra: Variables) -> tuple[Host | None, list[Mistake]]:
    row = inventory.hosts[name]
    variables = {**inventory.variables(name), **extra}
    resolver = Resolver(inventory, name, variables, vault)
    connection, mistakes = connection_of(name, variables, resolver)
    settings, more = _settings_of(variables, resolver)
    mistakes += more
    if connection and settings:
        finish = _with_recording if connection.kind == "recorded" else _with_passwords
        connection, more = finish(row, connection, settings, variables)
        mistakes += more
    if mistakes or not connection or not settings:
        return None, mistakes
    raw = {key: _hidden(key, variable.value) for key, variable in variables.items()}
    return Host(name, connection, settings, ("all", *row.groups), raw), []


def _settings_of(variables: Variables, resolver: Resolver) -> tuple[Settings | None, list[Mistake]]:
    ways = {name for names in ALIASES.values() for name in names}
    own = {name: variable for name, variable in variables.items() if name.startswith(PREFIX) and name not in ways}
    values: dict[str, Any] = {}
    mistakes: list[Mistake] = []
    for name, variable in own.items():
        try:
            values[name.removeprefix(PREFIX)] = value = resolver.value(name)
        except TemplateProblem as problem:
            mistakes.append(variable.mistake(name, str(problem)))
            continue
        if _holds(value, resolver.secrets):
            mistakes.append(variable.mistake(name, "holds a vaulted secret, and settings are written into plans"))
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        mistakes += mistakes_of(error, Settings, lambda path: _place(path, own), PREFIX)
        return None, mistakes
    return (None if mistakes else settings), mistakes


def _holds(value: Any, secrets: Set[str]) -> bool:
    """Tell whether a decrypted text stands anywhere in a value."""
    if isinstance(value, str):
        return any(secret in value for secret in secrets if secret)
    if isinstance(value, dict):
        return any(_holds(inner, secrets) for inner in value.values())
    return any(_holds(inner, secrets) for inner in value) if isinstance(value, list) else False


def _hidden(name: str, value: Any) -> Any:
    """Wrap a password that stands open in the inventory, so that it goes no further than the connection."""
    return Secret(value) if name in PASSWORDS and isinstance(value, str) else value


def _place(path: tuple[str | int, ...], own: Mapping[str, Variable]) -> tuple[str, int]:
    variable = own[PREFIX + str(path[0])]
    return variable.file, variable.line_of(path[1:])


def _with_passwords(
    _row: HostRow, connection: Connection, settings: Settings, variables: Variables
) -> tuple[Connection, list[Mistake]]:
    """Fetch the passwords that stand outside the inventory."""
    mistakes: list[Mistake] = []
    found: dict[str, Secret] = {}
    for name in ("password", "become_password", "database_password"):
        source: SecretSource | None = getattr(settings, f"{name}_from")
        try:
            found |= {name: read_secret(source)} if source else {}
        except SecretProblem as problem:
            setting = f"{PREFIX}{name}_from"
            mistakes.append(variables[setting].mistake(setting, str(problem)))
    whole = replace(
        connection,
        password=found.get("password", connection.password),
        become_password=found.get("become_password", connection.become_password),
        database_password=found.get("database_password", connection.database_password),
    )
    if whole.database_password and not whole.database_user:
        name = next(name for name in variables if name.startswith(f"{PREFIX}database_password"))
        mistakes.append(variables[name].mistake(name, f"needs {PREFIX}database_user beside it"))
    return whole, mistakes


def _with_recording(
    row: HostRow, connection: Connection, settings: Settings, variables: Variables
) -> tuple[Connection, list[Mistake]]:
    """Find the folder of a recorded host: relative to the file that names it, else beside the inventory."""
    if settings.recording:
        folder = Path(variables[f"{PREFIX}recording"].file).absolute().parent / Path(settings.recording).expanduser()
        return replace(connection, recording=folder), []
    if "/" in row.name or row.name in (".", ".."):
        return connection, [Mistake(row.source, 0, f"host '{row.name}' is no name of a folder: set rollout_recording")]
    return replace(connection, recording=row.directory / row.name), []
