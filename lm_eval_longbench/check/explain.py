"""Split the difference of two numbers into its causes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lm_eval_longbench.check.sides import Answered, Side, SideFacts
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.statistics.intervals import FEWEST, Influence, t_interval
from lm_eval_longbench.statistics.tree import Leaf

# ---------------------------------------------------------------------- causes

QUESTIONS, SCORER = "questions", "scorer"
PROMPT, CUT, CHAT, STOP, LEFT = (
    "prompt bytes",
    "cut",
    "chat template",
    "stop and budget",
    "what is left (model, sampling)",
)
# In the order in which they are looked for: what is earlier changes all that is later.
CAUSES = (QUESTIONS, PROMPT, CUT, CHAT, STOP, SCORER, LEFT)


def _differ(left: object, right: object) -> bool | None:
    """Return whether two facts differ; None: one of them is not known."""
    return None if left is None or right is None else left != right


def _by_prompt(theirs: SideFacts, ours: SideFacts) -> list[str]:
    """Return what tells the prompts apart, where both logs have their hashes."""
    if theirs.prompt == ours.prompt:
        return []
    if _differ(theirs.template, ours.template) or _differ(theirs.document, ours.document):
        # Both can be: then what was cut is another text.
        return [PROMPT, CUT] if _differ(theirs.cut, ours.cut) else [PROMPT]
    return [CUT] if theirs.truncated or ours.truncated else [PROMPT]


def _without_hashes(theirs: SideFacts, ours: SideFacts) -> list[str]:
    found = []
    if _differ(theirs.template, ours.template) or _differ(theirs.document, ours.document):
        found.append(PROMPT)
    if _differ(theirs.cut, ours.cut) and (theirs.truncated or ours.truncated):
        found.append(CUT)
    return found


def _is_begun(one: str | None, other: str | None) -> bool:
    """Whether one text is the beginning of the other."""
    if not one or not other or one == other:
        return False
    short, long = sorted((one.strip(), other.strip()), key=len)
    return bool(short) and long.startswith(short)


def _by_stop(theirs: Answered, ours: Answered) -> bool:
    """Whether the answers differ as they do where one ended earlier."""
    differ = _differ(theirs.facts.stop, ours.facts.stop)
    if differ is False:
        return False
    number = min(len(theirs.texts), len(ours.texts))
    pairs = zip(theirs.texts[:number], ours.texts[:number], strict=True)
    begun = any(_is_begun(one, other) for one, other in pairs)
    return begun or (bool(differ) and bool(theirs.capped or ours.capped))


def suspects(theirs: Answered, ours: Answered) -> list[str]:
    """Return all causes that two answers to one question can differ for, the first one first.

    LEFT, if there is no other.
    """
    left, right = theirs.facts, ours.facts
    if left.prompt is not None and right.prompt is not None:
        found = _by_prompt(left, right)
    else:
        found = _without_hashes(left, right)
    if _differ(left.chat, right.chat) and CHAT not in found:
        found.append(CHAT)
    if _by_stop(theirs, ours):
        found.append(STOP)
    return found or [LEFT]


def unknown(theirs: SideFacts, ours: SideFacts) -> list[str]:
    """Return the causes that cannot be told from what two logs say of a question."""
    found = []
    if theirs.prompt is None or ours.prompt is None:
        if _differ(theirs.template, ours.template) is None:
            found.append(PROMPT)
        if _differ(theirs.cut, ours.cut) is None:
            found.append(CUT)
    if _differ(theirs.chat, ours.chat) is None:
        found.append(CHAT)
    if _differ(theirs.stop, ours.stop) is None:
        found.append(STOP)
    return found


# ---------------------------------------------------------------------- the difference

_POINTS = 100
Pair = tuple[Answered, Answered]


@dataclass(frozen=True)
class Share:
    """What a cause does to the difference.

    Attributes:
        cause: one of CAUSES.
        points: of the difference, in percent points; all causes add up to it.
        low, high: ends of its 95% interval; None: too few questions.
        questions: that it moves.
    """

    cause: str
    points: float
    low: float | None
    high: float | None
    questions: int


@dataclass(frozen=True)
class Explanation:
    """Why two numbers differ.

    Attributes:
        theirs, ours: mean score over the questions of each side, in percent.
        gap: ours less theirs, in points.
        counts: questions of theirs, of ours, and of both.
        shares: one a cause, in the order of CAUSES.
        notes: what cannot be told, and what must be known to read the shares.
    """

    theirs: float
    ours: float
    gap: float
    counts: tuple[int, int, int]
    shares: tuple[Share, ...]
    notes: tuple[str, ...]

    @property
    def largest(self) -> Share:
        """The share of the largest size; of two alike the earlier cause."""
        return max(self.shares, key=lambda share: abs(share.points))

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        a, b, both = self.counts
        return {
            "a": self.theirs,
            "b": self.ours,
            "difference": self.gap,
            "questions": {"a": a, "b": b, "both": both},
            "parts": [asdict(share) for share in self.shares],
            "largest": self.largest.cause,
            "notes": list(self.notes),
        }


def _unique(questions: Sequence[Answered], key: Callable[[Answered], Any]) -> dict[Any, Answered]:
    """Return the questions by a key, those left out that share one."""
    number = Counter(map(key, questions))
    return {key(one): one for one in questions if number[key(one)] == 1}


def _pairs_by(
    theirs: Sequence[Answered], ours: Sequence[Answered], key: Callable[[Answered], Any]
) -> list[Pair]:
    left, right = _unique(theirs, key), _unique(ours, key)
    return [(left[own], one) for own, one in right.items() if own in left]


def _of_task(theirs: Sequence[Answered], ours: Sequence[Answered]) -> list[Pair]:
    """Return the questions of a task that both sides have.

    By their ids, with the place where an id stands twice. Official files of v1 have no ids: by
    their places, if the gold answers at every common place are the same; else lines were left out,
    and gold answers that occur once tell.
    """
    if not all(one.is_line for one in theirs) and not all(one.is_line for one in ours):
        ids = [{one.id for one in side} for side in (theirs, ours)]
        are_unique = (len(ids[0]), len(ids[1])) == (len(theirs), len(ours))
        found = _pairs_by(theirs, ours, lambda one: one.id if are_unique else (one.id, one.order))
        return [pair for pair in found if pair[0].golds == pair[1].golds]
    found = _pairs_by(theirs, ours, lambda one: one.order)
    if all(left.golds == right.golds for left, right in found):
        return found
    return _pairs_by(theirs, ours, lambda one: one.golds)


def paired(theirs: Side, ours: Side) -> list[Pair]:
    """Return the questions that both sides have, each at most once.

    Task by task; tasks that one side lacks are paired with those that ask the same: modes of v2,
    prompt forms of Pro.
    """
    shared = {one.task for one in theirs.questions} & {one.task for one in ours.questions}
    sides: list[dict[str, list[Answered]]] = [defaultdict(list), defaultdict(list)]
    for side, by_task in zip((theirs, ours), sides, strict=True):
        for one in side.questions:
            by_task[one.task if one.task in shared else f"\0{one.label}"].append(one)
    left, right = sides
    return [pair for task in left if task in right for pair in _of_task(left[task], right[task])]


def _counted(side: Side) -> tuple[list[Answered], int]:
    known = [one for one in side.questions if one.reported is not None]
    return known, len(side.questions) - len(known)


def _rest(theirs: Answered, ours: Answered) -> float:
    """Return how the answers differ under one scorer; with two of them the mean of both."""
    values = []
    for policy in dict.fromkeys((theirs.policy, ours.policy)):
        left, right = theirs.worth(policy), ours.worth(policy)
        if left is not None and right is not None:
            values.append(right - left)
    return float(np.mean(values)) if values else 0.0


def _share(cause: str, values: np.ndarray, pairs: Sequence[Pair]) -> Share:
    documents = [ours.facts.document or theirs.facts.document or "0" for theirs, ours in pairs]
    known = np.array([int(own, 16) for own in documents], np.uint64)
    leaf = Leaf(cause, np.arange(len(values)), _POINTS * values, given_documents=known)
    points, moved = float(leaf.value or 0.0), int(np.count_nonzero(np.abs(values) > 1e-12))
    low, high = (None, None) if leaf.few else t_interval(points, leaf.influence)
    return Share(cause, points, low, high, moved)


def _of_questions(sides: Sequence[list[Answered]], common: Sequence[set[int]]) -> Share:
    """Return what it does that the sides do not have the same questions."""
    points, strata, moved = 0.0, [], 0
    for sign, questions, own in zip((-1, 1), sides, common, strict=True):
        values = _POINTS * np.array([float(one.reported or 0.0) for one in questions])
        chosen = np.array([id(one) in own for one in questions])
        whole, part = float(values.mean()), float(values[chosen].mean())
        points += sign * (whole - part)
        moved += int((~chosen).sum())
        n, k = len(values), int(chosen.sum())
        moves = (values - whole) / n - np.where(chosen, (values - part) / k, 0.0)
        strata.append(Influence(sign * moves, np.full(n, 1 / n)))
    if not moved:
        return Share(QUESTIONS, 0.0, 0.0, 0.0, 0)
    if min(map(len, sides)) < FEWEST:
        return Share(QUESTIONS, points, None, None, moved)
    low, high = t_interval(points, strata)
    return Share(QUESTIONS, points, low, high, moved)


def _notes(
    theirs: Side, ours: Side, pairs: Sequence[Pair], rivals: Mapping[tuple[str, ...], int]
) -> list[str]:
    lines = []
    lacking: Counter[str] = Counter()
    for left, right in pairs:
        lacking.update(unknown(left.facts, right.facts))
    for cause in CAUSES:
        if lacking[cause]:
            lines.append(
                f"{cause}: cannot be told for {lacking[cause]} of {len(pairs)} questions, because "
                f"one of the logs does not say; what it does there is in {LEFT!r}"
            )
    for causes, number in sorted(rivals.items()):
        lines.append(
            f"{number} questions differ in {' and '.join(causes)} at once, which cannot be told "
            f"apart; what they do stands under {causes[0]!r}"
        )
    if not any(value is not None for left, _ in pairs for value in left.stated):
        how = f"officially, reasoning: {pairs[0][0].policy}"
        lines.append(f"{theirs.name} states no scores: it is scored as {how}")
    for side in (theirs, ours):
        if side.passed_over:
            lines.append(f"{side.name}: {side.passed_over} rows are no answers and are left out")
    models = [", ".join(side.models) or "not said" for side in (theirs, ours)]
    if models[0] != models[1] or models[0] == "not said":
        lines.append(f"models: {models[0]} and {models[1]}")
    return lines


class NothingShared(PredictionError):
    """Two sides have no scored question in common."""


def explained(theirs: Side, ours: Side) -> Explanation:
    """Split the difference of two runs' mean scores over questions into its causes.

    The difference is: what it does that the sides have other questions; what it does that they
    count with other scorers, by scoring each side's answers with both; and, of each question that
    both have, how its answers differ under one scorer. That goes to the first of the causes that
    its logs tell: other prompts, another cut, another chat template, an earlier end; or is left.

    Raises:
        NothingShared: they have no question in common.
    """
    sides = theirs, ours
    known = [_counted(side) for side in sides]
    counted = [own for own, _ in known]
    allowed = {id(one) for own in counted for one in own}
    pairs = [pair for pair in paired(*sides) if id(pair[0]) in allowed and id(pair[1]) in allowed]
    if not pairs:
        raise NothingShared(
            f"{theirs.name} and {ours.name} have no scored question in common: questions are "
            "paired by task and id, or by place and gold answers."
        )
    values = {cause: np.zeros(len(pairs)) for cause in CAUSES}
    rivals: Counter[tuple[str, ...]] = Counter()
    for number, (left, right) in enumerate(pairs):
        rest = _rest(left, right)
        gap = float(right.reported or 0.0) - float(left.reported or 0.0)
        values[SCORER][number] = gap - rest
        if left.texts != right.texts or rest:
            causes = suspects(left, right)
            values[causes[0]][number] = rest
            if len(causes) > 1 and rest:
                rivals[tuple(causes)] += 1
    common = [{id(pair[side]) for pair in pairs} for side in (0, 1)]
    shares = [
        _of_questions(counted, common)
        if cause == QUESTIONS
        else _share(cause, values[cause], pairs)
        for cause in CAUSES
    ]
    means = [
        _POINTS * float(np.mean([float(one.reported or 0.0) for one in own])) for own in counted
    ]
    notes = _notes(*sides, pairs, rivals)
    unscored = sum(number for _, number in known)
    if unscored:
        notes.append(f"{unscored} questions have no score and are left out")
    return Explanation(
        means[0],
        means[1],
        means[1] - means[0],
        (len(counted[0]), len(counted[1]), len(pairs)),
        tuple(shares),
        tuple(notes),
    )
