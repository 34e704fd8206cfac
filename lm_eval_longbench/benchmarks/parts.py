"""What a benchmark consists of: data, tasks, tables, metrics, groups, charts, official settings.

`base` has the names of data, tasks, tables, metrics and groups, too.

Each point of a chart names a figure by its place, so that runs and published rows are drawn alike.
Texts are pairs: English and Chinese.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lm_eval_longbench.figures.figure import Figure

# Section and name of a figure in reports.
Place = tuple[str, str]


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
    """

    repo: str
    revision: str
    file: str
    sha256: str
    size: int = 0
    converted: int = 0
    modelscope: str = ""

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
    """One harness task.

    Attributes:
        name: of the harness task.
        table: that its answers belong to.
        counted: name of the task of that table that they count for: mostly its own. A domain of
            LongBench v2 is asked as the whole is.
        dataset: what of the data it asks, as its benchmark knows it: a data file's stem (v1, E), a
            domain's code or "all" (v2), a secondary task's code (Pro).
        label: official name of what it evaluates.
        questions: in the official data.
        template: name of its prompt template.
        budget: official output budget in tokens.
        chat: whether official code wraps its prompt in the chat template.
        segmented: whether its score depends on Chinese words.
        summary: whether its score needs the semantic similarity of texts.
        question: field of the row that is asked, where forms of a prompt differ in it.
        document: whether its prompt holds the row's document, or what was retrieved of it.
        retrieved: whether its prompt holds retrieved chunks in place of the document.
        length: of the documents that its prompts hold, None where that is not known.
        every_part: whether these are all that there are, in the order of the document.
    """

    name: str
    table: str
    counted: str
    dataset: str
    label: str
    questions: int
    template: str
    budget: int
    chat: bool = True
    segmented: bool = False
    summary: bool = False
    question: str = ""
    document: bool = True
    retrieved: bool = False
    length: Length | None = None
    every_part: bool = False


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
    """

    name: str
    benchmark: str
    title: str
    mode: str
    tasks: Mapping[str, Task]
    dimensions: Mapping[str, tuple[str, ...]]
    published: tuple[str, ...] = ()
    first_pass: str = ""

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
# Those that a group may state: its mean weighs a task by all of its questions.
GROUP_COUNTS = tuple(metric.name for metric in COUNTS if metric.aggregation == "mean")


@dataclass(frozen=True)
class Group:
    """One group of tasks in the harness.

    Attributes:
        name: of the group.
        members: tasks and groups.
        metrics: that it has a mean of.
        by_size: whether questions weigh alike in it, and not tasks.
        alias: its name in the harness's table; "" for its own.
        folder: of its file, beside those of tasks.
    """

    name: str
    members: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    by_size: bool = False
    alias: str = ""
    folder: str = ""


@dataclass(frozen=True)
class Protocol:
    """How official runs of a task are set.

    Attributes:
        limits: longest prompts in tokens, one or another; (): any.
        chat: "on", or "raw": never in a chat template.
        budgets: longest answers in tokens, one or another.
        temperature: 0.0: greedy; None: the model's own, above 0.
        repeats: answers to each question.
    """

    limits: tuple[int, ...]
    chat: str
    budgets: tuple[int, ...]
    temperature: float | None
    repeats: int


@dataclass(frozen=True)
class Published:
    """How the published rows of a benchmark are laid out.

    Attributes:
        file: CSV with one row a model.
        place_of: section and name of the figure in a column; None: no figure.
        mode_column: column with a row's mode; "" for none.
        modes: name of each mode by what stands in that column.
        source: where all rows are from; "": each row says it.
        shown: figures that stand in a leaderboard.
        ranked: how many of them, from the first, are ranked.
        papers: further files of the same layout, whose rows have a source and a caveat each.
    """

    file: Path
    place_of: Callable[[str], Place | None]
    mode_column: str
    modes: Mapping[str, str]
    source: str
    shown: tuple[Place, ...]
    ranked: int
    papers: tuple[Path, ...] = ()


def nested(figures: Sequence[Figure], part: str) -> dict[str, Any]:
    """Return the official values of a part's figures, nested by their paths."""
    found: dict[str, Any] = {}
    for figure in figures:
        if figure.path[:1] == (part,):
            place = found
            for name in figure.path[1:-1]:
                place = place.setdefault(name, {})
            place[figure.path[-1]] = figure.official
    return found


# ---------------------------------------------------------------------- what pages and papers show

# The same in English and in Chinese.
Text = tuple[str, str]
LINES, BARS, RADAR, HEAT, INSIDE = "lines", "bars", "radar", "heat", "inside"
KINDS = (LINES, BARS, RADAR, HEAT, INSIDE)


def same(name: str) -> Text:
    """Return a text that is the same in both languages, as official names are."""
    return name, name


@dataclass(frozen=True)
class Point:
    """One figure on an axis.

    Attributes:
        place: of the figure.
        label: in print.
    """

    place: Place
    label: Text


def points(section: str, names: Iterable[str]) -> tuple[Point, ...]:
    """Return the figures of a section under their own names."""
    return tuple(Point((section, name), same(name)) for name in names)


@dataclass(frozen=True)
class Panel:
    """One coordinate system of a chart.

    Attributes:
        title: over it; empty where the chart has one panel only.
        points: its axis, in order.
    """

    title: Text
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes:
        name: in names of files.
        kind: "lines" over an ordered axis; "bars", a group a point; "radar"; "heat", a map with a
            row a model; "inside": a bar of the first point with a narrow one of the second in it.
        title: over it.
        panels: side by side, all with the same scale.
        signed: whether figures are relative, so that the scale has 0 within.
    """

    name: str
    kind: str
    title: Text
    panels: tuple[Panel, ...]
    signed: bool = False


def chart(name: str, kind: str, title: Text, own: Iterable[Point]) -> Chart:
    """Return a chart of one panel."""
    return Chart(name, kind, title, (Panel(same(""), tuple(own)),))


@dataclass(frozen=True)
class Ladder:
    """The lengths along which a score is followed.

    Attributes:
        points: one a length, the shortest first.
        shortest: of the first one in thousands of tokens, where each is twice the one before; 0:
            lengths are ranges, which have names only.
        questions: official questions of each, for published rows; (): not known.
    """

    points: tuple[Point, ...]
    shortest: int = 0
    questions: tuple[int, ...] = ()


# Measured lengths of prompts, where official lengths are ranges; see `figures.effective`.
TOKENS = Ladder(points("tokens", [f"{8 << step}k" for step in range(8)]), shortest=8)


@dataclass(frozen=True)
class Look:
    """What pages and papers show of a benchmark.

    Attributes:
        headline: figures of the leaderboard, the first of which orders it.
        charts: in the order of the page.
        ladder: lengths for the effective context length; None: none.
        tokens: measured lengths for the same, where logs tell how long prompts are; None: none.
        gap: two figures of different questions, the first less the second; (): none.
        gap_title: of their difference.
        modes: names in print of the modes that scores of one model differ in, in the order of
            columns; {"": ...} where there is one only. The gain is that of the last over the first.
    """

    headline: tuple[Point, ...] = ()
    charts: tuple[Chart, ...] = ()
    ladder: Ladder | None = None
    tokens: Ladder | None = None
    gap: tuple[Point, ...] = ()
    gap_title: Text = ("", "")
    modes: tuple[tuple[str, Text], ...] = (("", ("", "")),)
