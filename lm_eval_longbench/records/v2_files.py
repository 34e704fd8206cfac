"""Answers to LongBench v2 in files: those of the official scripts, and those of other programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.catalog.read import ours
from lm_eval_longbench.metrics.letter import CHOICES, extract_choice
from lm_eval_longbench.records.layouts import (
    OBJECT,
    REQUESTS,
    TABLE,
    AnsweredQuestion,
    Found,
    Layout,
    OfficialFiles,
    WrittenRun,
    known_fields,
    scored_text,
)
from lm_eval_longbench.records.sample import Unusable

if TYPE_CHECKING:
    from lm_eval_longbench.catalog.model import Table, Task
    from lm_eval_longbench.records.sample import Sample


# ---------------------------------------------------------------------- official files

NAME = "longbench_v2"
NO_CONTEXT, COT, COT_ANSWER, RAG = (
    f"{NAME}_{mode}" for mode in ("no_context", "cot", "cot_answer", "rag")
)
# Chunks of the official retrieval, where the run does not say how many.
_CHUNKS = 4
_ENDS = {COT_ANSWER: "_cot", NO_CONTEXT: "_no_context", RAG: f"_rag_{_CHUNKS}"}
ASKED = ("question", *(f"choice_{letter}" for letter in CHOICES))
_MODE = re.compile(r"(_cot|_no_context|_rag_\d+)$")
_FIELDS = ("_id", "domain", "sub_domain", "difficulty", "length", *ASKED, "answer", "context")
# Characters of the document that the official files keep.
_EXCERPT = 1000


class V2Files(OfficialFiles):
    """`results/<model>[_cot|_no_context|_rag_<n>].jsonl`.

    Source: LongBench at commit 2e00731, pred.py and result.py.
    """

    homes = ("results",)
    above = 1

    def path(self, table: Table, task: Task, run: WrittenRun, repeat: int) -> str:
        return f"{self.homes[0]}/{run.named(repeat)}{_ENDS.get(table.name, '')}.jsonl"

    def row(self, sample: Sample) -> dict[str, Any] | None:
        if sample.dropped or sample.table == COT:  # a first pass is in no file of its own
            return None
        row = known_fields(sample, _FIELDS)
        # Mirrors of the data can have ids and answers of other types.
        row |= {"_id": sample.id, "answer": sample.golds[0]}
        if isinstance(row.get("context"), str):
            row["context"] = row["context"][:_EXCERPT]
        row |= known_fields(sample, ("response_cot",))
        if sample.response is not None:
            row["response"] = scored_text(sample).strip()
        letter = sample.worth.shown["choice"]
        return {**row, "pred": letter, "judge": letter == sample.golds[0]}

    def model_of(self, path: Path) -> str:
        return self.without_mode(path.name.removesuffix(".gz").rpartition(".")[0])

    def without_mode(self, name: str) -> str:
        return _MODE.sub("", name)


# ---------------------------------------------------------------------- files of other programs

_NEEDED = ("_id", "difficulty", "length")


class HarnessLogV2(Layout):
    """The sample logs of the harness's own tasks (lm_eval/tasks/longbench2, 0.4.13)."""

    name = "lm-eval"
    title = "a sample log of the harness's built-in longbench2"
    notes = (
        "The built-in tasks compare the likelihoods of the letters A to D behind a prompt of their "
        "own, where officially an answer is generated: the most likely letter counts, and such "
        "figures do not compare with official ones.",
    )
    pattern = re.compile(r"samples_longbench2_.+\.jsonl(?:\.gz)?")

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        if not path.name.startswith("samples_longbench2_") or not isinstance(row.get("doc"), dict):
            return None
        lacking = [name for name in _NEEDED if name not in row["doc"]]
        if lacking:
            return f"is {self.title} whose questions have no {', '.join(lacking)}"
        return Found(NAME)

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        doc, pairs = row.get("doc"), row.get("filtered_resps")
        if not isinstance(doc, dict) or not isinstance(pairs, list) or len(pairs) != len(CHOICES):
            return Unusable("no sample log row with the likelihoods of four letters")
        try:
            likely = [float(pair[0]) for pair in pairs]
        except (TypeError, ValueError, IndexError, KeyError):
            return Unusable("'filtered_resps' holds no likelihoods")
        answer = doc.get("answer")
        if isinstance(answer, int) and 0 <= answer < len(CHOICES):
            answer = CHOICES[answer]
        domain = doc.get("domain")
        if domain not in ours(NAME).counts["domain"]:
            domain = None  # this mirror has names of its own
        known = {**doc, "answer": answer, "domain": domain}
        return AnsweredQuestion(known, [None], letter=CHOICES[likely.index(max(likely))])

    def subject(self, path: Path) -> str:
        return ""  # the results file beside it says


