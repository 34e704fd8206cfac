"""The options a user gives through the harness: `--metadata '{"longbench": {...}}'`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from lm_eval_longbench.errors import OptionError, UnknownNameError

KEY = "longbench"
OVERLENGTH = ("truncate", "skip", "fail")
LOG_PROMPTS = ("excerpt", "full")


# Options that no model has as an argument: at the top level they are misplaced.
_OURS = frozenset({"truncate_to", "overlength", "log_prompts", "data_dir"})


def _check_not_misplaced(metadata: Mapping[str, Any]) -> None:
    """Refuse options that would be passed over without a word."""
    for name in metadata:
        if name in _OURS:
            raise OptionError(
                f"{name!r} stands beside the model arguments. LongBench options go under one key: "
                f'--metadata \'{{"{KEY}": {{"{name}": ...}}}}\'.'
            )
        if name != KEY and difflib.get_close_matches(str(name).lower(), [KEY], cutoff=0.8):
            raise UnknownNameError("metadata key", name, [KEY])


@dataclass(frozen=True)
class Options:
    """Validated options.

    Attributes:
        data_dir: folder or archive with the data, or "sample"; None: the pinned official set.
        truncate_to: longest prompt in tokens, cut in the middle as officially; None: the model's
            own limit.
        overlength: what to do with longer prompts: "truncate", "skip" the document, or "fail".
        tokenizer: name or folder of the evaluated model's tokenizer, if the model arguments do
            not name it.
        log_prompts: "excerpt" logs hash, head and tail of each prompt; "full" logs all of it.

    Raises:
        OptionError: a value has the wrong type or is out of range.
    """

    data_dir: str | None = None
    truncate_to: int | None = None
    overlength: str = "truncate"
    tokenizer: str | None = None
    log_prompts: str = "excerpt"

    def __post_init__(self) -> None:
        for name in ("data_dir", "tokenizer"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value):
                raise OptionError(f"Option {name!r} must be a non-empty string, not {value!r}.")
        limit = self.truncate_to
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool)):
            raise OptionError(f"Option 'truncate_to' must be a whole number, not {limit!r}.")
        if limit is not None and limit < 2:
            raise OptionError(f"Option 'truncate_to' must be at least 2 tokens, not {limit}.")
        for name, valid in (("overlength", OVERLENGTH), ("log_prompts", LOG_PROMPTS)):
            value = getattr(self, name)
            if value not in valid:
                raise OptionError(
                    f"Option {name!r} must be one of {', '.join(valid)}, not {value!r}."
                )

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any] | None) -> Options:
        """Read the options from the harness's metadata; without the key all are at their default.

        Raises:
            OptionError: the value under the key is not an object, or a value is impossible.
            UnknownNameError: a key does not exist; the message names the nearest valid one.
        """
        given = (metadata or {}).get(KEY)
        if given is None:
            _check_not_misplaced(metadata or {})
            return cls()
        if not isinstance(given, Mapping):
            raise OptionError(
                f"metadata {KEY!r} must be an object such as "
                f'{{"{KEY}": {{"truncate_to": 31500}}}}, not {given!r}.'
            )
        valid = [field.name for field in fields(cls)]
        for name in given:
            if name not in valid:
                raise UnknownNameError(f"{KEY} option", name, valid)
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""
        return asdict(self)
