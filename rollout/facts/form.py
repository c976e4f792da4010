"""Facts as JSON and back: null where something is unknown or not there, and a map that tells the reasons.

`unknown` maps the dotted path of each unknown fact to its reason (`"server.running": "sudo was refused"`); a null
whose path is not in that map is a thing known not to be there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from rollout.facts.model import Facts
from rollout.facts.unknown import Unknown

SCHEMA = 1


def facts_to_json(facts: Facts) -> dict[str, Any]:
    """Turn facts into values that `json.dumps` takes."""
    unknown = dict(unknown_facts(facts))
    return {"schema": SCHEMA, **_plain(facts), "unknown": unknown}


def facts_from_json(document: Mapping[str, Any]) -> Facts:
    """Turn the JSON form into facts again; raises pydantic's ValidationError where it is none."""
    tree = {key: value for key, value in document.items() if key not in {"schema", "unknown"}}
    for path, reason in document["unknown"].items():
        tree = _with(tree, path.split("."), Unknown(reason))
    return _adapter().validate_python(tree)


@cache
def _adapter() -> TypeAdapter[Facts]:
    """Build the reader once: it costs a tenth of a second, and a report reads hundreds of facts."""
    return TypeAdapter(Facts)


def unknown_facts(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted path and the reason of each unknown fact below `value`."""
    if isinstance(value, Unknown):
        yield path, value.reason
    elif is_dataclass(value):
        for item in fields(value):
            yield from unknown_facts(getattr(value, item.name), f"{path}.{item.name}".lstrip("."))
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from unknown_facts(item, f"{path}.{number}")


def _plain(value: object) -> Any:
    if value is None or isinstance(value, Unknown):
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _with(tree: Any, path: list[str], leaf: object) -> Any:
    if not path:
        return leaf
    head, rest = path[0], path[1:]
    if isinstance(tree, list):
        return [_with(item, rest, leaf) if number == int(head) else item for number, item in enumerate(tree)]
    return {**tree, head: _with(tree[head], rest, leaf)}
