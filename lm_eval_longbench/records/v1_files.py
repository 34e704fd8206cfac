"""Answers to LongBench v1 and LongBench-E in files: official ones, and other programs'."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.catalog.read import ours
from lm_eval_longbench.records.layouts import (
    OBJECT,
    TABLE,
    AnsweredQuestion,
    Found,
    Layout,
    OfficialFiles,
    WrittenRun,
    known_fields,
    scored_text,
    texts_of,
)
from lm_eval_longbench.records.log import is_log_row, responses_of, task_in_name
from lm_eval_longbench.records.sample import Unusable, document_of_text, is_whole

if TYPE_CHECKING:
    from lm_eval_longbench.catalog.model import Table, Task
    from lm_eval_longbench.records.sample import Sample


# ---------------------------------------------------------------------- official files

_RESULT = "result.json"


class V1Files(OfficialFiles):
    """`pred/<model>/<dataset>.jsonl` and `result.json`; of E under `pred_e`.

    Source: LongBench at commit 2e00731, pred.py and eval.py.
    """

    homes = ("pred", "pred_e")

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def path(self, table: Table, task: Task, run: WrittenRun, repeat: int) -> str:
        return f"{self._folder}/{run.named(repeat)}/{task.label}.jsonl"

    def row(self, sample: Sample) -> dict[str, Any]:
        return {
            "pred": scored_text(sample),
            "answers": sample.golds,
            "all_classes": sample.classes,
            **known_fields(sample, ("length",)),
        }

    def figures_path(self, table: Table, run: WrittenRun) -> str:
        return f"{self._folder}/{run.model}/{_RESULT}" if run.repeats == 1 else ""

    def figures(self, official: dict[str, Any]) -> dict[str, Any]:
        """Return figures as they are written: of E the mean of no questions is NaN."""
        return {
            name: self.figures(own) if isinstance(own, dict) else math.nan if own is None else own
            for name, own in official.items()
        }

    def figures_beside(self, path: Path) -> Path:
        return path.with_name(_RESULT)


# ---------------------------------------------------------------------- files of other programs

_V1, _E = "longbench_v1", "longbench_v1_e"
DATASETS = {task.label: task for task in ours(_V1).tasks.values()}


def _answered(doc: Mapping[str, Any], answers: Sequence[str], place: int) -> AnsweredQuestion:
    return AnsweredQuestion(doc, answers, place, document_of_text(doc.get("context")))


class HarnessLogV1(Layout):
    """The sample logs of the harness's own tasks (lm_eval/tasks/longbench, 0.4.13)."""

    name = "lm-eval"
    title = "a sample log of the harness's built-in longbench"
    notes = (
        "The built-in tasks have other prompts than the official ones in 12 of 34 data sets "
        "(passage_count, passage_retrieval_en, lcc, repobench-p, samsum and triviaqa, of v1 and "
        "of E), cut long prompts on the left or not at all, and wrap all or none in the chat "
        "template.",
    )
    pattern = re.compile(r"samples_longbench_.+\.jsonl(?:\.gz)?")
    _task = re.compile(r"longbench_(.+?)(_e)?")

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
        told = self._task.fullmatch(task_in_name(stem) or "")
        if told is None or not is_log_row(row) or told[1] not in DATASETS:
            return None
        return Found(_E if told[2] else _V1, told[1])

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        answers = responses_of(row) if is_log_row(row) else None
        if answers is None:
            return Unusable("no sample log row with answers")
        place = row.get("doc_id", index)
        if not is_whole(place, 0, 2**53):
            return Unusable("'doc_id' is not a whole number from 0")
        return _answered(row["doc"], answers, place)

    def subject(self, path: Path) -> str:
        return ""  # the results file beside it says


class KVCacheFactory(Layout):
    """`<model>_<capacity>/<dataset>/<method>.json` (Zefan-Cai/KVCache-Factory, c97f9d7)."""

    name = "KVCache-Factory"
    title = "KVCache-Factory's answers of one method"
    notes = (
        "KVCache-Factory cuts prompts to limits of its own (Llama 3: 7500, before that 7950; "
        "Mistral: 31500) and keeps less of them in the cache than officially: the method's name "
        "says how.",
    )
    pattern = re.compile(r"[^_].*\.json")

    def may_be(self, path: Path, *, named: bool) -> bool:
        return path.suffix == ".json" and path.parent.name.removesuffix("_e") in DATASETS

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        own = path.parent.name
        if not {"pred", "answers", "dataset"} <= row.keys():
            return None
        return Found(_E if own.endswith("_e") else _V1, own.removesuffix("_e"))

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        # A list: all answers of one batch, of which there is one.
        answer = row.get("pred")
        if isinstance(answer, list) and len(answer) == 1:
            answer = answer[0]
        if not isinstance(answer, str):
            return Unusable("'pred' is not a text")
        return _answered(row, [answer], index)

    def subject(self, path: Path) -> str:
        return f"{path.parent.parent.name}/{path.stem}"


