"""The report of `doctor`: packages, data and disk of this machine, or what a run would do.

With `--scorers`: whether scores on this machine are the official ones, ours beside those of the
official packages. These are imported here and nowhere else, and only then. fuzzywuzzy is under the
GPL-2.0: it is run beside our metric to compare numbers, and no scoring uses it.

The harness is imported by `doctor_lines`, so that a harness of the wrong version is one line.
"""

from __future__ import annotations

import difflib
import functools
import importlib.util
import json
import logging
import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from lm_eval_longbench.benchmarks.registry import families, title_of
from lm_eval_longbench.data.open import CONVERTED, DOWNLOADED, stored
from lm_eval_longbench.harness.doctor_report import (
    ERROR,
    OK,
    WARNING,
    Line,
    absent_line,
    cache_lines,
    merged,
)
from lm_eval_longbench.metrics import code, lists, rouge, words
from lm_eval_longbench.version import __version__, installed

# ---------------------------------------------------------------------- versions

PACKAGES = ("lm_eval", "jieba", "tokenizers", "transformers", "datasets")


def package_line(name: str, found: str | None) -> Line:
    """Judge the version of a core dependency, None if it is not installed."""
    known = map(Requirement, requires("lm-eval-longbench") or ())
    own = (one for one in known if one.marker is None and one.name.replace("-", "_") == name)
    wanted = next((one.specifier for one in own), SpecifierSet())
    todo = f'pip install "{name.replace("_", "-")}{wanted}"'
    if found is None:
        return Line(ERROR, "versions", f"{name} is not installed", todo)
    if not wanted.contains(found, prereleases=True):
        what = f"{name} {found} is outside the tested range {wanted}"
        return Line(ERROR, "versions", what, todo)
    return Line(OK, "versions", f"{name} {found}" + (f" (tested: {wanted})" if wanted else ""))


def _data_lines() -> Iterator[Line]:
    """Yield a line for each family's official data; no run wants it yet."""
    said = {CONVERTED: "converted", DOWNLOADED: "downloaded; its first use converts it"}
    for family, members in families().items():
        state = stored(members)
        what = f"{title_of(family)}: {members[0].source.label}, sha256 {state.sha256}"
        if state.state in said:
            yield Line(OK, "data", f"{what}, {said[state.state]}")
        else:
            yield absent_line(family, state)


# ---------------------------------------------------------------------- the whole

# Tasks whose first prompt is built unless all are asked for.
FIRST = 5


def examine(
    arguments: Sequence[str],
    preset: str | None = None,
    *,
    first: int | None = FIRST,
    thinking: bool = False,
) -> list[Line]:
    """Return the report on a run; nothing is generated, and nothing is downloaded.

    Args:
        arguments: those of `lm-eval-longbench run`; none: what does not depend on a run.
        preset: published model whose settings are used where the arguments leave them open.
        first: tasks that are looked at closely; None: all.
        thinking: the preset's settings for thinking scores.

    Raises:
        SystemExit: the harness's own, after its help.
    """
    what = f"lm-eval-longbench {__version__} on Python {platform.python_version()}"
    lines = [Line(OK, "versions", what)]
    lines += (package_line(name, installed(name)) for name in PACKAGES)
    if not arguments and preset is None:
        return [*lines, *_data_lines(), *cache_lines(families())]
    if package_line("lm_eval", installed("lm_eval")).status == ERROR:
        return lines
    from lm_eval_longbench.harness.doctor_lines import Beside, run_lines  # imports the harness

    heard = logging.root.manager.disable
    logging.disable(max(heard, logging.WARNING))  # the report says it in its own lines
    try:
        return [*lines, *merged(run_lines(arguments, Beside(preset, thinking), first))]
    finally:
        logging.disable(heard)


# ---------------------------------------------------------------------- scorers

TOPIC = "scorers"
_CASES = Path(__file__).with_name("scorer_cases.jsonl")
# Two scores that differ by less are the same.
_NEAR = 1e-9
Scorer = Callable[[str, str], float]


def _cases(kind: str) -> list[tuple[str, str]]:
    """Return prediction and answer of each embedded case of a kind."""
    rows = map(json.loads, _CASES.read_text(encoding="utf-8").splitlines())
    return [(row["prediction"], row["answer"]) for row in rows if row["kind"] == kind]


