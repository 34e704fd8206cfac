"""What the checks of a task look at: its results, its log, its data here, and its prompts again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, tee
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.benchmarks.results import ResultsFile, TaskResult
from lm_eval_longbench.catalog.model import Task
from lm_eval_longbench.catalog.users import KEY as DEFINITION
from lm_eval_longbench.catalog.users import changed
from lm_eval_longbench.check.verification import DIFFERENT, NOT_CHECKABLE, Check, all_of
from lm_eval_longbench.data.open import MISSING, Documents, stored
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.prompts.tokenizer import is_here, load_tokenizer
from lm_eval_longbench.prompts.tokens.fast import tokenizer_sha256
from lm_eval_longbench.prompts.truncation import truncate
from lm_eval_longbench.records.log import LogRow, at, read_log
from lm_eval_longbench.signature.signature import is_local, is_sample, package_versions

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class LoggedTask:
    """A task of a results file that this package knows, and what its checks look at.

    What is not here is a text that says why. Nothing is downloaded.

    Attributes:
        result: what the results file says of it.
        rows: of its sample log; empty without one.
        results: the whole file.
        data_dir: where local data is; None: nobody says.
    """

    result: TaskResult
    rows: Sequence[LogRow]
    results: ResultsFile
    data_dir: str | None

    @property
    def run(self) -> Mapping[str, Any]:
        """The ingredients of its signature, as it wrote them."""
        return self.result.run

    @cached_property
    def own(self) -> Task:
        """The task of this package that it signs as, with what a user's task file changes."""
        definition = self.result.metadata.get(DEFINITION) or {}
        return changed(find_task(str(self.run.get("task"))), definition)

    @cached_property
    def benchmark(self) -> Benchmark:
        """Its benchmark."""
        return benchmark_of(self.own)

    def other_package(self, name: str) -> str:
        """Return the version of a package in the run, if another one is here; "": it is not."""
        recorded = (self.run.get("packages") or {}).get(name)
        return "" if recorded == package_versions()[name] else str(recorded)

    @property
    def other_jieba(self) -> str:
        """That another jieba segments the answers here than in the run; "": none does."""
        if not self.own.segmented or not self.other_package("jieba"):
            return ""
        return (
            f"Recomputed with jieba {package_versions()['jieba']} instead of "
            f"{self.other_package('jieba')}, which segments the answers."
        )

    @property
    def scored_by_others(self) -> str:
        """Why other scores need not be wrong; "": the same rules made them."""
        metrics, ours = self.run.get("metrics"), self.benchmark.metrics
        if metrics != ours:
            return f"Scored with metrics {metrics}; this package has {ours}."
        return self.other_jieba

    @cached_property
    def data(self) -> Documents | str:
        """The data that its signature names."""
        label, place = self.run.get("data"), self.data_dir
        own = self.benchmark.asked(self.own, self.result.config.get("dataset_name")) or self.own
        if is_sample(label):
            place = "sample"
        elif is_local(label) and place is None:
            return "It is a file of the user's own: name it with the option data_dir."
        try:
            if not is_sample(label) and not is_local(label):
                if stored([self.benchmark], [own.dataset]).state != MISSING:
                    place = None
                elif place is None:
                    return (
                        f"{label} is not on this machine: `lm-eval-longbench prepare` downloads "
                        "it, or name a copy with the option data_dir."
                    )
            return self.benchmark.load(own, place)
        except (LongBenchError, KeyError, OSError) as error:
            return f"The data cannot be opened: {error}"

    @cached_property
    def documents(self) -> Documents | str:
        """The data, if it is that which was asked."""
        data = self.data
        if isinstance(data, str):
            return data
        if data.sha256 != self.run.get("data_sha256"):
            return f"Here is other data, {data.label}."
        return data

    @property
    def ids(self) -> list[str]:
        """Ids of its documents, in order; none where they are not here."""
        return [] if isinstance(self.documents, str) else self.documents.ids

    def place(self, row: LogRow) -> int | None:
        """Return the row number in the documents of a log row; None: it is not there.

        The number in the log is the place; the id must be that of the question there.
        """
        is_there = row.index < len(self.ids) and self.ids[row.index] == row.name
        return row.index if is_there else None

    @property
    def first_pass(self) -> str:
        """The table whose answers its prompts embed; "" for none."""
        return self.benchmark.tables[self.own.table].first_pass

    @cached_property
    def reasoning(self) -> Mapping[str, str] | str:
        """The reasoning of pass one by question, from its log of the same run."""
        wanted = (self.first_pass, self.run.get("data"))
        if (self.result.metadata.get("longbench") or {}).get("cot_samples") is None:
            for other in self.results.tasks:
                if (other.run.get("task"), other.run.get("data")) == wanted and other.log:
                    try:
                        return {row.name: row.generated[0][0] for row in read_log(other.log)}
                    except (LongBenchError, IndexError) as error:
                        return f"The log of pass one cannot be read: {error}"
        return "Pass one was another run: its log is not beside these results."


# ---------------------------------------------------------------------- prompts

KIND, CUT = "prompts", "cut prompts"
# Prompts that had to make room for a chat template were cut to fewer tokens than the limit.
_FURTHER = 128
# Tokens that the truncation rules keep at least.
_LEAST = 2
_WRONG = "Other prompts were sent than the log, the data and the options say."


