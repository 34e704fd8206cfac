"""A scored run in memory: numbers only, one line a question."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lm_eval_longbench.metrics.reasoning import POLICIES
from lm_eval_longbench.provenance.signature import UNKNOWN
from lm_eval_longbench.reports.measure import Leaf
from lm_eval_longbench.reports.tables import TABLES, TableInfo


@dataclass(frozen=True)
class Facts:
    """What report.json says about one table.

    Attributes:
        repeats: answers to each question.
        data: labels of the data.
        embedding_model: that made the similarities of Pro's summaries.
        official: the figures in the benchmark's own schema.
        counts, tasks: as in report.json.
        strict, accuracy: LongBench v2: further figures there; empty where there are none.
        signature: what the figures depend on, as far as it is known, and under "line" in short.
        runs: names of the runs that the answers are from.
        reasoning: under "policy" what happened to reasoning in answers, under "answers" how many
            hold any; empty where it is not stated.
        official_otherwise: the official figures under the other policy; empty where no answer holds
            reasoning.
    """

    repeats: int
    data: tuple[str, ...]
    embedding_model: str | None
    official: Mapping[str, Any]
    counts: Mapping[str, int | None]
    tasks: Mapping[str, Mapping[str, Any]]
    strict: Mapping[str, Any] = field(default_factory=dict)
    accuracy: Mapping[str, Any] = field(default_factory=dict)
    signature: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    reasoning: Mapping[str, Any] = field(default_factory=dict)
    official_otherwise: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ingredients(self) -> dict[str, Any]:
        """The ingredients of the signature that are known."""
        stated = self.signature.get("ingredients") or {}
        return {name: value for name, value in stated.items() if value != UNKNOWN}

    def signature_of(self, task: str) -> Mapping[str, Any]:
        """Return the ingredients of one task's signature; empty where nothing is stated."""
        tasks = self.signature.get("tasks")
        own = tasks.get(task) if isinstance(tasks, Mapping) else None
        return own if isinstance(own, Mapping) else {}

    @property
    def data_text(self) -> str:
        """The labels in print; official prediction files state none."""
        return ", ".join(self.data) or "not stated"

    @property
    def is_official(self) -> bool:
        """Whether the questions are the official ones, so that it is known which are missing."""
        return self.counts.get("missing") is not None


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """The samples of one table; questions are in the order of their keys.

    Attributes:
        name: one of TABLES.
        facts: from report.json.
        keys: digest of task and id, bytes [questions], ascending and distinct.
        scores: float64 [questions, repeats]; NaN where unscored or not given.
        given, failed: bool [questions, repeats].
        compensated: LongBench v2: float64 [questions, repeats], NaN where not given; else None.
        dropped: LongBench v2: whether official scripts leave the answer out, bool [questions,
            repeats]; else None.
        dimensions: by name, the number of each question's value, int16 [questions]; -1: unknown.
        ids_are_lines: every id is the position of the row in its prediction file.
        documents: hash of each question's document, uint64 [questions]; 0: not known.
        rouge_google: LongBench v1 and E: Google's ROUGE-L, float64 [questions, repeats], NaN where
            it was not computed; None: of no answer.
        otherwise: the same under the other policy for reasoning; None: no answer holds any.
    """

    name: str
    facts: Facts
    keys: np.ndarray
    scores: np.ndarray
    given: np.ndarray
    failed: np.ndarray
    compensated: np.ndarray | None
    dropped: np.ndarray | None
    dimensions: Mapping[str, np.ndarray]
    ids_are_lines: bool
    documents: np.ndarray
    rouge_google: np.ndarray | None = None
    otherwise: ScoredTable | None = None

    def under(self, policy: str) -> ScoredTable | None:
        """Return the table with its official figures under a policy for reasoning.

        None if it is not known: of a folder that states no policy.
        """
        if self.facts.reasoning.get("policy") not in POLICIES:
            return None
        same = self.otherwise is None or self.facts.reasoning["policy"] == policy
        table = self if same else self.otherwise
        return replace(table, facts=replace(table.facts, strict={}, accuracy={}))

    @property
    def info(self) -> TableInfo:
        """What is known of the table."""
        return TABLES[self.name]

    @cached_property
    def unscored(self) -> np.ndarray:
        """Whether an answer is there and has no score, bool [questions, repeats]."""
        return self.given & np.isnan(self.scores)

    def has(self, dimension: str, value: str) -> np.ndarray:
        """Return which questions have a value of a dimension, bool [questions]."""
        number = self.info.dimensions[dimension].index(value)
        return self.dimensions[dimension] == number

    def mean_of(self, counted: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """Return each question's mean over the answers that count, float64 [questions].

        NaN without such an answer, and where one of them is unscored.

        Args:
            counted: bool [questions, repeats].
            values: [questions, repeats]; the scores if not given.
        """
        values = self.scores if values is None else values
        numbers = counted.sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.where(counted, values, 0.0).sum(axis=1) / numbers

    def leaf(
        self,
        stream: str,
        chosen: np.ndarray,
        values: np.ndarray,
        counted: np.ndarray,
        **more: Any,
    ) -> Leaf:
        """Return the mean of `values` over the chosen questions.

        Args:
            stream: name of the figure.
            chosen: bool [questions].
            values: [questions].
            counted: the answers that `values` are made of, bool [questions, repeats].
            more: further attributes of the leaf.
        """
        own = counted & chosen[:, None]
        return Leaf(
            stream,
            self.keys[chosen],
            values[chosen],
            unscored=int(np.count_nonzero(own & self.unscored)),
            failed=int(np.count_nonzero(own & self.failed)),
            given_documents=self.documents[chosen],
            **more,
        )


@dataclass(frozen=True, eq=False)
class Run:
    """A folder that `score` wrote.

    Attributes:
        name: in print.
        folder: where it is.
        tables: by name, in the order of TABLES.
        problems: number of rows by kind of problem (malformed, duplicate, ...), if any.
    """

    name: str
    folder: Path
    tables: Mapping[str, ScoredTable]
    problems: Mapping[str, int]


def unique_names(folders: Sequence[Path]) -> list[str]:
    """Return the shortest ends of the paths that tell them apart: mostly the folders' names."""
    names = [Path(os.path.abspath(folder)).parts for folder in folders]  # links keep their names
    length = 1
    while len({name[-length:] for name in names}) < len(names) and length < max(map(len, names)):
        length += 1
    return ["/".join(name[-length:]) for name in names]
