"""Published settings of models: a table in a file, with the source and the date of each row."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.options import Options

_MODES = {False: "nonthinking", True: "thinking"}


@dataclass(frozen=True)
class Preset:
    """How one model was run in one mode.

    Attributes:
        model: published name.
        thinking: whether these are the settings for thinking scores.
        truncate_to: longest prompt in tokens.
        max_gen_toks: output budget in tokens; None: the benchmark's own.
        temperature: sampling temperature; None: the benchmark's own.
        note: what a user must know of the published settings; "": nothing.
        source: where they were published, with the date.
    """

    model: str
    thinking: bool
    truncate_to: int
    max_gen_toks: int | None = None
    temperature: float | None = None
    note: str = ""
    source: str = ""

    @property
    def generation(self) -> dict[str, Any]:
        """The generation arguments that it sets."""
        own = {"max_gen_toks": self.max_gen_toks, "temperature": self.temperature}
        return {name: value for name, value in own.items() if value is not None}


class PresetTable:
    """Settings of one benchmark's published runs.

    The file has a row a model: `model`, `truncate_to`, `note`, and `source` where the rows do not
    share one. Of a mode that sets them it has the columns `max_gen_toks_<mode>`, empty where a
    model was not run in it, and `temperature_<mode>`; without such columns of the non-thinking mode
    all models were run in it, with the benchmark's own settings. `type` says in which modes a model
    can be run.

    Args:
        title: of the benchmark, in print.
        file: in CSV.
        source: of all rows that name none.
    """

    def __init__(self, title: str, file: Path, source: str = "") -> None:
        self.title, self._file, self._source = title, file, source

    @functools.cached_property
    def _rows(self) -> Mapping[str, Mapping[str, str]]:
        with self._file.open(encoding="utf-8", newline="") as handle:
            return {row["model"]: row for row in csv.DictReader(handle)}

    @functools.cached_property
    def _known(self) -> Mapping[str, Mapping[bool, Preset]]:
        """The settings of each model by whether it thinks, by its published name."""
        return {name: dict(self._modes_of(row)) for name, row in self._rows.items()}

    def _modes_of(self, row: Mapping[str, str]) -> Iterator[tuple[bool, Preset]]:
        for thinking, mode in _MODES.items():
            budget = row.get(f"max_gen_toks_{mode}")
            temperature = row.get(f"temperature_{mode}")
            if budget or (budget is None and not thinking):
                yield (
                    thinking,
                    Preset(
                        row["model"],
                        thinking,
                        int(row["truncate_to"]),
                        int(budget) if budget else None,
                        float(temperature) if temperature else None,
                        row["note"],
                        row.get("source") or self._source,
                    ),
                )

    def names(self) -> tuple[str, ...]:
        """Return the published names."""
        return tuple(self._rows)

    def _name(self, model: str) -> str | None:
        return next((own for own in self._rows if own.casefold() == model.casefold()), None)

    def has(self, model: str, *, thinking: bool) -> bool:
        """Return whether settings of a model in a mode are published."""
        return thinking in self._known.get(self._name(model) or "", {})

    def find(self, model: str, *, thinking: bool) -> Preset:
        """Return a model's settings; upper and lower case do not matter.

        Raises:
            UnknownNameError: no settings of such a model are published.
            OptionError: none are published for this mode of the model.
        """
        name = self._name(model)
        if name is None:
            raise UnknownNameError(f"preset of {self.title}", model, self._rows)
        if thinking not in self._known[name]:
            kind = self._rows[name].get("type")
            told = f": it is of the type {kind}" if kind else ""
            raise OptionError(
                f"No {_MODES[thinking]} settings of {name} are published{told}. Use the preset "
                f"{'without' if thinking else 'with'} thinking."
            )
        return self._known[name][thinking]

    def published(self) -> tuple[Preset, ...]:
        """Return the settings of every model in every mode in which it was run."""
        return tuple(preset for modes in self._known.values() for preset in modes.values())

    def mode_of(self, preset: Preset) -> str:
        """Return the mode of a preset in print; "": its model was run in one only."""
        if len(self._known[preset.model]) == 1 and "type" not in self._rows[preset.model]:
            return ""
        return "thinking" if preset.thinking else "non-thinking"


def applied(table: PresetTable | None, options: Options) -> tuple[Preset | None, Options]:
    """Return the settings that a run's option `preset` names, and the options with their limit.

    Args:
        table: of the benchmark that is asked; None: it has none.
        options: of the run; its own `truncate_to` wins.
    """
    name = options.preset
    if table is None or name is None or not table.has(name, thinking=options.thinking):
        return None, options
    preset = table.find(name, thinking=options.thinking)
    if options.truncate_to is None:
        options = replace(options, truncate_to=preset.truncate_to)
    return preset, options
