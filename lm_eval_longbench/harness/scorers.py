"""Whether scores on this machine are the official ones: ours beside those of the official packages.

The packages are imported here and nowhere else, and only by `doctor --scorers`. fuzzywuzzy is under
the GPL-2.0: it is run beside our metric to compare numbers, and no scoring uses it.
"""

from __future__ import annotations

import difflib
import functools
import importlib.util
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lm_eval_longbench.harness.doctor import ERROR, OK, WARNING, Line
from lm_eval_longbench.metrics import code, lists, rouge, words

TOPIC = "scorers"
_CASES = Path(__file__).with_name("scorer_cases.jsonl")
# Two scores that differ by less are the same.
_NEAR = 1e-9
Scorer = Callable[[str, str], float]


def _cases(kind: str) -> list[tuple[str, str]]:
    """Return prediction and answer of each embedded case of a kind."""
    rows = map(json.loads, _CASES.read_text(encoding="utf-8").splitlines())
    return [(row["prediction"], row["answer"]) for row in rows if row["kind"] == kind]


# ---------------------------------------------------------------------- the official packages


def _fuzzywuzzy(matcher: Any) -> Scorer:
    """Return fuzzywuzzy's ratio of the first line of code, on a matcher class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends python-Levenshtein
        from fuzzywuzzy import fuzz

    def score(prediction: str, answer: str) -> float:
        before, fuzz.SequenceMatcher = fuzz.SequenceMatcher, matcher
        try:
            return fuzz.ratio(code.first_code_line(prediction), answer) / 100
        finally:
            fuzz.SequenceMatcher = before

    return score


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


# ---------------------------------------------------------------------- lines


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


def _words_line() -> Line:
    texts = [text for case in _cases("chinese") for text in case]
    official = _jieba()
    differing = [text for text in texts if list(words.words(text)) != official(text)]
    if differing:
        what = f"Chinese words: {len(differing)} of {len(texts)} texts differ from jieba"
        return Line(ERROR, TOPIC, what, 'Install the pinned version: pip install "jieba==0.42.1"')
    return Line(OK, TOPIC, f"Chinese words: {len(texts)} of {len(texts)} texts as jieba gives")


def _levenshtein_line() -> Line | None:
    """Return what python-Levenshtein does to the official scripts, if it is installed."""
    if importlib.util.find_spec("Levenshtein") is None:
        return None
    from fuzzywuzzy.StringMatcher import StringMatcher

    cases = _cases("code")
    official, moved = _fuzzywuzzy(difflib.SequenceMatcher), _fuzzywuzzy(StringMatcher)
    change = sum(moved(*case) - official(*case) for case in cases) / len(cases)
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

    if importlib.util.find_spec("fuzzywuzzy") is None:
        yield _line("code similarity", "fuzzywuzzy", "code", code.code_sim, code.code_sim)
    else:
        on_difflib = _fuzzywuzzy(difflib.SequenceMatcher)
        yield _line("code similarity on difflib", "fuzzywuzzy", "code", code.code_sim, on_difflib)
        moved = _levenshtein_line()
        if moved is not None:
            yield moved
    yield _words_line()
    yield _line("ROUGE-L", "rouge", "english", rouge.rouge_l, _rouge)
    yield _line("ROUGE-L of Chinese", "rouge", "chinese", rouge.rouge_l_zh, chinese)
    yield _line("Google's ROUGE-L", "rouge_score", "english", rouge.rouge_l_google, _rouge_score)
    yield _line("NDCG", "pytrec_eval", "ranking", ranking, _pytrec)
