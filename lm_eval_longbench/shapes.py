"""The one place where a decoded file of a wrong shape becomes an error of this package.

The format of a file is a Python type: a TypedDict beside its reader. mypy holds the code to it, and
`checked` a decoded JSON value, once; whoever uses the value later need not ask again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
    overload,
)

from lm_eval_longbench.errors import PredictionError

# Objects in objects: a results file has eight. Deeper ones could not be compared or hashed.
_DEEPEST = 40
# Seeds have up to 64 bits; what is larger cannot become a float.
_LARGEST = 2**64
# Characters of a wrong value that a message shows.
_SHOWN = 60


@dataclass(frozen=True)
class Within:
    """Smallest and largest number, or least length of a list, in an `Annotated` type; None: any."""

    least: int | None = None
    most: int | None = None

    def __str__(self) -> str:
        least = "" if self.least is None else f" from {self.least}"
        return least + ("" if self.most is None else f" to {self.most}")


Count = Annotated[int, Within(0)]
Positive = Annotated[int, Within(1)]
Cosine = Annotated[float, Within(-1, 1)]
Object = dict[str, Any]

_T = TypeVar("_T")
# Of a value and its place: what is wrong with it, and where; None: nothing.
_Check = Callable[[Any, str], str | None]
_ANY: _Check = lambda value, place: None  # noqa: E731
_NAMES: dict[Any, str] = {str: "a text", bool: "true or false", int: "a whole number"}
_NAMES |= {float: "a number"}


def _named(place: str) -> str:
    return f"{place!r}" if place else "it"


@cache
def _check_of(kind: Any) -> _Check:
    """Return the check of a type: of text, numbers, bool, Any, lists, objects, unions of these."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return _ANY
    if is_typeddict(kind):
        return _of_fields(kind)
    if origin is list:
        return _of_list(inner[0], None)
    if origin is dict:
        return _of_each(_check_of(inner[1]))
    if origin is Annotated:
        within = next(own for own in inner if isinstance(own, Within))
        if get_origin(inner[0]) is list:
            return _of_list(get_args(inner[0])[0], within.least)
        return _of_plain((inner[0],), within)
    if origin in (Union, UnionType) and NoneType in inner:
        check = _check_of(Union[tuple(own for own in inner if own is not NoneType)])  # noqa: UP007
        return lambda value, place: None if value is None else check(value, place)
    if any(own not in _NAMES for own in inner):
        return _of_several([_check_of(own) for own in inner])
    return _of_plain(inner or (kind,), Within())


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _of_several(checks: list[_Check]) -> _Check:
    def check(value: Any, place: str) -> str | None:
        found = [own(value, place) for own in checks]
        return (
            None if None in found else f"{_named(place)} is {_shown(value)}, of no type it may be"
        )

    return check


def _of_plain(types: tuple[Any, ...], within: Within) -> _Check:
    name = " or ".join(name for own, name in _NAMES.items() if own in types) + str(within)
    allowed = (*types, int) if float in types else types

    def check(value: Any, place: str) -> str | None:
        # Written so that NaN is beyond any bound.
        if (
            isinstance(value, allowed)
            and (bool in types or not isinstance(value, bool))
            and (within.least is None or value >= within.least)
            and (within.most is None or value <= within.most)
        ):
            return None
        return f"{_named(place)} is {_shown(value)}, not {name}"

    return check


def _of_list(kind: Any, least: int | None) -> _Check:
    own = _check_of(kind)

    def check(value: Any, place: str) -> str | None:
        if not isinstance(value, list) or len(value) < (least or 0):
            return f"{_named(place)} is not a list" + (f" of {least} or more" if least else "")
        if own is _ANY:
            return None
        found = (own(one, f"{place}[{number}]") for number, one in enumerate(value))
        return next(filter(None, found), None)

    return check


def _of_each(own: _Check) -> _Check:
    def check(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return f"{_named(place)} is not a JSON object"
        if own is _ANY:
            return None
        found = (own(one, f"{place}.{key}" if place else key) for key, one in value.items())
        return next(filter(None, found), None)

    return check


def _of_fields(kind: Any) -> _Check:
    """Return the check of a TypedDict; a value may have other fields, too."""
    hints = get_type_hints(kind, include_extras=True)
    fields = [(name, _check_of(own)) for name, own in hints.items()]
    required = [name for name in hints if name in kind.__required_keys__]

    def check(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return f"{_named(place)} is not a JSON object"
        for name in required:
            if name not in value:
                return f"{_named(place)} has no {name!r}"
        found = (
            own(value[name], f"{place}.{name}" if place else name)
            for name, own in fields
            if name in value
        )
        return next(filter(None, found), None)

    return check


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


@overload
def checked(value: Any, kind: type[_T], said: str, place: str = "") -> _T: ...


@overload
def checked(value: Any, kind: Any, said: str, place: str = "") -> Any: ...


def checked(value: Any, kind: Any, said: str, place: str = "") -> Any:
    """Return a decoded JSON value that is of a type.

    Args:
        value: decoded by `json`.
        kind: TypedDict, or another type that JSON has; numbers may be `Annotated` with `Within`.
            True and false are no numbers; a whole number is a number.
        said: the beginning of the message, such as "FILE, line 3, is no sample".
        place: name of the value in its file; "": it is the whole.

    Raises:
        PredictionError: it is of another type, has numbers too large or objects nested too deeply.
    """
    problem = _excess(value) or _check_of(kind)(value, place)
    if problem is not None:
        raise PredictionError(f"{said}: {problem}.")
    return value
