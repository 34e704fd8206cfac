"""The settings with which the 46 published models were run on LongBench Pro."""

from __future__ import annotations

import contextlib
import csv
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import OptionError, UnknownNameError

SOURCE = "the inference settings published with LongBench Pro (December 2025)"
# The one benchmark that presets are for: tasks of any other keep their own settings.
BENCHMARK = "longbench_pro"
TITLE = "LongBench Pro"
_FILE = Path(__file__).parent / "longbench_pro.csv"


@dataclass(frozen=True)
class Preset:
    """How one model was run in one mode.

    Attributes:
        model: published name.
        thinking: whether these are the settings for thinking scores.
        truncate_to: longest prompt in tokens.
        max_gen_toks: output budget in tokens.
        temperature: sampling temperature.
        note: what a user must know of the published settings; "": nothing.
    """

    model: str
    thinking: bool
    truncate_to: int
    max_gen_toks: int
    temperature: float
    note: str = ""

    @property
    def generation(self) -> dict[str, Any]:
        """The generation arguments that it sets."""
        return {"max_gen_toks": self.max_gen_toks, "temperature": self.temperature}


@functools.cache
def _rows() -> dict[str, dict[str, str]]:
    with _FILE.open(encoding="utf-8", newline="") as handle:
        return {row["model"]: row for row in csv.DictReader(handle)}


def names() -> tuple[str, ...]:
    """Return the published model names."""
    return tuple(_rows())


def find_preset(model: str, *, thinking: bool) -> Preset:
    """Return a model's settings; upper and lower case do not matter.

    Raises:
        UnknownNameError: no settings of such a model are published.
        OptionError: none are published for this mode of the model.
    """
    by_folded_name = {name.casefold(): name for name in _rows()}
    name = by_folded_name.get(model.casefold())
    if name is None:
        raise UnknownNameError(f"preset of {TITLE}", model, _rows())
    row = _rows()[name]
    mode = "thinking" if thinking else "nonthinking"
    budget, temperature = row[f"max_gen_toks_{mode}"], row[f"temperature_{mode}"]
    if not budget or not temperature:
        other = "without --thinking" if thinking else "with --thinking"
        raise OptionError(
            f"No {mode} settings of {name} are published: it is of the type {row['type']}. Use the "
            f"preset {other}."
        )
    limit = int(row["truncate_to"])
    return Preset(name, thinking, limit, int(budget), float(temperature), row["note"])


@functools.cache
def published_presets() -> tuple[Preset, ...]:
    """Return the settings of every model in every mode in which it was run."""
    found = []
    for name in names():
        for thinking in (False, True):
            with contextlib.suppress(OptionError):  # this model was run in the other mode alone
                found.append(find_preset(name, thinking=thinking))
    return tuple(found)