class KvpressV2(Layout):
    """`predictions.csv` of kvpress's evaluation (NVIDIA/kvpress, 8bb29b9)."""

    name = "kvpress"
    title = "kvpress's predictions.csv"
    notes = (
        "kvpress asks the question after the cache was compressed, for 16 new tokens, and its "
        "prompt has no closing quotation mark; it counts an answer that names the right letter "
        "anywhere, the official rule the first letter that is named.",
    )
    form = TABLE
    pattern = re.compile(r"predictions\.csv")

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        needed = {"predicted_answer", "answer", *_NEEDED}
        return Found(NAME) if needed <= row.keys() else None

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        answer = row.get("predicted_answer")
        if not isinstance(answer, str):
            return Unusable("'predicted_answer' is not a text")
        return AnsweredQuestion(row, [answer])

    def remarks(self, rows: Iterator[Mapping[str, Any]]) -> list[str]:
        """Say in which rows the two rules for the letter differ."""
        number = other = 0
        for row in rows:
            number += 1
            text, gold = str(row.get("predicted_answer") or ""), row.get("answer")
            plain = text.replace("*", "")
            forms = (f"The correct answer is ({gold})", f"The correct answer is {gold}")
            theirs = any(form in plain for form in forms)
            other += theirs != (extract_choice(text) == gold)
        if not other:
            return []
        return [f"in {other} of {number} rows kvpress's rule and the official one judge otherwise"]


class Evalscope(Layout):
    """`reviews/<model>/longbench_v2_<length>.jsonl` (modelscope/evalscope, fde259d)."""

    name = "evalscope"
    title = "evalscope's reviews of LongBench v2"
    notes = (
        "evalscope's prompt asks to think step by step and to end with 'ANSWER: [LETTER]': the "
        "letter counts that evalscope read, and such figures do not compare with official ones.",
    )
    pattern = re.compile(r"longbench_v2_\w+\.jsonl")

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        if "model_output" in row and "index" in row:
            return (
                "is evalscope's predictions, which have no gold answers: give the file of the same "
                "name under reviews/"
            )
        score = row.get("sample_score")
        if not isinstance(score, Mapping) or "target" not in row:
            return None
        facts = score.get("sample_metadata")
        if not isinstance(facts, Mapping) or any(name not in facts for name in _NEEDED):
            return f"is {self.title} without what it knows of the questions (save_metadata)"
        return Found(NAME)

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        own = row.get("sample_score")
        facts = own.get("sample_metadata") if isinstance(own, Mapping) else None
        judged = own.get("score") if isinstance(own, Mapping) else None
        if not isinstance(facts, Mapping) or not isinstance(judged, Mapping):
            return Unusable("'sample_score' has no score or no metadata")
        letter = judged.get("extracted_prediction")
        known = {**facts, "answer": row.get("target")}
        return AnsweredQuestion(known, [None], letter=letter if letter in CHOICES else None)


class TensorRtLlm(Layout):
    """`longbench_v2_results.jsonl` of trtllm-eval (NVIDIA/TensorRT-LLM, 0134026)."""

    name = "TensorRT-LLM"
    title = "TensorRT-LLM's results of LongBench v2"
    notes = (
        "TensorRT-LLM's file does not say whether the prompt had the document, chunks of it or "
        "nothing: it counts as the document. TensorRT-LLM also counts a letter that stands alone, "
        "where the official rule finds none.",
    )
    pattern = re.compile(r"longbench_v2_results\.jsonl")

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        if not {"prediction", "extracted_answer", "answer", *_NEEDED} <= row.keys():
            return None
        return Found(COT_ANSWER if "final_prediction" in row else NAME)

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        field = "final_prediction" if task.table == COT_ANSWER else "prediction"
        answer = row.get(field)
        if not isinstance(answer, str):
            return Unusable(f"{field!r} is not a text")
        return AnsweredQuestion({**row, "response_cot": row.get("cot_response")}, [answer])


class OlmoEval(Layout):
    """`predictions/<model>/longbench_v2-predictions.jsonl` (allenai/olmo-eval, 1d195ad)."""

    name = "olmo-eval"
    title = "olmo-eval's predictions of LongBench v2"
    notes = (
        "olmo-eval cuts long prompts on the left, at the server's length, where officially the "
        "middle is cut, and takes white space off the ends of documents, questions and choices.",
    )
    form = REQUESTS
    pattern = re.compile(r"longbench_v2(_dev)?(_\w+)?-predictions\.jsonl")

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        if not {"native_id", "model_output", "label"} <= row.keys():
            return None
        lacking = {"difficulty", "length"} - (row.get("doc") or {}).keys()
        if not lacking:
            return Found(NAME)
        return (
            f"is {self.title}, and {', '.join(sorted(lacking))} of its questions are in the file "
            f"of requests/{path.parent.name}/ that was written with it: put it beside predictions/"
        )

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        doc, given = row.get("doc"), row.get("model_output")
        if not isinstance(doc, dict):
            return Unusable("its question is not in the file of requests")
        outputs = given if isinstance(given, list) else []
        answers = [one.get("text") for one in outputs if isinstance(one, Mapping)]
        if not answers or not all(isinstance(text, str | None) for text in answers):
            return Unusable("'model_output' has no texts")
        known = {**doc, "_id": str(row.get("native_id")), "answer": row.get("label")}
        return AnsweredQuestion(known, [text or "" for text in answers])


class OpenCompassV2(Layout):
    """`predictions/<model>/LongBenchv2.json` (open-compass/opencompass, a5acc4b)."""

    name = "OpenCompass"
    title = "OpenCompass's LongBench v2 predictions"
    form = OBJECT
    pattern = re.compile(r"LongBenchv2.*\.json")

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        if "prediction" not in row or not self.pattern.fullmatch(path.name):
            return None
        return (
            f"is {self.title}, which say neither the id nor the difficulty and length of a "
            "question: official figures cannot be made from them"
        )


_KINDS = (HarnessLogV2, KvpressV2, Evalscope, TensorRtLlm, OlmoEval, OpenCompassV2)
LAYOUTS: tuple[Layout, ...] = tuple(kind() for kind in _KINDS)
