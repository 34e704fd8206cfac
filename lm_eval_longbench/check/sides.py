"""Read one side of a comparison: its settings, its scores, and every question with its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of, benchmark_of_table, tables, tasks
from lm_eval_longbench.benchmarks.results import (
    ResultsFile,
    ScoredFolder,
    read_results,
    read_scored_folder,
)
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.metrics.reasoning import POLICIES
from lm_eval_longbench.records.log import is_log_row, prompt_of, requests_of
from lm_eval_longbench.records.results import find_results, results_under
from lm_eval_longbench.records.sample import Sample, Unusable
from lm_eval_longbench.reporting.scored_run import ScoredRun, read_run
from lm_eval_longbench.scoring.files import InputFile
from lm_eval_longbench.scoring.plan import NothingRecognised, Plan, plan_paths
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.scoring.score_chunk import score_sample
from lm_eval_longbench.signature.signature import UNKNOWN


@dataclass(frozen=True)
class ComparedEntry:
    """One task of one result.

    Attributes:
        file: the results file or scored folder.
        task: our own name of it; of a part of a task the user's.
        signature: the ingredients that the result states.
        figures: by metric, without standard errors.
    """

    file: Path
    task: str
    signature: Mapping[str, Any]
    figures: Mapping[str, Any]


def of_file(results: ResultsFile) -> Iterator[ComparedEntry]:
    """Yield the tasks of a results file."""
    known = [str(task.run.get("task")) for task in results.tasks]
    for task, name in zip(results.tasks, known, strict=True):
        own = tasks().get(name)
        asked = own and benchmark_of(own).asked(own, task.config.get("dataset_name"))
        # Parts of a task share its name, and a user may run one task in two ways.
        shared = known.count(name) > 1 or asked not in (None, own)
        figures = {
            key.removesuffix(",none"): value
            for key, value in task.figures.items()
            if "," in key and "_stderr," not in key
        }
        place = task.name if shared else name
        yield ComparedEntry(task.file, place, task.signature, figures)


def of_folder(folder: ScoredFolder) -> Iterator[ComparedEntry]:
    """Yield the tasks of a scored folder, with the ingredients that its report knows."""
    for table, facts in folder.report["tables"].items():
        benchmark, signed = benchmark_of_table(table), facts.get("signature") or {}
        for task, own in facts["tasks"].items():
            stated = signed.get("tasks", {}).get(task, {})
            signature = {name: value for name, value in stated.items() if value != UNKNOWN}
            known = benchmark.tables[table].tasks.get(task)
            metric = benchmark.harness_metrics(known)[0].name if known else "score"
            figures = {metric: own.get("score")}
            yield ComparedEntry(folder.path, task, signature, figures)


# What logs call the score of a question, most telling first.
_STATED = ("score", "acc")


@dataclass(frozen=True)
class SideFacts:
    """What a log tells of how an answer came about; None: it does not tell.

    Attributes:
        prompt: sha256 of the prompt before any chat template, cut or whole.
        template: sha256 of the prompt's template.
        document: short hash of the document.
        truncated: whether the prompt was cut.
        cut: limit, tokenizer and rule, as far as a signature states them.
        chat: whether a chat template was applied, and what it makes of a word.
        stop: output budget and stop strings.
    """

    prompt: str | None = None
    template: str | None = None
    document: str | None = None
    truncated: bool | None = None
    cut: tuple[Any, ...] | None = None
    chat: tuple[Any, ...] | None = None
    stop: tuple[Any, ...] | None = None


@dataclass
class Answered:
    """A question with its answers.

    Attributes:
        task: name of its task.
        label: equal for tasks that ask the same, so that modes of a benchmark can be paired.
        id: of the question; order: its place, 0 where ids tell.
        is_line: whether the id is nothing but the place.
        golds: gold answers.
        texts: one a repeat; None where only a letter is known.
        stated: score of each that the log itself states; None: it states none.
        scores: of each, by policy for reasoning; None: unscored.
        policy: for reasoning, by which this side counts.
        facts: of the first.
        capped: whether an answer ended at the output budget; None: not known.
    """

    task: str
    label: str
    id: str
    order: int
    is_line: bool
    golds: tuple[str, ...]
    policy: str
    facts: SideFacts
    texts: list[str | None] = field(default_factory=list)
    stated: list[float | None] = field(default_factory=list)
    scores: dict[str, list[float | None]] = field(default_factory=dict)
    capped: bool | None = None

    def worth(self, policy: str) -> float | None:
        """Return the mean score over the repeats under a policy; None: one is unscored."""
        return _mean(self.scores[policy])

    @property
    def reported(self) -> float | None:
        """What this side's own number counts for the question."""
        stated = _mean(self.stated)
        return self.worth(self.policy) if stated is None else stated


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


