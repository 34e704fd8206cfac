"""What pages and papers show of each benchmark: charts, and figures that a leaderboard names.

Each point of a chart names a figure by its place, so that runs and published rows are drawn alike.
Texts are pairs: English and Chinese. Source of E's curve: the LongBench paper's figure of scores
by length, absolute, and relative with all lines at 0 for the shortest documents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lm_eval_longbench.catalog.read import Defined, ours
from lm_eval_longbench.statistics.figure import Place

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


# ---------------------------------------------------------------------- LongBench v1 and E

_V1, _V2, _PRO = (ours(name) for name in ("longbench_v1", "longbench_v2", "longbench_pro"))
CATEGORIES, LANGUAGES = _V1.values("category"), tuple(_V1.headlines)
BUCKETS = ("0-4k", "4-8k", "8k+")
# Sections of reports, and what stands for all tasks or questions in one.
MEAN, HEADLINE, ALL_LENGTHS = "mean of tasks", "headline", "all lengths"
OFFICIAL, OVERALL, BEST, PASS = "official", "overall", "best of N", "pass@N"
_WORDS: dict[str, Text] = {
    "single_doc_qa": ("Single-doc QA", "单文档问答"),
    "multi_doc_qa": ("Multi-doc QA", "多文档问答"),
    "summarization": ("Summarization", "摘要"),
    "few_shot": ("Few-shot", "少样本学习"),
    "synthetic": ("Synthetic", "合成任务"),
    "code": ("Code", "代码"),
    MEAN: ("All 13 tasks", "全部13项任务"),
    "easy": ("Easy", "简单"),
    "hard": ("Hard", "困难"),
    "short": ("Short (<32k words)", "短（<32k词）"),
    "medium": ("Medium (32k-128k)", "中（32k-128k）"),
    "long": ("Long (>128k)", "长（>128k）"),
    "Full": ("Full", "全部上下文"),
    "Partial": ("Partial", "部分上下文"),
    "Easy": ("Easy", "简单"),
    "Moderate": ("Moderate", "中等"),
    "Hard": ("Hard", "困难"),
    "Extreme": ("Extreme", "极难"),
    "Chinese": ("Chinese", "中文"),
    "English": ("English", "英文"),
}
_DOMAINS = (
    "单文档问答",
    "多文档问答",
    "长上下文学习",
    "长对话历史理解",
    "代码仓库理解",
    "长结构化数据理解",
)
_WORDS |= {name: (name, own) for name, own in zip(_V2.counts["domain"], _DOMAINS, strict=True)}


def _named(section: str, names: Iterable[str]) -> tuple[Point, ...]:
    """Return the figures of a section under their names in both languages."""
    return tuple(Point((section, name), _WORDS.get(name, same(name))) for name in names)


def relative_section(bucket: str) -> str:
    """Return the section of a bucket's figures relative to the shortest documents."""
    return f"{bucket}, relative to {BUCKETS[0]}"


def _curve(name: str, *, relative: bool = False) -> tuple[Point, ...]:
    return tuple(
        Point((relative_section(bucket) if relative else bucket, name), same(bucket))
        for bucket in BUCKETS
    )


def _panels(*, relative: bool) -> tuple[Panel, ...]:
    names = (MEAN, *CATEGORIES)
    return tuple(Panel(_WORDS[name], _curve(name, relative=relative)) for name in names)


_HEADLINES = _named(HEADLINE, LANGUAGES)
LOOK_V1 = Look(
    headline=_HEADLINES,
    charts=(
        chart("headline", BARS, ("Mean of the six categories", "六类任务均分"), _HEADLINES),
        Chart(
            "categories",
            RADAR,
            ("Score by category", "各类任务得分"),
            tuple(Panel(_WORDS[own], _named(own, CATEGORIES)) for own in LANGUAGES),
        ),
    ),
)
LOOK_E = Look(
    headline=(Point((ALL_LENGTHS, MEAN), ("Mean of tasks", "任务均分")),),
    charts=(
        Chart("length", LINES, ("Score by length", "得分随长度变化"), _panels(relative=False)),
        Chart(
            "length-relative",
            LINES,
            ("Change against the shortest documents", "相对最短文档的变化"),
            _panels(relative=True),
            signed=True,
        ),
    ),
    ladder=Ladder(_curve(MEAN)),
)

