"""The one place where a decoded file of a wrong shape becomes an error of this package.

The format of a file is a TypedDict beside its reader. mypy holds the code to it, and pydantic a
decoded JSON value, once; whoever uses the value later need not ask again. Values stay as they were
decoded, fields included that nothing is read of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, overload

from annotated_types import Ge

from lm_eval_longbench.errors import PredictionError

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

# Characters of a wrong value that a message shows.
_SHOWN = 60

Count = Annotated[int, Ge(0)]
Positive = Annotated[int, Ge(1)]
Object = dict[str, Any]

_T = TypeVar("_T")


def leaves(value: Any, *place: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what nested objects hold that is no object, with the names on the way to it."""
    if isinstance(value, Mapping):
        for name, own in value.items():
            yield from leaves(own, *place, str(name))
    else:
        yield place, value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter  # a tenth of a second, which light commands need not wait

    return TypeAdapter(kind)


def _problem(error: ValidationError, value: Any, place: str) -> str:
    """Return what is wrong with a value, and where."""
    found = error.errors(include_url=False, include_context=False)
    first = found[0]
    for part in first["loc"]:  # with the names of types, where a value may be of several
        if isinstance(value, dict) and part in value:
            value, place = value[part], f"{place}.{part}" if place else str(part)
        elif isinstance(value, list) and isinstance(part, int):
            value, place = value[part], f"{place}[{part}]"
    named = repr(place) if place else "it"
    if first["type"] == "missing":
        return f"{named} has no {first['loc'][-1]!r}"
    shown = repr(value) if len(repr(value)) <= _SHOWN else f"{repr(value)[:_SHOWN]}..."
    reasons = [own["msg"][0].lower() + own["msg"][1:] for own in found if own["input"] is value]
    return f"{named} is {shown}: {' or '.join(dict.fromkeys(reasons))}"


@overload
def checked(value: Any, kind: type[_T], said: str, place: str = "") -> _T: ...


@overload
def checked(value: Any, kind: Any, said: str, place: str = "") -> Any: ...


def checked(value: Any, kind: Any, said: str, place: str = "") -> Any:
    """Return a decoded JSON value that is of a type.

    Args:
        value: decoded by `json`.
        kind: TypedDict of typing_extensions, or another type that JSON has. True and false are no
            numbers; a whole number is a number.
        said: the beginning of the message, such as "FILE, line 3, is no sample".
        place: name of the value in its file; "": it is the whole.

    Raises:
        PredictionError: it is of another type.
    """
    try:
        _adapter(kind).validate_python(value, strict=True)
    except ValueError as error:  # pydantic's
        raise PredictionError(f"{said}: {_problem(error, value, place)}.") from None  # type: ignore[arg-type]
    return value
