"""What a run's folder says of itself beside its results, in about.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json
from lm_eval_longbench.logs.shapes import Fields, Plain, checked

ABOUT = "about.json"
_TEXT = Plain("a text", (str,))
_ABOUT = Fields({}, dict.fromkeys(("model", "link", "type", "context", "organization"), _TEXT))


def about_of(folder: Path) -> Mapping[str, str]:
    """Return what a folder's about.json says; nothing where there is none.

    Raises:
        PredictionError: it is no description, or says what no page shows.
    """
    path = folder / ABOUT
    if not path.is_file():
        return {}
    about: Mapping[str, str] = checked(
        read_json(path, PredictionError), _ABOUT, f"{ABOUT} is no description of a run"
    )
    unknown = sorted(about.keys() - _ABOUT.optional.keys())
    if unknown:
        known = ", ".join(_ABOUT.optional)
        raise PredictionError(f"{ABOUT} has {', '.join(unknown)}; it may have {known}.")
    return about


def facts_of(about: Mapping[str, str]) -> dict[str, str]:
    """Return what it says besides the model's name."""
    return {name: value for name, value in about.items() if name != "model"}
