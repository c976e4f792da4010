"""Jinja2 in variables: rendered when a value is asked for, in a sandbox, with undefined names as errors.

A value that is one expression keeps the type of its result; text around expressions makes a text. Only what plain
Jinja2 has is there: a filter, test or lookup of Ansible's own is refused by name, never guessed at.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import jinja2
from jinja2.nativetypes import NativeCodeGenerator
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from rollout.inventory.model import Inventory
from rollout.inventory.variables import Variables, VaultText, Verbatim
from rollout.inventory.vault import Vault, VaultProblem

_MARKS = ("{{", "{%", "{#")
_ANSIBLE_FUNCTIONS = frozenset({"lookup", "query", "q", "now", "undef", "omit", "vars", "ansible_facts"})
_RESOLVER = "resolver of the host"  # no name that a template could ask for


class TemplateProblem(ValueError):
    """A sentence that says why a value cannot be rendered."""


class UndefinedName(TemplateProblem):
    """The value hangs on a name that is not defined; `default()` may step in for it."""


class _LazyContext(Context):
    """Looks a name up among the host's variables when the template asks for it."""

    def resolve_or_missing(self, key: str) -> Any:
        """Return the rendered variable, else what Jinja2 itself has under that name, else an undefined."""
        resolver: Resolver = self.parent[_RESOLVER]
        if resolver.knows(key):
            return resolver.lazily(key)
        if key in _ANSIBLE_FUNCTIONS:
            raise TemplateProblem(f"uses '{key}', which is Ansible's own and is not supported: write the value itself")
        found = super().resolve_or_missing(key)
        return jinja2.StrictUndefined(hint=f"'{key}' is not defined") if found is missing else found


@jinja2.pass_context
def _as_it_is(_context: Context, value: Any) -> Any:
    """Leave the value of an expression alone; taking the context keeps Jinja2 from folding constants into text."""
    return value


def _joined(parts: Iterable[Any]) -> Any:
    """Make the result of a template: a single part keeps its type, several become one text, none is None."""
    several = list(parts)
    if len(several) < 2:
        return several[0] if several else None
    return "".join(map(str, several))


class _Environment(ImmutableSandboxedEnvironment):
    context_class = _LazyContext
    code_generator_class = NativeCodeGenerator
    concat = staticmethod(_joined)


def _environment() -> _Environment:
    """Make the sandbox. What gives another result each time is taken out: a plan must mean the same tomorrow."""
    environment = _Environment(undefined=jinja2.StrictUndefined, autoescape=False, finalize=_as_it_is)
    environment.filters.pop("random")
    environment.globals.pop("lipsum")
    return environment


_ENVIRONMENT = _environment()


def is_template(text: str) -> bool:
    """Tell whether a text could be a template."""
    return not isinstance(text, Verbatim) and any(mark in text for mark in _MARKS)


def has_template(value: Any) -> bool:
    """Tell whether a template, or a vaulted value, stands anywhere in a value."""
    if isinstance(value, str):
        return is_template(value)
    if isinstance(value, dict):
        return any(map(has_template, value.values()))
    return any(map(has_template, value)) if isinstance(value, list) else isinstance(value, VaultText)


@lru_cache(maxsize=4096)
def _compiled(text: str) -> jinja2.Template:
    return _ENVIRONMENT.from_string(text)


def render(text: str, resolver: "Resolver") -> Any:
    """Render one text. Raises `TemplateProblem`."""
    try:
        value = _with_line_ends(text, _plain(_compiled(text).render({_RESOLVER: resolver})))
    except jinja2.UndefinedError as error:
        raise UndefinedName(str(error.message)) from error
    except jinja2.TemplateError as error:
        raise TemplateProblem(_reason(error)) from error
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise (
            error if isinstance(error, TemplateProblem) else TemplateProblem(f"cannot be rendered: {error}")
        ) from error
    return value


def _with_line_ends(template: str, value: Any) -> Any:
    """Give a rendered text as many line ends as its template had, as Ansible does; other values have none."""
    if not isinstance(value, str):
        return value
    wanted, there = (len(text) - len(text.rstrip("\n")) for text in (template, value))
    return value + "\n" * (wanted - there)


def _plain(value: Any) -> Any:
    """Leave only kinds that YAML has: what can be iterated becomes a list. An undefined inside complains."""
    if isinstance(value, jinja2.Undefined):
        str(value)
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return value
    return [_plain(inner) for inner in value]


