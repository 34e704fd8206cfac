"""Data, tasks, tables, metrics and groups, as the task files define them."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_FIELD = re.compile(r"\{\{(\w+)\}\}")


@functools.cache
def prompt_sha256(prompt: str) -> str:
    """Return the sha256 of a template in the official spelling, which has {field} for {{field}}."""
    official = _FIELD.sub(r"{\1}", prompt)
    return hashlib.sha256(official.encode("utf-8", "surrogatepass")).hexdigest()


# Metrics that count Chinese words, and the one that needs the semantic similarity of texts.
SUMMARY = "summary"
_SEGMENTED = ("qa_f1_zh", "rouge_l_zh", SUMMARY)


@dataclass(frozen=True)
class Source:
    """One file of one revision of a dataset on the hub.

    Attributes:
        repo: dataset repository.
        revision: full commit hash.
        file: file in the repository.
        sha256: of the file, as hexadecimal digits.
        size: of the file in bytes, about.
        converted: bytes of all that it is converted to, about.
        modelscope: dataset repository on ModelScope that should have the same file; "": none.
        url: of the file, where it is not on the hub; "": it is.
    """

    repo: str
    revision: str
    file: str
    sha256: str
    size: int = 0
    converted: int = 0
    modelscope: str = ""
    url: str = ""

    @property
    def label(self) -> str:
        """Short name of exactly this data, for results."""
        return f"{self.repo}@{self.revision[:7]}"


@dataclass(frozen=True)
class Length:
    """The median length of a task's documents.

    Attributes:
        low, high: what it lies between, both included; equal where it is known exactly.
        unit: "words" (between spaces), "characters" or "tokens".
    """

    low: int
    high: int
    unit: str

    @property
    def text(self) -> str:
        """In print, in thousands: "10.1k words"."""
        ends = dict.fromkeys(f"{round(end / 1000, 1):g}k" for end in (self.low, self.high))
        return f"{'-'.join(ends)} {self.unit}"


@dataclass(frozen=True)
class Task:
    """One harness task, as its file defines it.

    Attributes:
        name: of the harness task.
        table: that its answers belong to.
        counted: name of the task of that table that they count for: mostly its own. A domain of
            LongBench v2 is asked as the whole is.
        dataset: what of the data it asks: a data file's stem, a domain's code or "all" (v2), a
            secondary task's code (Pro).
        label: official name of what it evaluates.
        questions: in the official data.
        prompt: its template: Jinja with the fields of a row, or the text that `hook` fills.
        prompt_sha256: of the official template.
        hook: full name of the function that fills the template; "": it is Jinja.
        generation: official generation arguments.
        metric: that scores its answers.
        first_line: whether only the first line of an answer is scored.
        chat: whether official code wraps its prompt in the chat template.
        category, language: as its benchmark names them; "": it has none.
        document: whether its prompt holds the row's document, or what was retrieved of it.
        retrieved: whether its prompt holds retrieved chunks in place of the document.
        every_part: whether these are all that there are, in the order of the document.
        length: of the documents that its prompts hold, None where that is not known.
        where: field of a row that is `label` in the questions it asks; "": it asks all of its data.
        file: that defines it.
    """

    name: str
    table: str
    counted: str
    dataset: str
    label: str
    questions: int
    prompt: str
    prompt_sha256: str
    metric: str
    generation: Mapping[str, Any] = field(hash=False)
    hook: str = ""
    first_line: bool = False
    chat: bool = True
    category: str = ""
    language: str = ""
    document: bool = True
    retrieved: bool = False
    every_part: bool = False
    length: Length | None = None
    where: str = ""
    file: str = field(default="", compare=False)

    @property
    def budget(self) -> int:
        """Official output budget in tokens."""
        budget: int = self.generation["max_gen_toks"]
        return budget

    @property
    def segmented(self) -> bool:
        """Whether its score depends on Chinese words."""
        return self.metric in _SEGMENTED

    @property
    def summary(self) -> bool:
        """Whether its score needs the semantic similarity of texts."""
        return self.metric == SUMMARY


@dataclass(frozen=True)
class Table:
    """Answers that have a headline of their own.

    Attributes:
        name: in results.
        benchmark: name of its benchmark.
        title: in print, of its benchmark.
        mode: what tells it from the other tables of its benchmark; "" where nothing need.
        tasks: by name, in the official order.
        dimensions: values of each dimension that a question has, in the official order.
        published: modes of published rows that it is comparable with; the first one's are shown.
        first_pass: table whose answers the prompts of this one embed; "" for none.
        known_errors: ids of questions that are publicly known to be wrong, with where it is said.
    """

    name: str
    benchmark: str
    title: str
    mode: str
    tasks: Mapping[str, Task]
    dimensions: Mapping[str, tuple[str, ...]]
    published: tuple[str, ...] = ()
    first_pass: str = ""
    known_errors: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def questions(self) -> int:
        """Questions of all tasks in the official data."""
        return sum(task.questions for task in self.tasks.values())


@dataclass(frozen=True)
class Metric:
    """One figure that the harness computes of a task.

    Attributes:
        name: its key in results files.
        aggregation: "mean", or the name of a function of `figures.means`.
        higher_is_better: as the harness states it.
    """

    name: str
    aggregation: str = "mean"
    higher_is_better: bool = True


# Shares of answers or questions that every task states.
FAILED, TRUNCATED, REASONED = (
    Metric(name, higher_is_better=False) for name in ("failed", "truncated", "reasoned")
)
# Of answers that ended at their budget, over the questions of which it is known.
CAPPED = Metric("capped", "mean_of_known", higher_is_better=False)
COUNTS = (FAILED, TRUNCATED, REASONED, CAPPED)


@dataclass(frozen=True)
class Group:
    """One group of tasks in the harness.

    Attributes:
        name: of the group.
        members: tasks.
        version: of its file.
        weights: of each metric that it has a mean of, whether questions weigh alike in it, and not
            tasks.
    """

    name: str
    members: tuple[str, ...]
    version: str
    weights: Mapping[str, bool]