@dataclass
class Side:
    """One side.

    Attributes:
        name: of its path.
        entries: of each task, what depends on settings, and the harness's or our own figures.
        merged: the runs of each task that has several.
        run: scored; None: there are no answers, or no scores of them.
        questions: all of them; [] of a scored folder, which has no answers.
        models: whose answers they are, as far as it is said.
        passed_over: rows that are no answers.
    """

    name: str
    entries: dict[str, ComparedEntry] = field(default_factory=dict)
    merged: dict[str, list[ComparedEntry]] = field(default_factory=dict)
    run: ScoredRun | None = None
    questions: list[Answered] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    passed_over: int = 0

    def asked(self, task: str) -> set[bytes] | None:
        """Return the keys of the questions of a task that were answered; None: it is not told.

        Nor is it where ids are lines of a prediction file, which another side need not have.
        """
        for table in self.run.tables.values() if self.run is not None else ():
            if task in table.info.tasks and not table.answers.ids_are_lines:
                number = list(table.info.tasks).index(task)
                return set(table.answers.keys[table.answers.tasks == number].tolist())
        return None


def read_side(path: Path, scratch: Path, name: str) -> Side:
    """Read what `score` reads, results files, run folders or scored folders.

    Args:
        path: of the side.
        scratch: folder for its scores, if it is not scored; entries read them later.
        name: of its scored run.

    Raises:
        PredictionError: a file is broken, there is nothing of tasks of this package, or two results
            of one task that cannot be merged.
        DataError: the files of a scored folder contradict each other.
    """
    side, places = Side(str(path)), list(results_under(path))
    try:
        plan: Plan | None = plan_paths([path])
    except NothingRecognised:
        plan = None
    if plan is not None:
        _read_answers(side, plan)
        if not side.questions:
            raise PredictionError(f"{path} has no answers that can be scored.")
        score_paths([path], scratch)
        side.run = read_run(scratch, name)
        places = [place for place in places if not place.is_dir()]
    else:
        places = places or find_results([path])
        if len(places) == 1 and places[0].is_dir():
            side.run = read_run(places[0], name)
    side.entries, side.merged = _entries(path, places, scratch if plan else None)
    if not side.entries:
        raise PredictionError(f"{path} has no results of tasks of this package.")
    return side


def _entries(
    path: Path, places: Sequence[Path], scratch: Path | None
) -> tuple[dict[str, ComparedEntry], dict[str, list[ComparedEntry]]]:
    """Return what is known of each task, and the runs of those that have several.

    It is what results files say, or else what was scored.
    """
    found: dict[str, list[ComparedEntry]] = {}
    for place in places:
        results = read_results(place)
        read = of_folder(results) if isinstance(results, ScoredFolder) else of_file(results)
        for entry in read:
            found.setdefault(entry.task, []).append(entry)
    several = {name: own for name, own in found.items() if len(own) > 1}
    if several and scratch is None:
        name, own = next(iter(several.items()))
        raise PredictionError(
            f"{path} has two results of {name}: {own[0].file} and {own[1].file}. Name the one to "
            "compare."
        )
    entries = {name: own[0] for name, own in found.items() if name not in several}
    if scratch is not None:
        known = {str(entry.signature.get("task")) for entry in entries.values()}
        for entry in of_folder(read_scored_folder(scratch)):
            if entry.task not in known:
                entries[entry.task] = entry
    return entries, several


