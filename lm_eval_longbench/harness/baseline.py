"""The harness model `longbench-extractive`, without weights, for the demo and for tests.

It is no contestant: it answers with sentences of the prompt, in a form that the metrics can read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from lm_eval.api.registry import register_model

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.generation import BUDGETS
from lm_eval_longbench.harness.in_memory import BASELINE as NAME
from lm_eval_longbench.harness.in_memory import CallableModel
from lm_eval_longbench.retrieval.chunks import UNSPACED, words

# The harness's own.
_DEFAULT_BUDGET = 256
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_UNIT = re.compile(rf"[{UNSPACED}，。、：；！？]|[^\s{UNSPACED}，。、：；！？]+")
_TAIL = 20_000  # characters at the end where the question stands
_CUE = re.compile(r"^\S[^\n]{0,40}[:：]\Z", re.MULTILINE)
_CHOICE = re.compile(r"^\(([A-D])\) (.*)", re.MULTILINE)  # of LongBench v2
# Of the output of LongBench Pro.
_EXAMPLE = re.compile(r"(?:.*\n)?(\[(?:Answer|答案)\])\n((?:(?!\[(?:Answer|答案)).+\n?)*)\Z")
_PARAGRAPH = re.compile(r"^(Paragraph |段落)(\d+)[:：]", re.MULTILINE)
_SUMMARY = re.compile("[Ss]ummary|总结|Query:")


def answer(prompt: str) -> str:
    """Return what the prompt's own text has to say, in the form that the prompt asks for."""
    prompt = prompt.strip()
    tail = prompt[-_TAIL:]
    if "correct answer" in tail and (choices := list(_CHOICE.finditer(tail))[-4:]):
        before = prompt[:-_TAIL] + tail[: choices[0].start()]
        best = choices[_ranked([one[2] for one in choices], before)[0]]
        return f"The correct answer is ({best[1]})."
    if example := _EXAMPLE.search(tail):
        text, _, question = prompt[: -len(example[0])].rpartition("\n\n\n\n")
        shown = example[2].split("\n")
        # Labels such as those of the example, or else sentences.
        label = re.sub(r"\d+", r"\\d+", re.escape(shown[0]))
        items = list(dict.fromkeys(re.findall(label, text))) if r"\d" in label else []
        items = (items or _sentences(text, question))[: len(shown)]
        return "\n".join([example[1], *items])
    if headings := list(_PARAGRAPH.finditer(prompt)):
        if re.search("final count|不重复", tail):
            return str(len(headings))
        last, _, question = prompt[headings[-1].end() :].partition("\n\n")
        texts = [prompt[one.end() : two.start()] for one, two in pairwise(headings)]
        return "".join(headings[_ranked([*texts, last], question)[0]].groups())
    cue = _CUE.search(tail, max(0, len(tail) - 100))
    if cue is None:
        return "".join(_sentences(*prompt.rpartition("\n\n")[::2])[:1])
    body = prompt[: -len(cue.group())].rstrip()
    if cue.group() == "Next line of code:":
        *lines, last = [line for line in body.split("\n") if line.strip()] or [""]
        return [*lines[1:], last][_ranked(lines, last)[0]] if lines else last
    # Of worked examples the answer of the one that is most like the question.
    shown = re.split(rf"^{re.escape(cue.group())}\s*(.*)\n", body, flags=re.MULTILINE)
    if len(shown) > 1:
        return shown[1::2][_ranked(shown[:-1:2], shown[-1])[0]].strip()
    most = 5 if _SUMMARY.search(body[-400:] + cue.group()) else 1
    return " ".join(_sentences(*body.rpartition("\n\n")[::2])[:most])


def _sentences(text: str, question: str) -> list[str]:
    """Return the sentences of a text, first the one most like a question; or else the question."""
    known = set(words(question))
    pieces = [piece.strip() for piece in _SENTENCE_END.split(text)]
    pieces = [piece for piece in pieces if not known.issuperset(words(piece))] or [question]
    return [pieces[place] for place in _ranked(pieces, question)]


def _ranked(texts: Sequence[str], question: str) -> list[int]:
    """Return the places of texts, first the one that shares the most rare words with a question."""
    asked = set(words(question))
    shared = [asked.intersection(words(text)) for text in texts]
    having = Counter(word for found in shared for word in found)
    # Exact, so that the order of a set decides no tie.
    worth = [math.fsum(1 / having[word] for word in found) for found in shared]
    return sorted(range(len(texts)), key=lambda place: -worth[place])


def _answers(prompts: Sequence[str], generation: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return an answer to each prompt within its budget in words.

    A character of Chinese is a word.
    """
    found = []
    for prompt, own in zip(prompts, generation, strict=True):
        text = answer(prompt)
        budget = next((own[name] for name in BUDGETS if own.get(name) is not None), _DEFAULT_BUDGET)
        ends = [unit.end() for unit in islice(_UNIT.finditer(text), int(budget))]
        found.append(text[: ends[-1]] if ends else "")
    return found


@register_model(NAME)
class ExtractiveBaseline(CallableModel):
    """Answers from the prompt's text alone.

    The three arguments that the harness always passes have no effect. `engine`, which must be the
    model's own name, is how the harness names the run's files: without it they get a random name.
    """

    tokenizer_name = NAME  # what the harness's request cache files its prompts under

    def __init__(
        self,
        engine: str = NAME,
        batch_size: int | str | None = None,
        max_batch_size: int | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(_answers)
        if engine != NAME:
            raise OptionError(f"The model {NAME} has no other engine, such as {engine!r}.")

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Return the messages' contents, joined by blank lines; there is no markup."""
        return "\n\n".join(message["content"] for message in chat_history)