def _reason(error: jinja2.TemplateError) -> str:
    message = str(error.message)
    for kind in ("filter", "test"):
        if message.startswith(f"No {kind} named "):
            name = message.removeprefix(f"No {kind} named ").rstrip(".")
            return f"uses the {kind} {name}, which plain Jinja2 lacks: it is not supported here, write the value itself"
    return f"is no sound template: {message}"


class Resolver:
    """The variables of one host, rendered one by one as they are asked for, and kept."""

    def __init__(self, inventory: Inventory, host: str, variables: Variables, vault: Vault) -> None:
        self._inventory = inventory
        self._host = host
        self._variables = variables
        self._vault = vault
        self.secrets: set[str] = set()  # what was decrypted on the way to any value
        self._values: dict[str, Any] = {}
        self._open: list[str] = []

    def knows(self, name: str) -> bool:
        """Tell whether the host has a variable of that name, its own or one of Ansible's magic ones."""
        return name in self._variables or name in _MAGIC

    def value(self, name: str) -> Any:
        """Return a variable, rendered and decrypted all through. Raises `TemplateProblem`."""
        if name not in self._values:
            if name in self._open:
                raise TemplateProblem(f"refers to itself: {' -> '.join([*self._open, name])}")
            self._open.append(name)
            try:
                self._values[name] = self._make(name)
            finally:
                self._open.pop()
        return self._values[name]

    def lazily(self, name: str) -> Any:
        """Return a variable, or an undefined that complains when it is used."""
        try:
            return self.value(name)
        except UndefinedName as problem:
            return jinja2.StrictUndefined(hint=str(problem))

    def _make(self, name: str) -> Any:
        if name in _MAGIC:
            return _MAGIC[name](self._inventory, self._host, self)
        return self._deeply(self._variables[name].value)

    def _deeply(self, value: Any) -> Any:
        if isinstance(value, VaultText):
            return self._open_vault(value)
        if isinstance(value, str):
            return render(value, self) if is_template(value) else value
        if isinstance(value, dict):
            return {key: self._deeply(inner) for key, inner in value.items()}
        return [self._deeply(inner) for inner in value] if isinstance(value, list) else value

    def _open_vault(self, value: VaultText) -> str:
        try:
            text = self._vault.decrypt(value.envelope)
        except VaultProblem as problem:
            raise TemplateProblem(str(problem)) from problem
        self.secrets.add(text)
        return text

    def of(self, host: str) -> "Resolver":
        """Return the variables of another host of the same inventory."""
        return Resolver(self._inventory, host, self._inventory.variables(host), self._vault)


class _HostVariables(Mapping[str, Any]):
    """The variables of one host as a template sees them in `hostvars`."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def __getitem__(self, name: str) -> Any:
        if not self._resolver.knows(name):
            raise KeyError(name)
        return self._resolver.value(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._resolver._variables)

    def __len__(self) -> int:
        return len(self._resolver._variables)


class _AllHosts(Mapping[str, Any]):
    """`hostvars`: every host's variables by its name."""

    def __init__(self, inventory: Inventory, resolver: Resolver) -> None:
        self._inventory = inventory
        self._resolver = resolver

    def __getitem__(self, host: str) -> _HostVariables:
        if host not in self._inventory.hosts:
            raise KeyError(host)
        return _HostVariables(self._resolver.of(host))

    def __iter__(self) -> Iterator[str]:
        return iter(self._inventory.hosts)

    def __len__(self) -> int:
        return len(self._inventory.hosts)


_MAGIC: dict[str, Callable[[Inventory, str, Resolver], Any]] = {
    "inventory_hostname": lambda _inventory, host, _resolver: host,
    "inventory_hostname_short": lambda _inventory, host, _resolver: host.split(".")[0],
    "inventory_file": lambda inventory, host, _resolver: inventory.hosts[host].source,
    "inventory_dir": lambda inventory, host, _resolver: str(inventory.hosts[host].directory),
    "group_names": lambda inventory, host, _resolver: sorted(inventory.hosts[host].groups),
    "groups": lambda inventory, _host, _resolver: {name: list(inventory.members(name)) for name in inventory.groups},
    "hostvars": lambda inventory, _host, resolver: _AllHosts(inventory, resolver),
}
