"""Read the reasoning of a chain-of-thought run of LongBench v2 from its sample log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.input_files import read_json_lines

# What tells one question from another, besides its id.
_SAME = ("question", "choice_A", "choice_B", "choice_C", "choice_D")
_PATTERNS = ("samples_longbench_v2_cot_2*.jsonl", "reasoning_longbench_v2_cot_*.jsonl")
# Ids that an error names.
_SHOWN = 10


def read_reasoning(
    path: str, questions: Sequence[Mapping[str, Any]], template: str, data: str
) -> dict[str, str]:
    """Return the reasoning of each question, by `_id`, from the log of pass one.

    Args:
        path: sample log of the task `longbench_v2_cot`, or a folder that holds it at any depth.
        questions: those that pass two asks, with `_id`, question and choices.
        template: sha256 of pass one's prompt template.
        data: label of the questions' data.

    Raises:
        DataError: there is no such log; it is damaged, of another task or of other questions; it
            has two texts for one question; or it lacks questions. The message names the ids.
    """
    files = _files(Path(path).expanduser())
    wanted = {question["_id"]: question for question in questions}
    found: dict[str, str] = {}
    foreign: list[str] = []
    for file, number, row in _rows(files):
        where = f"{file}, line {number},"
        doc, text = _parts(row, where)
        prompt = doc.get("prompt")
        if isinstance(prompt, dict) and prompt.get("template_sha256", template) != template:
            raise DataError(f"{where} is not of the task longbench_v2_cot: its prompt is another.")
        if doc.get("data", data) != data:
            raise DataError(f"{where} is of other data: {doc['data']!r}, and asked is {data!r}.")
        question = wanted.get(doc["_id"])
        if question is not None and any(doc.get(name) != question[name] for name in _SAME):
            foreign.append(doc["_id"])
        if found.setdefault(doc["_id"], text) != text:
            raise DataError(
                f"{where} has another reasoning for {doc['_id']} than was read before. Name one "
                "log of one run."
            )
    if foreign:
        raise DataError(
            f"{path} is a log of other data: it has other questions under the ids {_names(foreign)}"
        )
    missing = [name for name in wanted if name not in found]
    if missing:
        raise DataError(
            f"{path} has no reasoning for {len(missing)} of {len(wanted)} questions: "
            f"{_names(missing)} Finish pass one, or ask for the same questions in both passes."
        )
    return {name: found[name] for name in wanted}


def _names(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else ".")


def _files(place: Path) -> list[Path]:
    if place.is_dir():
        files = sorted(file for pattern in _PATTERNS for file in place.rglob(pattern))
        if not files:
            raise DataError(
                f"cot_samples {str(place)!r} has no samples_longbench_v2_cot_*.jsonl. Run "
                "longbench_v2_cot with --log_samples first."
            )
        return files
    if not place.is_file():
        raise DataError(f"cot_samples {str(place)!r} does not exist.")
    return [place]


def _rows(files: Sequence[Path]) -> Iterator[tuple[Path, int, Any]]:
    for file in files:
        for number, row in read_json_lines(file, DataError):
            yield file, number, row


def _parts(row: Any, where: str) -> tuple[dict[str, Any], str]:
    """Return a row's question and its one response."""
    doc = row.get("doc") if isinstance(row, dict) else None
    if not isinstance(doc, dict) or not isinstance(doc.get("_id"), str):
        raise DataError(f"{where} is not of a sample log of LongBench v2: it has no doc with _id.")
    match row.get("resps"):
        # Of several ranks one may be sent its last request again, so that all have as many.
        case [[str(text), *more]] if not more or row.get("filtered_resps") in ([text], [[text]]):
            return doc, text
    raise DataError(f"{where} does not hold one response in 'resps'.")
