"""LongBench v2: all questions in five modes, and the zero-shot prompt by domain.

Source: LongBench at commit 2e00731 (prompts, modes, the letter that is read, order of operations)
and the pinned data (names, counts). Published figures: the README of LongBench v2, Table 2 of its
paper (Bai et al., 2024) and a third-party table; each row names its source. A row whose sub-scores,
weighted by the official numbers of questions, do not give its overall score has a caveat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from lm_eval_longbench.benchmarks.base import (
    COUNTS as COUNT_METRICS,
)
from lm_eval_longbench.benchmarks.base import (
    PUBLISHED,
    SAMPLES,
    Asking,
    Benchmark,
    Group,
    Metric,
    Place,
    Protocol,
    Published,
    Source,
    Table,
    Task,
)
from lm_eval_longbench.benchmarks.sample import (
    Read,
    Sample,
    Scored,
    Unusable,
    content_hash,
    is_texts,
    text_id,
)
from lm_eval_longbench.figures.answers import Answers
from lm_eval_longbench.figures.figure import Figure, Unit, leaf, share
from lm_eval_longbench.figures.means import percent_of, running_total
from lm_eval_longbench.metrics.longbench_v2 import CHOICES, Verdict, judge
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.prompts.longbench_v2 import render
from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.prompts.truncation import RULE_V2

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents
    from lm_eval_longbench.options import Options

# ---------------------------------------------------------------------- questions and modes

QUESTIONS = 503
# Official name of each domain by its short form in task names, in the official order.
DOMAINS: Mapping[str, str] = MappingProxyType(
    {
        "single_document_qa": "Single-Document QA",
        "multi_document_qa": "Multi-Document QA",
        "long_in_context_learning": "Long In-context Learning",
        "long_dialogue_history": "Long-dialogue History Understanding",
        "code_repository": "Code Repository Understanding",
        "long_structured_data": "Long Structured Data Understanding",
    }
)
# Questions of the official set that have each value, by dimension. Figures are broken down by
# difficulty and length; a question's length is that of its document.
COUNTS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "domain": dict(zip(DOMAINS.values(), (175, 125, 81, 39, 50, 33), strict=True)),
        "difficulty": {"easy": 192, "hard": 311},
        "length": {"short": 180, "medium": 215, "long": 108},
    }
)
SUB_SCORES = (*COUNTS["difficulty"], *COUNTS["length"])
# Official questions behind each official figure.
OFFICIAL_QUESTIONS = {"overall": QUESTIONS, **COUNTS["difficulty"], **COUNTS["length"]}
ALL = "all"  # the dataset of tasks that ask all domains
NAME = "longbench_v2"
NO_CONTEXT, COT, COT_ANSWER, RAG = (
    f"{NAME}_{mode}" for mode in ("no_context", "cot", "cot_answer", "rag")
)
_CHOICE_FIELDS = tuple(f"choice_{letter}" for letter in CHOICES)
_ASKED = ("question", *_CHOICE_FIELDS)


@dataclass(frozen=True)
class Mode:
    """One way of asking all questions.

    Attributes:
        task: name of its task and its table.
        title: in print; "" for the usual one.
        template: name of its template.
        budget: official output budget in tokens.
        published: modes of published rows that are comparable.
    """

    task: str
    title: str
    template: str
    budget: int = 128
    published: tuple[str, ...] = ()


_MODES = (
    Mode(NAME, "", "0shot", published=("direct",)),
    Mode(NO_CONTEXT, "no context", "0shot_no_context"),
    Mode(COT, "CoT, one call", "0shot_cot", 1024),
    Mode(COT_ANSWER, "CoT", "0shot_cot_ans", published=("CoT",)),
    Mode(RAG, "RAG", "0shot_rag"),
)
_TEMPLATES = {mode.task: mode.template for mode in _MODES}

# ---------------------------------------------------------------------- the benchmark

PERCENT = Unit("percent", 100, 100, 1)
OFFICIAL, ACCURACY, STRICT, COMPENSATED = (
    "official",
    "accuracy (failed are wrong)",
    "strict (missing and failed are wrong)",
    "official, compensated (no letter counts 0.25)",
)
_OVERALL = "overall"
_SHOWN = (_OVERALL, *SUB_SCORES)


def _rounded(values: np.ndarray, number: int) -> float:
    return percent_of(running_total(values), number, 1)


def _published_place(column: str) -> Place | None:
    return (OFFICIAL, column) if column in _SHOWN else None


class LongBenchV2(Benchmark):
    """503 questions of four choices; a headline a mode."""

    name = family = NAME
    short, sign, title, prepared_as = "v2", "lb-v2", "LongBench v2", "v2"
    metrics = "1.0"
    task_version = "1.0"
    source = Source(
        repo="zai-org/LongBench-v2",
        revision="2b48e494f2c7a2f0af81aae178e05c7e1dde0fe9",
        file="data.json",
        sha256="15d61c22d92c96900b3c4948b6aeea218d3214b676a65df48e7b8555604c7fe2",
        size=465_490_535,
        converted=465_490_535,
    )
    rule = RULE_V2
    unit = PERCENT
    unit_note = "Percent, one decimal."
    one_message = True
    sample_fields: Mapping[str, str] = {
        "compensated": "share",
        "unparsed": "flag",
        "dropped": "flag",
    }
    counted_flags = ("unparsed",)
    may_be_unknown = frozenset({"domain"})
    file_kind = "v2_results"
    fields = ("_id", "domain", "sub_domain", "difficulty", "length", *_ASKED, "answer", "context")
    counts = COUNTS
    samples = SAMPLES / NAME
    published = Published(
        PUBLISHED / "longbench_v2.csv",
        _published_place,
        "cot",
        {"no": "direct", "yes": "CoT"},
        "",
        tuple((OFFICIAL, name) for name in _SHOWN),
        1,
    )

    def __init__(self) -> None:
        dimensions = {name: tuple(values) for name, values in COUNTS.items()}
        self.tables = MappingProxyType(
            {
                mode.task: Table(
                    mode.task,
                    self.name,
                    self.title,
                    mode.title,
                    {mode.task: _task(mode.task, mode, ALL, mode.task, QUESTIONS)},
                    dimensions,
                    mode.published,
                    COT if mode.task == COT_ANSWER else "",
                )
                for mode in _MODES
            }
        )
        tasks = {name: table.tasks[name] for name, table in self.tables.items()}
        for code, domain in DOMAINS.items():
            name = f"{NAME}_{code}"
            tasks[name] = _task(name, _MODES[0], code, domain, COUNTS["domain"][domain])
        self.tasks = MappingProxyType(tasks)

    # ------------------------------------------------------------------ asking

    def load(self, task: Task, data_dir: str | None) -> Documents:
        """Open all questions or one domain's; a domain of the pinned file is official, too."""
        from lm_eval_longbench.data.load_array import load_array  # slow to import

        domain = DOMAINS.get(task.dataset)
        return load_array(self, data_dir, "questions", {"domain": domain} if domain else {})

    def prepared(self) -> Iterator[tuple[str, Task]]:
        """Yield each domain."""
        return (own for own in super().prepared() if own[1].dataset != ALL)

    def row_problem(self, row: Any) -> str | None:
        """Return what is wrong with a decoded row, or None if it is a question of LongBench v2.

        The document may be empty, and `sub_domain` any text: neither is needed to ask or to score.
        """
        from lm_eval_longbench.data.rows import schema_problem, value_problem

        problem = schema_problem(row, self.fields, self.fields)
        if problem:
            return problem
        for name in _ASKED:
            if not row[name].strip():
                return f"has an empty {name}"
        if row["answer"] not in CHOICES:
            return f"has the answer {row['answer']!r}, not one of {', '.join(CHOICES)}"
        return value_problem(row, COUNTS)

    def asking(self, task: Task, options: Options, repeats: int) -> Asking:
        from lm_eval_longbench.benchmarks import longbench_v2_asking as own

        kinds = {COT: own.CotAsking, COT_ANSWER: own.CotAnswerAsking, RAG: own.RagAsking}
        return kinds.get(task.name, Asking)(self, task, options, repeats)

    def render(self, task: Task, row: Mapping[str, Any]) -> str:
        """Return a prompt; of pass two the row's `cot` is the reasoning, of RAG it has chunks."""
        if task.name == RAG:
            from lm_eval_longbench.benchmarks.longbench_v2_asking import render_rag
            from lm_eval_longbench.options import Options

            return render_rag(task.template, row, Options().rag_top_n)
        return render(row, task.template, row.get("cot"))

    def generation(self, task: Task) -> dict[str, Any]:
        """Sampled at temperature 0.1, within the mode's output budget."""
        return {"until": [], "max_gen_toks": task.budget, "temperature": 0.1}

    def protocol(self, task: Task, *, thinking: bool = False) -> Protocol:
        """Limits are the official one and that of Claude."""
        return Protocol((120_000, 200_000), "on", (task.budget,), 0.1, 1)

    def golds(self, doc: Mapping[str, Any]) -> list[str]:
        """Return the right letter."""
        return [doc["answer"]]

    # ------------------------------------------------------------------ judging

    def question_problem(self, doc: Mapping[str, Any], task: Task) -> str | None:
        """Return why a row's question cannot be scored against, or None."""
        if text_id(doc.get("_id")) is None:
            return "no field '_id' with a text"
        known: dict[str, Sequence[str]] = {"answer": CHOICES}
        for name, valid in (
            known | {own: tuple(COUNTS[own]) for own in ("difficulty", "length")}
        ).items():
            if name not in doc:
                return f"no field {name!r}"
            if doc[name] not in valid:
                return f"{name!r} is not one of {', '.join(valid)}"
        domains = tuple(COUNTS["domain"])
        if doc.get("domain") is not None and doc["domain"] not in domains:
            return f"'domain' is not one of {', '.join(domains)}"
        if not isinstance(doc.get("sub_domain"), str | None):
            return "'sub_domain' is not a text"
        return None

    def sample(
        self,
        doc: Mapping[str, Any],
        task: Task,
        repeat: int,
        response: str | None,
        *,
        index: int = 0,
        truncated: bool | None = None,
        document: str | None = None,
    ) -> Sample:
        """Return an answer; one of a run that is empty would not be in an official file."""
        asked = [doc.get(name) for name in _ASKED]
        return Sample(
            table=task.table,
            task=task.counted,
            id=text_id(doc["_id"]) or "",
            order=0,
            repeat=repeat,
            response=response,
            golds=[doc["answer"]],
            shown={
                "domain": doc.get("domain"),
                "sub_domain": doc.get("sub_domain"),
                "difficulty": doc["difficulty"],
                "length": doc["length"],
            },
            truncated=truncated,
            content=content_hash(*asked) if is_texts(asked) else None,
            document=document,
            dropped=not response,
        )

    def score(self, sample: Sample, reasoning: str = DROP, *, extras: bool = False) -> Scored:
        """Return what an answer is worth; the letter is read again where the answer is kept."""
        (gold,) = sample.golds
        if sample.response is None:
            verdict = Verdict(sample.stored, sample.stored == gold, failed=False)
        else:
            verdict = judge(sample.response, gold, reasoning)
        differs = sample.has_stored and sample.stored != verdict.choice
        return Scored(
            verdict.accuracy,
            verdict.failed,
            {
                **sample.shown,
                "choice": verdict.choice,
                "unparsed": verdict.unparsed,
                "compensated": verdict.compensated,
                "dropped": sample.dropped,
            },
            differing=(sample.stored, verdict.choice) if differs else None,
        )

    def failed_before(self, task: Task, doc: Mapping[str, Any]) -> bool | None:
        """Say whether pass one of chain of thought failed; None: a cut prompt does not tell.

        The prompt of pass two embeds the reasoning and no document: without a reasoning it is made
        of the question alone, whose hash the log has.
        """
        if task.name != COT_ANSWER:
            return False
        if doc["prompt"]["sha256"] == text_sha256(render(doc, task.template, "")):
            return True
        return None if doc["prompt"]["truncated"] else False

    # ------------------------------------------------------------------ figures

    def pairing_label(self, task: Task) -> str:
        """Modes ask the same questions."""
        return ""

    def figures(self, answers: Answers) -> list[Figure]:
        """Return every figure four times, in percent.

        - `official`: what the official scripts print for the same answers: a failed call of a run
          of ours is in no denominator, as they write no line for it; every line of their own files
          is.
        - `accuracy`: over every answer given, a failed one is wrong: `acc` of a run.
        - `strict`: a missing or failed answer is wrong; over the official 503 questions where the
          data are those, else over the questions that were answered.
        - `compensated`: the official mode in which an answer that names no letter counts 0.25.

        A question's figure is the mean over its repeats. Domains are None where a question's is not
        known, strict figures where there are more questions than official ones.
        """
        given = answers.given
        written = given & ~answers.flags("dropped")
        worth = np.where(given & ~answers.failed, answers.scores, 0.0)
        strict = np.add.accumulate(worth, axis=1)[:, -1] / answers.repeats
        compensated = answers.fields.get("compensated", answers.scores)
        ways = (
            (OFFICIAL, answers.means(written), written, ("official",)),
            (ACCURACY, answers.means(given), given, ("accuracy",)),
            (STRICT, strict, given, ("strict",)),
            (
                COMPENSATED,
                answers.means(written, compensated),
                written,
                ("official", "compensated"),
            ),
            # The same of every answer given, which reports have no row for.
            ("", answers.means(given, compensated), given, ("accuracy", "compensated")),
        )
        return [figure for way in ways for figure in self._figures(answers, *way)]

    def _figures(
        self,
        answers: Answers,
        section: str,
        values: np.ndarray,
        counted: np.ndarray,
        path: tuple[str, ...],
    ) -> Iterator[Figure]:
        """Yield one way's figures: overall, and by difficulty, length and domain."""
        missing_known = section == STRICT and answers.official
        for dimension, value, has, number, known in _parts(answers):
            chosen = has & counted.any(axis=1)
            absent = number - int(np.count_nonzero(chosen)) if missing_known else 0
            in_file = dimension != "domain" and (section != STRICT or missing_known)
            tree = leaf(
                answers,
                f"{section}/{value}",
                chosen,
                values,
                counted,
                absent=max(0, absent),
                binary=answers.repeats == 1 and "compensated" not in path,
                defined=known and absent >= 0,
            )
            detail = dimension == "domain" and section != OFFICIAL
            own = (*path, value) if in_file else ()
            yield Figure(
                section, value, tree, PERCENT, _rounded, own, detail=detail, hidden=not section
            )

    def question_figures(self, answers: Answers) -> list[Figure]:
        """Return `acc`, its parts, `acc_compensated` and `unparsed`; of a reasoning `acc_one_call`."""
        given = answers.given
        means, unparsed = (
            answers.means(given),
            share(answers, "unparsed", answers.flags("unparsed")),
        )
        if answers.table.name == COT:
            tree = leaf(answers, "acc_one_call", given.any(axis=1), means, given)
            return [Figure(ACCURACY, _OVERALL, tree, PERCENT, metric="acc_one_call"), unparsed]
        found = []
        for dimension, value, has, _, _ in _parts(answers):
            if dimension != "domain":
                tree = leaf(answers, value, has & given.any(axis=1), means, given)
                metric = "acc" if value == _OVERALL else f"acc_{value}"
                found.append(Figure(ACCURACY, value, tree, PERCENT, metric=metric))
        worth = answers.means(given, answers.fields["compensated"])
        tree = leaf(answers, "acc_compensated", given.any(axis=1), worth, given)
        found.append(Figure(COMPENSATED, _OVERALL, tree, PERCENT, metric="acc_compensated"))
        return [*found, unparsed]

    def official(self, answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
        """Return what the official scripts print for the same answers.

        `compensated` is their other mode. `n` counts answers; `unparsed` and `failed` are among all
        that were given.
        """
        found = _nested(figures, "official")
        written = answers.given & ~answers.flags("dropped")
        return found | {
            "n": int(written.sum()),
            "unparsed": int(answers.flags("unparsed").sum()),
            "failed": int(answers.failed.sum()),
        }

    def parts(self, answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
        """Return `strict`, `accuracy` and, under `parts`, the counts behind each figure.

        Strict figures are None if it is not known which questions are missing, or if there are more
        of a kind than official ones.
        """
        strict: dict[str, Any] | None = _nested(figures, "strict")
        if not strict or None in strict.values():
            strict = None
        else:
            strict |= {"n": QUESTIONS * answers.repeats}
        accuracy = _nested(figures, "accuracy") | {"n": int(answers.given.sum())}
        return {"strict": strict, "accuracy": accuracy, "parts": dict(_counted(answers))}

    # ------------------------------------------------------------------ official files

    def is_official_row(self, row: Mapping[str, Any], stem: str) -> bool:
        """Whether a row has a question's id and answer with a response or a letter."""
        return "_id" in row and "answer" in row and ("response" in row or "pred" in row)

    def is_official_name(self, stem: str) -> bool:
        """Result files are named like models."""
        return False

    def official_table(self, row: Any, stem: str) -> str:
        """Return a file's mode: chain of thought shows in its rows, the others in its name."""
        if (isinstance(row, dict) and "response_cot" in row) or stem.endswith("_cot"):
            return COT_ANSWER
        if stem.endswith("_no_context"):
            return NO_CONTEXT
        return RAG if re.search(r"_rag_\d+$", stem) else NAME

    def read_official(self, row: Mapping[str, Any], index: int, table: Table, task: str) -> Read:
        """Return the sample of a result.

        Where there is a `response`, null for a failed call, it is read again; else `pred` counts,
        the letter that was taken from it (null: none).
        """
        own_task = table.tasks[table.name]
        problem = self.question_problem(row, own_task)
        if problem:
            return Unusable(problem)
        has_response, has_stored = "response" in row, "pred" in row
        if not has_response and not has_stored:
            return Unusable("neither a field 'response' nor a field 'pred'")
        response, stored = row.get("response"), row.get("pred") or None
        if not isinstance(response, str | None):
            return Unusable("'response' is not a text")
        if stored not in (None, *CHOICES):
            if not has_response:
                return Unusable("'pred' is neither null nor a letter from A to D")
            stored = str(stored)
        own = self.sample(row, own_task, 1, (response or "") if has_response else None)
        own.stored, own.has_stored, own.dropped = stored, has_stored, False
        return [own]

    # ------------------------------------------------------------------ in the harness

    def harness_metrics(self, task: Task) -> tuple[Metric, ...]:
        """Return accuracy, its parts and counts; a reasoning has one accuracy alone."""
        unparsed = Metric("unparsed", higher_is_better=False)
        if task.name == COT:
            return (Metric("acc_one_call"), unparsed, *COUNT_METRICS)
        parts = [Metric(f"acc_{name}", "mean_of_known") for name in SUB_SCORES]
        return (Metric("acc"), *parts, Metric("acc_compensated"), unparsed, *COUNT_METRICS)

    def groups(self) -> Iterator[Group]:
        """Yield the domains, with figures that every question has: the harness weighs others wrongly."""
        names = ("acc", "acc_compensated", "unparsed", *(one.name for one in COUNT_METRICS))
        members = tuple(f"{NAME}_{code}" for code in DOMAINS)
        yield Group(f"{NAME}_domains", members, names, by_size=True)


def _task(name: str, mode: Mode, dataset: str, label: str, questions: int) -> Task:
    return Task(
        name=name,
        table=mode.task,
        counted=mode.task,
        dataset=dataset,
        label=label,
        questions=questions,
        template=mode.template,
        budget=mode.budget,
        document=mode.task not in (NO_CONTEXT, COT_ANSWER),
        retrieved=mode.task == RAG,
    )


def _parts(answers: Answers) -> Iterator[tuple[str, str, np.ndarray, int, bool]]:
    """Yield dimension, value, its questions, their official number, and whether all are known."""
    yield _OVERALL, _OVERALL, np.ones(len(answers), bool), QUESTIONS, True
    for dimension in ("difficulty", "length", "domain"):
        known = bool((answers.dimensions[dimension] >= 0).all())
        for value, number in COUNTS[dimension].items():
            yield dimension, value, answers.has(dimension, value), number, known


def _counted(answers: Answers) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the counts behind each official figure."""
    for dimension, value, has, number, _ in _parts(answers):
        if dimension != "domain":
            own = answers.given & has[:, None]
            yield (
                value,
                {
                    "questions": int(np.count_nonzero(own.any(axis=1))),
                    "samples": int(own.sum()),
                    "failed": int((own & answers.failed).sum()),
                    "unparsed": int((own & answers.flags("unparsed")).sum()),
                    "dropped": int((own & answers.flags("dropped")).sum()),
                    "official_questions": number,
                },
            )


def _nested(figures: Sequence[Figure], part: str) -> dict[str, Any]:
    """Return the official values of a part's figures, nested by their paths."""
    found: dict[str, Any] = {}
    for figure in figures:
        if figure.path[:1] == (part,):
            place = found
            for name in figure.path[1:-1]:
                place = place.setdefault(name, {})
            place[figure.path[-1]] = figure.official
    return found


V2 = LongBenchV2()
