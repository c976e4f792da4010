"""From pydantic's errors to mistakes that name file, line and path, with a guess at what was meant."""

import difflib
import re
import typing
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rollout.errors import Mistake

# What pydantic puts into a path beside names and numbers: a mapping's key itself, and the branch of a union.
_OWN_MARK = re.compile(r"\[key\]$|(constrained|function)-|(tuple|list|dict|set|literal)\[")
Place = Callable[[tuple[str | int, ...]], tuple[str, int]]


def mistakes_of(error: ValidationError, model: type[BaseModel], place: Place, prefix: str = "") -> Iterator[Mistake]:
    """Yield a mistake for each error; `place` gives file and line of a path, `prefix` stands before its first name."""
    details = error.errors(include_url=False, include_context=True)
    wrong_inside = {detail["loc"][:-1] for detail in details}
    by_path: dict[tuple[str | int, ...], list[ErrorDetails]] = {}
    for detail in details:
        if detail["type"] == "too_short" and detail["loc"] in wrong_inside:
            continue  # its entries were wrong, which is said already; that none is left is no mistake of the user's
        by_path.setdefault(_path(detail), []).append(detail)
    for path, found in by_path.items():
        file, line = place(path)
        shown = prefix + ".".join(map(str, path))
        yield Mistake(file, line, _message(_branch(found), model, path, prefix), shown)


def _path(detail: ErrorDetails) -> tuple[str | int, ...]:
    """Return the path in the user's file, without pydantic's own marks: of a mapping's key, of a branch of a union."""
    return tuple(step for step in detail["loc"] if not _OWN_MARK.match(str(step)))


def _branch(found: list[ErrorDetails]) -> ErrorDetails:
    """Choose among the complaints of a union's branches: the one that took the value to be of its own type."""
    return next((detail for detail in found if not detail["type"].endswith("_type")), found[0])


def _message(detail: ErrorDetails, model: type[BaseModel], path: tuple[str | int, ...], prefix: str) -> str:
    if detail["type"] == "extra_forbidden":
        known = [prefix + name if len(path) == 1 else name for name in _fields_at(model, path[:-1])]
        return f"is unknown{did_you_mean((prefix if len(path) == 1 else '') + str(path[-1]), known)}"
    if detail["type"] == "missing":
        return "is missing"
    if detail["type"] == "too_short":
        return "is empty"
    said = detail["msg"].removeprefix("Value error, ").removeprefix("Input ").removeprefix("String ")
    found = detail["input"]
    shown = f", found {found!r}" if isinstance(found, str | int | float | bool | None) else ""
    quote = " (put quotes around it)" if detail["type"] == "string_type" and isinstance(found, int | float) else ""
    return f"{said}{shown}{quote}"


def did_you_mean(word: str, known: typing.Iterable[str]) -> str:
    """Return `: did you mean 'x'?` when a known word is close, else the known words, if they are few."""
    words = list(known)
    close = difflib.get_close_matches(word, words, 1, 0.6)
    if close:
        return f": did you mean '{close[0]}'?"
    return f" (known are: {', '.join(words)})" if 0 < len(words) <= 12 else ""


def _fields_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    """Name the fields of the model that stands at `path` below `model`."""
    here: list[type[BaseModel]] = [model]
    for step in path:
        nexts = [field.annotation for one in here for name, field in one.model_fields.items() if name == step]
        here = [found for annotation in nexts for found in _models(annotation)] or here
    return [name for one in here for name in one.model_fields]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models inside a type such as `dict[str, Model]` or `Model | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from _models(inner)