def open_tokenizer(task: TaskResult, given: str | None) -> PreTrainedTokenizerBase | str:
    """Return the tokenizer that cut the prompts of a run; a text: why it is not here.

    The one that the user gives may be downloaded, others are not.
    """
    name, stated = given or str(task.run.get("tokenizer")), task.run.get("tokenizer_sha256")
    if given is None and not is_here(name):
        return f"The tokenizer {name!r} is not on this machine: name it with the option tokenizer."
    # Never `trust_remote_code`: a results file must not make this machine run anything.
    named = ("revision", "pretrained", "model")
    wanted = {key: task.metadata[key] for key in named if key in task.metadata}
    try:
        tokenizer = load_tokenizer(name, wanted)
        found = tokenizer_sha256(tokenizer)
    except LongBenchError as error:
        return str(error)
    if found == stated:
        return tokenizer
    return (
        f"The tokenizer {name!r} here is another than the one that cut: sha256 {found} instead "
        f"of {stated}. Name the right one with the option tokenizer."
    )


def check_prompts(task: LoggedTask, tokenizer: str | None) -> Iterator[Check]:
    """Yield the check of the whole prompts and, if there are any, of the cut ones.

    `tokenizer` is the one that cut; None: the one that the signature names.
    """
    problem = ""
    if task.own.retrieved:
        problem = "They hold retrieved chunks, which the log does not keep."
    elif task.run.get("template_sha256") != task.own.prompt_sha256:
        problem = "They are from another version of the template."
    elif task.own.document and isinstance(task.documents, str):
        problem = task.documents
    elif task.first_pass and isinstance(task.reasoning, str):
        problem = task.reasoning
    if problem:
        yield Check(KIND, KIND, NOT_CHECKABLE, f"{len(task.rows)} rows", None, problem)
        return
    whole = [row for row in task.rows if not row.prompt["truncated"]]
    cut = [row for row in task.rows if row.prompt["truncated"]]
    if whole:
        wrong = [
            at(row, "had another prompt")
            for row, text in zip(whole, _rendered(task, whole), strict=True)
            if not _is(row, text)
        ]
        yield all_of(KIND, len(whole), wrong, "the hash of the rendered prompt", _WRONG)
    if cut:
        yield _cuts(task, cut, open_tokenizer(task.result, tokenizer))


def _is(row: LogRow, text: str) -> bool:
    return text_sha256(text) == row.prompt["sha256"]


def _rendered(task: LoggedTask, rows: Sequence[LogRow]) -> Iterator[str]:
    """Yield the whole prompt of each row; "" where its document or reasoning is not known."""
    for row in rows:
        document = _document(task, row)
        try:
            yield "" if document is None else task.benchmark.render(task.own, document)
        except LongBenchError:
            yield ""


def _document(task: LoggedTask, row: LogRow) -> Mapping[str, Any] | None:
    """Return what the template of a row's prompt is filled with; None: it is not known."""
    if task.first_pass and not isinstance(task.reasoning, str):
        return {**row.doc, "cot": task.reasoning[row.name]} if row.name in task.reasoning else None
    if isinstance(task.documents, str):  # the prompt holds none
        return row.doc
    place = task.place(row)
    if place is None:
        return None
    document = task.documents.rows[place]
    return document if task.run.get("context") is None else {**document, "context": ""}


def _cuts(
    task: LoggedTask, rows: Sequence[LogRow], tokenizer: PreTrainedTokenizerBase | str
) -> Check:
    """Return the check of cut prompts; their limit is the official one, or the model's."""
    rule, limit = task.benchmark.rule, task.run.get("limit") or 0
    problem = tokenizer
    if not isinstance(tokenizer, str):
        problem = ""
        if rule.__name__ != task.run.get("truncation") or limit < _LEAST:
            problem = "The signature names no known truncation rule and limit."
    if isinstance(tokenizer, str) or problem:
        return Check(CUT, CUT, NOT_CHECKABLE, f"{len(rows)} rows", None, str(problem))
    official = str(task.run.get("limit_source")).startswith("truncate_to=")
    fewer = range(limit - 1, (limit if official else max(_LEAST, limit - _FURTHER)) - 1, -1)
    texts, again = tee(_rendered(task, rows))
    unlike = []
    for row, text, cut in zip(rows, again, truncate(texts, tokenizer, limit, rule), strict=True):
        further = (next(truncate([text], tokenizer, tokens, rule)).text for tokens in fewer)
        if not any(_is(row, own) for own in chain([cut.text], further)):
            unlike.append(at(row, "had another prompt"))
    status, meaning = NOT_CHECKABLE, _WRONG
    if task.other_package("tokenizers"):
        meaning = (
            f"They were cut again with tokenizers {package_versions()['tokenizers']} instead of "
            f"{task.other_package('tokenizers')}."
        )
    elif not official:
        meaning = (
            f"They are not cut at the limit nor within {_FURTHER} tokens of it. A long system "
            "instruction or chat template may have taken more room."
        )
    else:
        status = DIFFERENT
    return all_of(CUT, len(rows), unlike, "the hash of the prompt, cut again", meaning, status)
