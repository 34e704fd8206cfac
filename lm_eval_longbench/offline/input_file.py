"""A file that was recognised: its place among the others, and the run it is of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lm_eval_longbench.offline.file_kinds import INFERENCE, task_in
from lm_eval_longbench.offline.find_files import FoundFile, stem_of
from lm_eval_longbench.offline.recognise import Recognised
from lm_eval_longbench.offline.score_tables import TABLES, table_of
from lm_eval_longbench.offline.source import LOG, PRO_FILE, V1_FILE
from lm_eval_longbench.offline.survey import Survey

_STAMP = re.compile(r"_(\d{4}-\d\d-\d\dT[\d.-]+)$")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A recognised file before its place in the order is known.

    Attributes:
        file: where it is.
        recognised: what it holds.
        survey: its identity.
    """

    file: FoundFile
    recognised: Recognised
    survey: Survey

    @property
    def stamp(self) -> str:
        """Time in the name of a harness log; "" for none."""
        found = _STAMP.search(stem_of(self.file.path)) if self.recognised.kind == LOG else None
        return found[1] if found else ""

    @property
    def run(self) -> tuple[str, ...]:
        """What is equal for the files of one run, and only for them."""
        folder, name = str(self.file.path.parent), stem_of(self.file.path)
        if self.recognised.kind == LOG and self.stamp:
            return (LOG, folder, self.stamp)
        if self.recognised.kind == V1_FILE:
            return (V1_FILE, folder)
        if self.recognised.kind == PRO_FILE and INFERENCE in name:
            return (PRO_FILE, folder, name.partition(INFERENCE)[0])
        return (self.recognised.kind, str(self.file.path))

    @property
    def run_name(self) -> str:
        """The run's name in the report."""
        folder = self.file.name.rpartition("/")[0]
        if self.recognised.kind == LOG and self.stamp:
            return f"{folder} {self.stamp}".strip()
        return folder if self.recognised.kind == V1_FILE and folder else self.file.name

    @property
    def place(self) -> tuple[str, str, bool, str, str]:
        """Place in the canonical order, whatever the order of the arguments.

        Of two settings of one task in one run the one under our own name comes first.
        """
        folder = self.file.name.rpartition("/")[0]
        ours = self.recognised.kind != LOG or table_of(task_in(stem_of(self.file.path))) is not None
        return (self.stamp, folder, not ours, self.file.name, self.survey.sha256)

    @property
    def first_key(self) -> tuple[int, int]:
        """Numbers of its table and task where all rows have one, to read in the stored order."""
        if self.recognised.table is None:
            return (len(TABLES), 0)
        table = TABLES[self.recognised.table]
        task = table.tasks.get(self.recognised.task or "")
        return (table.number, task.number if task else 0)