class KvpressV1(Layout):
    """`predictions.csv` of kvpress's evaluation (NVIDIA/kvpress, 8bb29b9)."""

    name = "kvpress"
    title = "kvpress's predictions.csv"
    notes = (
        "kvpress asks the question after the cache was compressed, wraps all data sets in the chat "
        'template, and puts the template\'s last words (such as "Answer:") behind it.',
    )
    form = TABLE
    pattern = re.compile(r"predictions\.csv")
    _needed = frozenset({"predicted_answer", "task", "answers"})
    #: What its data takes off the ends of questions.
    _ends: Mapping[str, str] = {"trec": "Type:", "triviaqa": "Answer:", "samsum": "Summary:"}

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        if not self._needed <= row.keys():
            return None
        task = str(row["task"]).removesuffix("-e").removesuffix("_e")
        if task not in DATASETS:
            return None
        is_e = path.parent.name.startswith("longbench-e") or str(row["task"]) != task
        return Found(_E if is_e else _V1, task)

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        told = str(row.get("task")).removesuffix("-e").removesuffix("_e")
        if told != task.label:
            return Unusable(f"'task' is {told!r}, the file's first is {task.label!r}")
        answer, length = row.get("predicted_answer"), str(row.get("length") or "")
        if not isinstance(answer, str):
            return Unusable("'predicted_answer' is not a text")
        classes = texts_of(row.get("all_classes"))
        doc = {
            "_id": row.get("_id"),
            "input": row.get("question"),
            "answers": texts_of(row.get("answers")),
            "all_classes": classes,
            "length": int(length) if length.isdecimal() else None,
        }
        return _answered(doc, [answer], index)

    def subject(self, path: Path) -> str:
        """Return the name of the run's folder without its data set."""
        parts = path.parent.name.split("__")
        return "__".join(one for one in parts if one.removesuffix("_e") not in DATASETS)

    def remarks(self, rows: Iterator[Mapping[str, Any]]) -> list[str]:
        """Say which rows kvpress changed: their ends, their budgets, the answers it scores."""
        number = ends = budgets = stripped = 0
        for row in rows:
            number += 1
            known = DATASETS.get(str(row.get("task")).removesuffix("-e").removesuffix("_e"))
            if known is None:
                continue
            end = self._ends.get(known.label, "")
            question = str(row.get("question") or "")
            ends += bool(end) and not question.endswith(end)
            budget = str(row.get("max_new_tokens") or "")
            budgets += budget.isdecimal() and int(budget) != known.budget
            answer = str(row.get("predicted_answer") or "")
            stripped += answer != answer.lstrip()
        found = []
        if ends:
            found.append(
                f"in {ends} of {number} rows the question lost its end, which the model gets after "
                "the chat template"
            )
        if budgets:
            found.append(f"in {budgets} of {number} rows the output budget is not the official one")
        if stripped:
            found.append(
                f"{stripped} of {number} answers begin with white space, which kvpress's scorer "
                "takes off and the official one does not"
            )
        return found


class OpenCompassV1(Layout):
    """`predictions/<model>/LongBench_<dataset>.json` (open-compass/opencompass, a5acc4b)."""

    name = "OpenCompass"
    title = "OpenCompass's LongBench predictions"
    notes = (
        "OpenCompass's prompts lost the official ones' last space or line feed in some data sets, "
        "all of them are chat messages, and its scorer is its own: here the official one scores.",
    )
    form = OBJECT
    pattern = re.compile(r"LongBench_(?!v2).+\.json")
    _name = re.compile(r"LongBench_(.+?)(?:_\d+)?")

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        told = self._name.fullmatch(path.stem)
        if told is None or "prediction" not in row or told[1] not in DATASETS:
            return None
        return Found(_V1, told[1])

    def read(self, row: Mapping[str, Any], index: int, task: Task) -> AnsweredQuestion | Unusable:
        gold, answer, key = row.get("gold"), row.get("prediction"), str(row.get("key"))
        if not isinstance(answer, str):
            return Unusable("'prediction' is not a text")
        if not key.isdecimal() or len(key) > 9:
            return Unusable("its number is not a whole number from 0")
        labels = gold if isinstance(gold, Mapping) else {"answers": gold}
        answers = labels.get("answers")
        doc = {
            "_id": key,
            "answers": [answers] if isinstance(answers, str) else answers,
            "all_classes": labels.get("all_classes"),
        }
        return _answered(doc, [answer], int(key))


LAYOUTS: tuple[Layout, ...] = (HarnessLogV1(), KVCacheFactory(), KvpressV1(), OpenCompassV1())
