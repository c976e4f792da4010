"""Ansible's connection variables of one host, checked and turned into a `Connection`."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from rollout.errors import Mistake
from rollout.inventory.ssh_arguments import read_ssh_arguments
from rollout.inventory.templating import Resolver, TemplateProblem
from rollout.inventory.validation import mistakes_of
from rollout.inventory.variables import Variable, Variables
from rollout.settings import Connection, Secret

# Field to the variables that set it; of several that are set the last one counts, as with Ansible's plugins.
ALIASES: dict[str, tuple[str, ...]] = {
    "kind": ("ansible_connection",),
    "address": ("ansible_host", "ansible_ssh_host"),
    "port": ("ansible_port", "ansible_ssh_port"),
    "user": ("ansible_user", "ansible_ssh_user"),
    "password": ("ansible_password", "ansible_ssh_pass", "ansible_ssh_password"),
    "private_key_file": ("ansible_private_key_file", "ansible_ssh_private_key_file"),
    "private_key_passphrase": ("ansible_ssh_private_key_passphrase",),
    "become": ("ansible_become",),
    "become_user": ("ansible_become_user", "ansible_sudo_user"),
    "become_password": ("ansible_become_password", "ansible_become_pass", "ansible_sudo_pass"),
    "become_method": ("ansible_become_method",),
    "database_user": ("rollout_database_user",),
    "database_password": ("rollout_database_password",),
    "connect_timeout_seconds": ("ansible_timeout", "ansible_ssh_timeout"),
}
_PASSWORD_FIELDS = ("password", "private_key_passphrase", "become_password", "database_password")
PASSWORDS = frozenset(name for field in _PASSWORD_FIELDS for name in ALIASES[field])
# As on ssh's command line, where the first value counts: `ansible_ssh_args`, the variables above, then these.
_EARLY_ARGUMENTS = ("ansible_ssh_args",)
_LATE_ARGUMENTS = ("ansible_ssh_common_args", "ansible_ssh_extra_args")
# Variable to the only values under which it can be honoured, and what to do otherwise.
_REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "ansible_host_key_checking": ((True,), "to learn the keys of new hosts, use `-o StrictHostKeyChecking=accept-new`"),
    "ansible_ssh_host_key_checking": (
        (True,),
        "to learn the keys of new hosts, use `-o StrictHostKeyChecking=accept-new`",
    ),
    "ansible_ssh_private_key": ((), "write the key into a file and name it in ansible_ssh_private_key_file"),
    "ansible_ssh_executable": (("ssh", "/usr/bin/ssh"), "connections are made without the ssh program"),
    "ansible_become_exe": (("sudo", "/usr/bin/sudo"), "privilege is taken with sudo from the host's PATH"),
    "ansible_sudo_exe": (("sudo", "/usr/bin/sudo"), "privilege is taken with sudo from the host's PATH"),
    "ansible_become_flags": (("", "-H", "-H -S", "-H -S -n", "-n"), "sudo is called as `sudo -H -n` or `sudo -H -S`"),
    "ansible_sudo_flags": (("", "-H", "-H -S", "-H -S -n", "-n"), "sudo is called as `sudo -H -n` or `sudo -H -S`"),
    "ansible_shell_type": (("sh",), "scripts run under /bin/sh, whatever the login shell is"),
    "ansible_ssh_common_arg": ((), "the variable is called ansible_ssh_common_args"),
}
_KINDS = {"smart": "ssh", "paramiko": "ssh", "paramiko_ssh": "ssh"}


def _kind(value: Any) -> Any:
    word = value.removeprefix("ansible.builtin.") if isinstance(value, str) else value
    return _KINDS.get(word, word) if isinstance(word, str) else word


def _secret(value: Any) -> Any:
    if isinstance(value, Secret):
        return value
    if isinstance(value, str | int) and not isinstance(value, bool):
        return Secret(str(value))
    raise ValueError("must be a text")


def _home(value: Any) -> Any:
    return Path(value).expanduser() if isinstance(value, str) and value else value


_Password = Annotated[Secret, BeforeValidator(_secret)]
_File = Annotated[Path, BeforeValidator(_home)]


class _Schema(BaseModel):
    """What the connection variables may hold. Numbers may be written as texts, switches as yes and no."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, arbitrary_types_allowed=True)

    kind: Annotated[Literal["ssh", "local", "recorded"], BeforeValidator(_kind)] = "ssh"
    address: str = Field(default="", pattern=r"^[^\s\x00-\x1f-][^\s\x00-\x1f]*$")
    port: int | None = Field(default=None, ge=1, le=65535)
    user: str | None = Field(default=None, min_length=1)
    password: _Password | None = None
    private_key_file: _File | None = None
    private_key_passphrase: _Password | None = None
    become: bool = False
    become_user: str = Field(default="root", min_length=1)
    become_password: _Password | None = None
    become_method: Annotated[Literal["sudo"], BeforeValidator(_kind)] = "sudo"
    connect_timeout_seconds: float = Field(default=10.0, gt=0)
    database_user: str = Field(default="", pattern=r"^[^\x00-\x1f]*$")
    database_password: _Password | None = None
    host_key_policy: Literal["strict", "accept-new"] = "strict"
    known_hosts_file: _File | None = None
    host_key_alias: str | None = None
    proxy_jump: str | None = None
    proxy_command: str | None = None
    ssh_config_file: _File | None = None


