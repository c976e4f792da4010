"""What a user may set: the schemas of `rollout_*` variables, and the frozen `Host` that all other rooms take."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from rollout.windows import parse_window

HookEvent: TypeAlias = Literal["before", "drain", "undrain", "after", "notify"]


class Secret:
    """A text that hides itself: it shows as `***` wherever it is printed, logged or turned into JSON by mistake."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text itself, for the one place that hands it to a program's standard input."""
        return self._text

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


class FixRelease(BaseModel):
    """The release to which a series is taken, and whether it carries the InnoDB LRU fix."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str = Field(description="upstream version, such as 11.8.10", pattern=r"^\d+\.\d+\.\d+([+~-].*)?$")
    carries_lru_fix: bool = True


class SecretSource(BaseModel):
    """Where the controller finds a password: an environment variable, or a program (words, no shell) that prints it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: str = ""
    command: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_of_both(self) -> "SecretSource":
        if bool(self.env) == bool(self.command):
            raise ValueError("must have either `env` or `command`")
        return self


def _words(entry: object) -> object:
    return tuple(shlex.split(entry)) if isinstance(entry, str) else entry


def _several(entry: object) -> object:
    """Let one entry stand for a list of one."""
    return entry if isinstance(entry, list | tuple) else (entry,)


# A program and its arguments: a list of words, or a text that is split as a shell would; no shell runs it.
Command: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_words), Field(min_length=1)]


class Hook(BaseModel):
    """One program around a host, and where it runs: here on the controller, or on the host as root."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: Command
    where: Literal["controller", "host"] = "controller"
    timeout_seconds: float = Field(default=60.0, gt=0)

    @property
    def told(self) -> str:
        """Say what would be run, where, and how long it may take."""
        return f"{shlex.join(self.command)} on the {self.where} (at most {self.timeout_seconds:g} s)"


Hooks: TypeAlias = Annotated[tuple[Hook, ...], BeforeValidator(_several)]


class HookSet(BaseModel):
    """The programs around a host: before its first and after its last change, around its stop, and for its news."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    before: Hooks = ()
    drain: Hooks = ()
    undrain: Hooks = ()
    after: Hooks = ()
    notify: Hooks = ()

    def of(self, event: HookEvent) -> tuple[Hook, ...]:
        """Return the hooks of one event, in their order."""
        hooks: tuple[Hook, ...] = getattr(self, event)
        return hooks

    def over(self, weaker: "HookSet") -> "HookSet":
        """Return these hooks, and those of `weaker` for each event that these say nothing of."""
        return weaker.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


class ShorterStop(BaseModel):
    """What is done before a stop so that it is short; `dump_pct` is the share of the pool's pages in its dump."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wait_seconds: int = Field(default=300, ge=0, description="for dirty pages, and for a load of the pool under way")
    dirty_pages: int = Field(default=1000, ge=0, description="as many may be left")
    dump_pct: int | None = Field(default=None, ge=1, le=100)


def _age_seconds(entry: object) -> object:
    """Read `24h`, `90m`, `2d` or a number of seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([smhd]?)", str(entry).strip())
    if not found:
        raise ValueError(f"{entry!r} is no age: write it as 24h, 90m, 2d or a number of seconds")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]]