# ---------------------------------------------------------------------- LongBench v2


def _by(
    name: str, kind: str, title: Text, own: Defined, dimension: str, section: str = ""
) -> Chart:
    """Return a chart of figures by a dimension, in a section of its name or another."""
    return chart(name, kind, title, _named(section or dimension, own.counts[dimension]))


LOOK_V2 = Look(
    headline=(Point((OFFICIAL, OVERALL), ("Accuracy", "准确率")),),
    charts=(
        chart(
            "overall",
            BARS,
            ("Overall accuracy", "总体准确率"),
            (Point((OFFICIAL, OVERALL), ("Overall", "总体")),),
        ),
        _by(
            "difficulty",
            BARS,
            ("Accuracy by difficulty", "各难度准确率"),
            _V2,
            "difficulty",
            OFFICIAL,
        ),
        _by("length", BARS, ("Accuracy by length", "各长度准确率"), _V2, "length", OFFICIAL),
        _by("domain", HEAT, ("Accuracy by domain", "各领域准确率"), _V2, "domain", OFFICIAL),
    ),
    ladder=Ladder(
        _named(OFFICIAL, _V2.counts["length"]), questions=tuple(_V2.counts["length"].values())
    ),
    tokens=TOKENS,
    modes=(
        ("direct", ("Direct", "直接回答")),
        ("CoT", ("Chain of thought", "思维链")),
    ),
)

# ---------------------------------------------------------------------- LongBench Pro

_RUNS = (1, 2, 3)  # of the published figures


LENGTHS = points("token_length", _PRO.counts["token_length"])
_OVERALL = Point((OVERALL, OVERALL), ("Overall", "总体"))
LOOK_PRO = Look(
    headline=(Point((OVERALL, OVERALL), ("Score", "得分")),),
    charts=(
        chart(
            "overall",
            INSIDE,
            ("Overall score, with the Extreme subset inside", "总体得分（内条为极难子集）"),
            (_OVERALL, Point(("difficulty", "Extreme"), ("Extreme", "极难"))),
        ),
        chart("length", HEAT, ("Score by length in tokens", "各长度（词元）得分"), LENGTHS),
        _by(
            "context",
            BARS,
            ("Score by context requirement", "各上下文需求得分"),
            _PRO,
            "contextual_requirement",
        ),
        chart(
            "tasks",
            RADAR,
            ("Score by primary task", "各主任务得分"),
            (
                Point(("primary_task", name), same(name.partition(".")[0]))
                for name in _PRO.counts["primary_task"]
            ),
        ),
        _by("language", BARS, ("Score by language", "各语言得分"), _PRO, "language"),
        _by("difficulty", BARS, ("Score by difficulty", "各难度得分"), _PRO, "difficulty"),
        chart(
            "best-of-n",
            LINES,
            ("Best of N answers", "N次回答取最优"),
            (Point((BEST, f"best of {run}"), same(f"N={run}")) for run in _RUNS),
        ),
        chart(
            "pass-at-n",
            LINES,
            ("Pass@N: a perfect answer among N", "Pass@N：N次中有满分"),
            (Point((PASS, f"pass@{run}"), same(f"N={run}")) for run in _RUNS),
        ),
    ),
    ladder=Ladder(LENGTHS, 8, tuple(_PRO.counts["token_length"].values())),
    gap=_named("language", ("English", "Chinese")),
    gap_title=("English less Chinese", "英文减中文"),
    modes=(
        ("nonthinking", ("Non-thinking", "非思考")),
        ("thinking", ("Thinking", "思考")),
    ),
)
