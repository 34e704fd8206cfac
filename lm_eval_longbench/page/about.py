"""What a run's folder says of itself beside its results, in about.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json
from lm_eval_longbench.shapes import checked

ABOUT = "about.json"


class About(TypedDict, total=False):
    """about.json."""

    model: str
    link: str
    type: str
    context: str
    organization: str


def about_of(folder: Path) -> Mapping[str, str]:
    """Return what a folder's about.json says; nothing where there is none.

    Raises:
        PredictionError: it is no description, or says what no page shows.
    """
    path = folder / ABOUT
    if not path.is_file():
        return {}
    about: Mapping[str, str] = read_json(path, PredictionError)
    checked(about, About, f"{ABOUT} is no description of a run")
    unknown = sorted(about.keys() - About.__annotations__.keys())
    if unknown:
        known = ", ".join(About.__annotations__)
        raise PredictionError(f"{ABOUT} has {', '.join(unknown)}; it may have {known}.")
    return about


def facts_of(about: Mapping[str, str]) -> dict[str, str]:
    """Return what it says besides the model's name."""
    return {name: value for name, value in about.items() if name != "model"}