class BackupAccept(BaseModel):
    """A backup that others take: `command`, run on the host, prints when the newest good one was begun."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: Command
    max_age: Annotated[float, BeforeValidator(_age_seconds), Field(gt=0, description="in seconds")]


def _asked_for(entry: object) -> object:
    """Let `true` stand for the defaults and `false` for not at all."""
    return ({} if entry else None) if isinstance(entry, bool) else entry


def _windows(entry: object) -> object:
    """Split windows at commas, and hold each against its form. Raises `ValueError` for the first that has none."""
    texts = entry if isinstance(entry, list | tuple) else str(entry).split(",")
    parted = tuple(part.strip() for text in texts for part in str(text).split(",") if part.strip())
    for text in parted:
        parse_window(text)
    return parted


WindowTexts: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_windows)]


class Settings(BaseModel):
    """The `rollout_*` variables of one host, their prefix taken off. Defaults are what a careful DBA would take."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fix_releases: dict[str, FixRelease] = Field(default_factory=dict, description="adds to the table, keyed by series")
    packages_origin: str = Field(
        default="",
        pattern=r"^([^/]+/[^/]+)?$",
        description="where the installed server came from, ORIGIN/CODENAME, if no repository has that version any more",
    )
    allocator: Literal["jemalloc", "keep"] = "jemalloc"
    replace_allocator: bool = Field(
        default=False, description="whether an allocator that others preload gives way to ours; it is respected else"
    )
    drop_in: Literal["unit", "template"] = Field(
        default="unit", description="whose drop-in is ours: the unit's own, or that of all instances of its template"
    )
    malloc_conf: str = Field(default="", description="value of MALLOC_CONF in the drop-in, empty for none")
    environment: dict[str, str] = Field(default_factory=dict, description="more environment for the drop-in")
    unit: str = Field(default="", description="systemd unit of the server, empty to find it on the host")
    defaults_file: str = Field(default="", description="option file on the host for the database login")
    backup_directory: str = "/var/backups/rollout"
    backup_method: Literal["mariadb-backup", "mariadb-dump", "none"] = "mariadb-backup"
    backup_command: Hook | None = Field(default=None, description="what takes the backup instead")
    backup_accept: BackupAccept | None = Field(default=None, description="where a fresh backup makes ours needless")
    backup_keep: int | None = Field(default=None, ge=1, description="backups of ours that are kept, empty for all")
    soak_seconds: float = Field(default=120.0, ge=0)
    settle_seconds: float = Field(default=600.0, ge=0, description="how long lag and other nodes are waited for")
    monitoring_paths: tuple[str, ...] = Field(default=(), description="files or folders of monitoring on the host")
    hooks: HookSet = HookSet()
    window: WindowTexts = Field(default=(), description="when work on the host may begin; empty: at any time")
    shorter_stop: Annotated[ShorterStop | None, BeforeValidator(_asked_for)] = None
    drain_wait_seconds: float = Field(default=60.0, ge=0, description="how long a drained host may keep clients")
    drain_allowed_users: tuple[str, ...] = Field(default=(), description="users whose connections may stay")
    bench: bool = Field(default=False, description="whether `rollout bench` may put load on the host")
    bench_restart: bool = Field(default=False, description="whether `rollout bench` may restart its server as well")
    password_from: SecretSource | None = Field(default=None, description="where the login's password is found")
    become_password_from: SecretSource | None = Field(default=None, description="where the password for sudo is found")
    database_password_from: SecretSource | None = Field(
        default=None, description="where the password of rollout_database_user is found"
    )
    recording: str = Field(default="", description="folder of a recorded host, relative to the file that names it")

    @property
    def secret_variables(self) -> frozenset[str]:
        """The controller's environment variables in which passwords stand: no program of the user's inherits them."""
        sources = (value for _, value in self if isinstance(value, SecretSource))
        return frozenset(source.env for source in sources if source.env)


@dataclass(frozen=True)
class Connection:
    """How to reach one host. None and empty mean: not said in the inventory, so the user's ssh_config may say it.

    `proxy_jump` holds hops as `ssh -J` takes them, `user@host:port` parted by commas, or `none`. `recording` is the
    folder that a recorded host is read from.
    """

    kind: Literal["ssh", "local", "recorded"] = "ssh"
    address: str = ""
    port: int | None = None
    user: str | None = None
    password: Secret | None = None
    private_key_file: Path | None = None
    private_key_passphrase: Secret | None = None
    become: bool = False
    become_user: str = "root"
    become_password: Secret | None = None
    connect_timeout_seconds: float = 10.0
    host_key_policy: Literal["strict", "accept-new"] = "strict"
    known_hosts_file: Path | None = None
    host_key_alias: str | None = None
    proxy_jump: str | None = None
    proxy_command: str | None = None
    ssh_config_file: Path | None = None
    recording: Path | None = None
    database_user: str = ""
    database_password: Secret | None = None

    @property
    def database_login(self) -> Secret | None:
        """The text of an option file for the database login; None where the inventory gives no user.

        It travels to the host on standard input and lies there in a file of root's only. Quoted as
        https://mariadb.com/kb/en/configuring-mariadb-with-option-files/ says.
        """
        if not self.database_user:
            return None
        lines = [f"user={_option(self.database_user)}"]
        if self.database_password:
            lines.append(f"password={_option(self.database_password.reveal())}")
        return Secret("\n".join(["[client]", *lines, ""]))


def _option(text: str) -> str:
    """Quote a value for an option file: backslashes and quotes are escaped, so that `#` and spaces stay in it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True)
class Host:
    """One row of the inventory, resolved. `groups` run from the outermost to the innermost; `variables` are raw."""

    name: str
    connection: Connection
    settings: Settings = field(default_factory=Settings)
    groups: tuple[str, ...] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
