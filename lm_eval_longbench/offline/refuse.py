"""Refuse to write results: nothing could be scored, or the user wants no problem passed over."""

from __future__ import annotations

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.offline.problems import Problems, sentence

# Problems named of each kind.
_NAMED = 20
# What --strict fails on.
_STRICT = {
    "malformed": "malformed lines",
    "duplicate": "duplicates",
    "foreign": "foreign files or lines",
    "missing": "missing questions",
    "copied": "tasks with copied questions",
}


def _listed(problems: Problems) -> str:
    lines = []
    for kind in _STRICT:
        named = problems.first(kind)[:_NAMED]
        lines += [f"  {kind}: {sentence(kind, problem)}" for problem in named]
        if len(problems.first(kind)) > _NAMED:
            lines.append(f"  {kind}: ...")
    return "".join(f"\n{line}" for line in lines)


def check_strict(problems: Problems) -> None:
    """Accept no problem.

    Raises:
        PredictionError: there is one; counts all and names the first of each kind.
    """
    found = [
        f"{problems.number([kind])} {words}"
        for kind, words in _STRICT.items()
        if problems.number([kind])
    ]
    if found:
        raise PredictionError(
            f"{', '.join(found)}, and --strict is on; nothing was written.{_listed(problems)}"
        )


def check_scored(questions: int, problems: Problems) -> None:
    """Accept no empty result.

    Args:
        questions: that were scored.
        problems: what was found instead.

    Raises:
        PredictionError: nothing was scored; names the first problems.
    """
    if not questions:
        raise PredictionError(
            "No line of the input can be scored, so nothing was written. If it is of another "
            f"format than was recognised, say which with --benchmark.{_listed(problems)}"
        )