class _Gathered:
    """The values of the fields, and of each the variable that it comes from."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.sources: dict[str, tuple[str, Variable]] = {}
        self.mistakes: list[Mistake] = []

    def set(self, field: str, value: Any, name: str, variable: Variable) -> None:
        self.values[field] = value
        self.sources[field] = (name, variable)


def connection_of(host: str, variables: Variables, resolver: Resolver) -> tuple[Connection | None, list[Mistake]]:
    """Build the connection of a host (its `recording` is not set here), or say all that is wrong with it."""
    gathered = _Gathered()
    # From the weakest to the strongest: later ones replace earlier ones.
    for name in reversed(_LATE_ARGUMENTS):
        _take_arguments(name, variables, resolver, gathered)
    for field, names in ALIASES.items():
        for name in names:
            _take(field, name, variables, resolver, gathered)
    for name in _EARLY_ARGUMENTS:
        _take_arguments(name, variables, resolver, gathered)
    for name in _REFUSED.keys() & variables.keys():
        _refuse(name, variables[name], resolver, gathered)
    try:
        checked = _Schema.model_validate(gathered.values)
    except ValidationError as error:
        found = mistakes_of(error, _Schema, lambda path: _place(path, gathered))
        gathered.mistakes += [_renamed(mistake, gathered) for mistake in found]
        return None, gathered.mistakes
    if gathered.mistakes:
        return None, gathered.mistakes
    fields = checked.model_dump(exclude={"become_method"})
    return Connection(**{**fields, "address": checked.address or host}), []


def _take(field: str, name: str, variables: Variables, resolver: Resolver, gathered: _Gathered) -> None:
    if name not in variables:
        return
    value = _value(name, variables[name], resolver, gathered)
    if value is not None:
        gathered.set(field, value, name, variables[name])


def _take_arguments(name: str, variables: Variables, resolver: Resolver, gathered: _Gathered) -> None:
    if name not in variables:
        return
    text = _value(name, variables[name], resolver, gathered)
    if text is None:
        return
    read = read_ssh_arguments(str(text))
    gathered.mistakes += [variables[name].mistake(name, sentence) for sentence in read.refused]
    for field, value in read.fields.items():
        gathered.set(field, value, name, variables[name])


def _value(name: str, variable: Variable, resolver: Resolver, gathered: _Gathered) -> Any:
    try:
        return resolver.value(name)
    except TemplateProblem as problem:
        gathered.mistakes.append(variable.mistake(name, str(problem)))
        return None


def _refuse(name: str, variable: Variable, resolver: Resolver, gathered: _Gathered) -> None:
    allowed, advice = _REFUSED[name]
    value = _value(name, variable, resolver, gathered)
    if value is not None and value not in allowed:
        gathered.mistakes.append(variable.mistake(name, f"cannot be honoured: {advice}"))


def _place(path: tuple[str | int, ...], gathered: _Gathered) -> tuple[str, int]:
    _, variable = gathered.sources[str(path[0])]
    return variable.file, variable.line


def _renamed(mistake: Mistake, gathered: _Gathered) -> Mistake:
    """Call a mistake by the user's variable instead of our field."""
    field = mistake.path.split(".")[0]
    return Mistake(mistake.file, mistake.line, mistake.message, gathered.sources[field][0])