def _fuzzywuzzy(prediction: str, answer: str, matcher: Any = difflib.SequenceMatcher) -> float:
    """Return fuzzywuzzy's ratio of the first line of code, on a matcher class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends python-Levenshtein
        from fuzzywuzzy import fuzz

    before, fuzz.SequenceMatcher = fuzz.SequenceMatcher, matcher
    try:
        return fuzz.ratio(code.first_code_line(prediction), answer) / 100
    finally:
        fuzz.SequenceMatcher = before


def _rouge(prediction: str, answer: str) -> float:
    """Return rouge-l F of the package `rouge`; 0 where it raises, as official code does."""
    from rouge import Rouge

    try:
        return Rouge().get_scores([prediction], [answer], avg=True)["rouge-l"]["f"]
    except (ValueError, RecursionError):
        return 0.0


def _rouge_score(prediction: str, answer: str) -> float:
    from rouge_score.rouge_scorer import RougeScorer

    return float(RougeScorer(["rougeL"]).score(answer, prediction)["rougeL"].fmeasure)


@functools.cache
def _jieba() -> Callable[[str], list[str]]:
    """Return the default mode of a tokenizer of the package, on its dictionary alone."""
    import jieba

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return lambda text: list(tokenizer.cut(text, cut_all=False))


def _pytrec(prediction: str, answer: str) -> float:
    import pytrec_eval

    gold, found = lists.gold_items(answer.split("\n")), lists.prediction_items(prediction)
    gains = {"q": {item: len(gold) - place for place, item in enumerate(gold)}}
    ranks = {"q": {item: float(len(found) - place) for place, item in enumerate(found)}}
    measure = f"ndcg_cut_{len(gold)}"
    evaluator = pytrec_eval.RelevanceEvaluator(gains, {f"ndcg_cut.{len(gold)}"})
    return float(evaluator.evaluate(ranks)["q"][measure])


def _line(what: str, package: str, kind: str, ours: Scorer, official: Scorer) -> Line:
    """Return how our scores of all cases of a kind compare with a package's."""
    if importlib.util.find_spec(package) is None:
        pip = {"rouge": "rouge==1.0.1", "pytrec_eval": "pytrec-eval-terrier"}.get(package, package)
        todo = f"To compare: pip install {pip}"
        return Line(WARNING, TOPIC, f"{what}: {package} is not installed, not compared", todo)
    cases = _cases(kind)
    differing = [
        (prediction, answer)
        for prediction, answer in cases
        if abs(ours(prediction, answer) - official(prediction, answer)) > _NEAR
    ]
    if not differing:
        return Line(OK, TOPIC, f"{what}: {len(cases)} of {len(cases)} cases as {package} gives")
    shown = " / ".join(text[:40] for text in differing[0])
    return Line(
        ERROR,
        TOPIC,
        f"{what}: {len(differing)} of {len(cases)} cases differ from {package}, such as {shown!r}",
        "Scores here are not the official ones. Install the pinned versions anew: pip install "
        "--force-reinstall lm-eval-longbench; if that does not help, please report it.",
    )


def _levenshtein_line() -> Line:
    """Return what python-Levenshtein, which is installed, does to the official scripts."""
    from fuzzywuzzy.StringMatcher import StringMatcher

    cases = _cases("code")
    moves = (_fuzzywuzzy(*case, StringMatcher) - _fuzzywuzzy(*case) for case in cases)
    change = sum(moves) / len(cases)
    return Line(
        WARNING,
        TOPIC,
        "python-Levenshtein is installed: the official scripts on this machine give other code "
        f"scores ({100 * change:+.1f} points on these cases), ours do not",
        "Nothing to do here. Take it out before you run the official scripts.",
    )


def scorer_lines() -> Iterator[Line]:
    """Yield how the scores of this machine compare with the official packages that are here."""

    def ranking(prediction: str, answer: str) -> float:
        return lists.ndcg(prediction, answer.split("\n"))

    def chinese(prediction: str, answer: str) -> float:
        cut = _jieba()
        return _rouge(" ".join(cut(prediction)), " ".join(cut(answer)))

    def equal_words(prediction: str, answer: str) -> float:
        cut = _jieba()
        return float(all(list(words.words(text)) == cut(text) for text in (prediction, answer)))

    yield _line("code similarity on difflib", "fuzzywuzzy", "code", code.code_sim, _fuzzywuzzy)
    if importlib.util.find_spec("Levenshtein") and importlib.util.find_spec("fuzzywuzzy"):
        yield _levenshtein_line()
    yield _line("Chinese words", "jieba", "chinese", equal_words, lambda *case: 1.0)
    yield _line("ROUGE-L", "rouge", "english", rouge.rouge_l, _rouge)
    yield _line("ROUGE-L of Chinese", "rouge", "chinese", rouge.rouge_l_zh, chinese)
    yield _line("Google's ROUGE-L", "rouge_score", "english", rouge.rouge_l_google, _rouge_score)
    yield _line("NDCG", "pytrec_eval", "ranking", ranking, _pytrec)
