"""The one place where a decoded file of a wrong shape becomes an error of this package.

A shape says of what a decoded JSON value must consist. Readers check a file against its shape once;
whoever uses the value later need not ask again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lm_eval_longbench.errors import PredictionError

# Objects in objects: a results file has eight. Deeper ones could not be compared or hashed.
_DEEPEST = 40
# Seeds have up to 64 bits; what is larger cannot become a float.
_LARGEST = 2**64
# Characters of a wrong value that a message shows.
_SHOWN = 60


@dataclass(frozen=True)
class Plain:
    """A value of some types; true and false are no numbers.

    Attributes:
        name: in sentences, such as "a text".
        types: any of these.
        least, most: smallest and largest number that is allowed; None: any.
        among: the values that are allowed; empty: all.
    """

    name: str
    types: tuple[type, ...] = ()
    least: int | None = None
    most: int | None = None
    among: tuple[Any, ...] = ()


@dataclass(frozen=True)
class ListOf:
    """A list of values of one shape, with at least so many of them."""

    shape: Shape
    least: int = 0


@dataclass(frozen=True)
class Each:
    """An object whose values all have one shape."""

    shape: Shape


@dataclass(frozen=True)
class Fields:
    """An object with fields of their own shapes; others may be there too.

    Attributes:
        given: shape by name, of fields that must be there.
        optional: shape by name, of fields that may be missing.
    """

    given: Mapping[str, Shape] = field(default_factory=dict)
    optional: Mapping[str, Shape] = field(default_factory=dict)


@dataclass(frozen=True)
class OrNull:
    """A value of a shape, or null."""

    shape: Shape


Shape = Plain | ListOf | Each | Fields | OrNull
ANY = Plain("a value")
TEXT = Plain("a text", (str,))
FLAG = Plain("true or false", (bool,))
WHOLE = Plain("a whole number", (int,))
COUNT = Plain("a whole number from 0", (int,), least=0)
POSITIVE = Plain("a whole number from 1", (int,), least=1)
NUMBER = Plain("a number", (int, float))
SCORE = Plain("a number from 0 to 1", (int, float), least=0, most=1)
COSINE = Plain("a number from -1 to 1", (int, float), least=-1, most=1)
PERCENT = Plain("a number from 0 to 100", (int, float), least=0, most=100)
NAME = Plain("a text or a whole number", (str, int))
LIST = ListOf(ANY)
OBJECT = Each(ANY)


def _problems(value: Any, shape: Shape, place: str) -> Iterator[str]:
    """Yield what is wrong with a value, and where in it; the place of the whole is ""."""
    name = f"{place!r}" if place else "it"
    if isinstance(shape, OrNull):
        if value is not None:
            yield from _problems(value, shape.shape, place)
    elif isinstance(shape, ListOf):
        if not isinstance(value, list) or len(value) < shape.least:
            yield f"{name} is not a list" + (f" of {shape.least} or more" if shape.least else "")
        elif shape.shape != ANY:
            for number, own in enumerate(value):
                yield from _problems(own, shape.shape, f"{place}[{number}]")
    elif isinstance(shape, Plain):
        if not _is_plain(value, shape):
            shown = repr(value)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
            yield f"{name} is {shown}, not {shape.name}"
    elif not isinstance(value, dict):
        yield f"{name} is not a JSON object"
    elif isinstance(shape, Each):
        if shape.shape != ANY:
            for key, own in value.items():
                yield from _problems(own, shape.shape, f"{place}.{key}" if place else key)
    else:
        for key in shape.given:
            if key not in value:
                yield f"{name} has no {key!r}"
        for key, own in (*shape.given.items(), *shape.optional.items()):
            if key in value:
                yield from _problems(value[key], own, f"{place}.{key}" if place else key)


def _is_plain(value: Any, shape: Plain) -> bool:
    if shape.types and (
        not isinstance(value, shape.types) or (isinstance(value, bool) and bool not in shape.types)
    ):
        return False
    # Written so that NaN is beyond any bound.
    if shape.least is not None and not value >= shape.least:
        return False
    if shape.most is not None and not value <= shape.most:
        return False
    return not shape.among or value in shape.among


def _excess(value: Any) -> str | None:
    """Return why a value cannot be worked with whatever its shape; None: it can."""
    waiting = [(value, 0)]
    while waiting:
        own, depth = waiting.pop()
        if isinstance(own, int):
            if abs(own) > _LARGEST:
                return f"it has a whole number beyond {_LARGEST}"
        elif isinstance(own, dict | list):
            if depth == _DEEPEST:
                return f"its objects and lists are nested deeper than {_DEEPEST}"
            inner = own.values() if isinstance(own, dict) else own
            waiting += [(one, depth + 1) for one in inner]
    return None


def checked(value: Any, shape: Shape, said: str, place: str = "") -> Any:
    """Return a decoded JSON value that has a shape.

    Args:
        value: decoded by `json`.
        shape: that it must have.
        said: the beginning of the message, such as "FILE, line 3, is no sample".
        place: name of the value in its file; "": it is the whole.

    Raises:
        PredictionError: it has another shape, numbers too large or objects nested too deeply.
    """
    problem = _excess(value) or next(_problems(value, shape, place), None)
    if problem is not None:
        raise PredictionError(f"{said}: {problem}.")
    return value