def _read_answers(side: Side, plan: Plan) -> None:
    found: dict[tuple[str, str, str, int], Answered] = {}
    for file, row, read in plan.rows():
        if isinstance(read, Unusable):
            side.passed_over += 1
            continue
        for sample in read:
            _add(found, sample, row, file)
    side.questions = list(found.values())
    models = (file.recorded.model for file in plan.files)
    side.models = list(dict.fromkeys(model for model in models if model))


def _add(
    found: dict[tuple[str, str, str, int], Answered],
    sample: Sample,
    row: Mapping[str, Any],
    file: InputFile,
) -> None:
    benchmark = benchmark_of_table(sample.table)
    task = tables()[sample.table].tasks[sample.task]
    key = (sample.table, sample.task, sample.id, sample.order)
    if key not in found:
        label = f"{benchmark.name} {benchmark.pairing_label(task)}".strip()
        facts = _facts(row, file, sample)
        policy = file.reasoning
        is_line = benchmark.ids_may_be_lines and sample.id == str(sample.order)
        golds = tuple(sample.golds)
        found[key] = Answered(
            sample.task, label, sample.id, sample.order, is_line, golds, policy, facts
        )
    own = found[key]
    own.texts.append(sample.response)
    own.stated.append(_stated(row, file))
    scored = score_sample(sample, own.policy)
    for policy in POLICIES:
        counted = scored if policy == own.policy else sample.other or scored
        own.scores.setdefault(policy, []).append(counted.score)
    reply = sample.reply or {}
    if reply.get("finish_reason") is not None:
        own.capped = bool(own.capped) or reply["finish_reason"] == "length"


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and value == value else None


def _stated(row: Mapping[str, Any], source: InputFile) -> float | None:
    """Return the score that a row of a log states."""
    if is_log_row(row):
        values = (_number(row.get(name)) for name in _STATED)
        return next((value for value in values if value is not None), None)
    if isinstance(row.get("judge"), bool):
        return float(row["judge"])
    score = row.get("sample_score")
    value = score.get("score", {}).get("value") if isinstance(score, Mapping) else None
    return _number(value.get("acc")) if isinstance(value, Mapping) else None


def _facts(row: Mapping[str, Any], file: InputFile, sample: Sample) -> SideFacts:
    run = file.recorded.signature
    known: dict[str, Any] = {"document": sample.document, "truncated": sample.truncated}
    if run is not None:
        # What a signature does not state is null there.
        cut = (run["limit"], run["tokenizer_sha256"] or run["tokenizer"], run["truncation"])
        known |= {
            "template": run["template_sha256"],
            "cut": None if run["truncation"] is None else cut,
            "chat": None if run["chat"] is None else (run["chat"], run["chat_sha256"]),
            "stop": _stop(run["generation"]),
        }
    if is_log_row(row):
        prompt = prompt_of(row)
        known["prompt"] = prompt.get("sha256")
        known["template"] = prompt.get("template_sha256") or known.get("template")
        if isinstance(row.get("arguments"), dict):
            generation, _ = requests_of(row)
            known["stop"] = _stop(generation[0]) if generation else known.get("stop")
    return SideFacts(**known)


def _stop(generation: Any) -> tuple[Any, ...] | None:
    """Return output budget and stop strings of generation arguments."""
    if not isinstance(generation, Mapping):
        return None
    until = generation.get("until") or []
    texts = [until] if isinstance(until, str) else list(until)
    return generation.get("max_gen_toks"), tuple(sorted(map(str, texts)))
