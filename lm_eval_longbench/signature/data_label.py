"""Take the label of data apart, as it stands in signatures and logs."""

from __future__ import annotations

from dataclasses import dataclass

from lm_eval_longbench.benchmarks.registry import benchmarks

_SAMPLE, _LOCAL = "sample-", "local-"
_ONLY = " (only "


@dataclass(frozen=True)
class Label:
    """A label of data, taken apart.

    Attributes:
        base: without the choice of questions.
        pinned_sha256: of the pinned file, if this is the label of pinned data.
        digits: of the file's sha256, if the label has them.
        is_choice: whether only some of the questions were chosen.
    """

    base: str
    pinned_sha256: str | None
    digits: str | None
    is_choice: bool = False

    @property
    def is_sample(self) -> bool:
        """Whether it is the embedded sample."""
        return self.base.startswith(_SAMPLE)

    @property
    def is_local(self) -> bool:
        """Whether it is a file of the user's own."""
        return self.base.startswith(_LOCAL)


def read_label(label: object) -> Label:
    """Take a label of data apart."""
    base, choice, _ = str(label).partition(_ONLY)
    pinned = {one.source.label: one.source.sha256 for one in benchmarks().values()}
    marked = base.startswith((_SAMPLE, _LOCAL))
    return Label(base, pinned.get(base), base.partition("-")[2] if marked else None, bool(choice))
