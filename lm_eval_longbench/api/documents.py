"""The questions of a task with all that is known of them, and the prompt of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from lm_eval_longbench.benchmarks.asking import asking_of
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task, read_options
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.options import KEY, Options
from lm_eval_longbench.prompts.prepare import prepare, question_at
from lm_eval_longbench.prompts.tokenizer import load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from lm_eval_longbench.benchmarks.asking import Asking
    from lm_eval_longbench.data.open import Documents as Stored


class PromptText(str):
    """A finished prompt, before any chat template: a text that knows more of itself.

    Attributes:
        question_at: the character where its question begins: all that follows the document. 0
            where there is no document; None where nothing follows it, or it cannot be told.
        tokens: tokens before it was cut; None where nobody had to count them.
        truncated: whether it was cut.
    """

    question_at: int | None
    tokens: int | None
    truncated: bool


@dataclass(frozen=True, eq=False)
class Document(Mapping[str, Any]):
    """One question. As a mapping it has the fields of its row in the data.

    Attributes:
        task: name of the task that asks it.
        index: its row in the task's data, from 0.
        row: the fields.
        document_sha256: of its long text; None where that is empty.
    """

    task: str
    index: int
    row: Mapping[str, Any] = field(repr=False)
    document_sha256: str | None = field(repr=False)
    _asking: Asking = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.row[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.row)

    def __len__(self) -> int:
        return len(self.row)

    @property
    def id(self) -> str:
        """Its id in the data."""
        return str(self.row.get("_id", self.row.get("id", self.index)))

    @property
    def golds(self) -> list[str]:
        """The gold answers."""
        return self._asking.benchmark.golds(self.row)

    @property
    def length(self) -> int:
        """Characters of its long text; `doc["length"]` is what the data states, where it does."""
        return len(self.row["context"])

    @property
    def budget(self) -> int:
        """Tokens that an answer may officially have."""
        return self._asking.task.budget

    @property
    def prompt(self) -> PromptText:
        """The whole official prompt, not cut."""
        return prompt(self.task, self)

    @property
    def question_at(self) -> int | None:
        """The character of the whole prompt where its question begins, see `PromptText`."""
        return self.prompt.question_at


class Documents(Sequence[Document]):
    """The questions of a task; each is read when it is asked for.

    Attributes:
        task: its name.
        label: of the data, as results state it.
        sha256: of the file that they are read from.
        official: whether they are the pinned official ones.
    """

    def __init__(self, task: str, asking: Asking, stored: Stored) -> None:
        self.task = task
        self.label, self.sha256, self.official = stored.label, stored.sha256, stored.official
        self._asking, self._stored = asking, stored

    def __len__(self) -> int:
        return len(self._stored.asked)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> list[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | list[Document]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = self._stored.asked[index]  # IndexError as of any sequence
        sha256 = self._stored.context_sha256[number]
        return Document(self.task, number, self._stored.rows[number], sha256, self._asking)

    def __repr__(self) -> str:
        return f"<{len(self)} documents of {self.task}, {self.label}>"


def load(task: str, **options: Any) -> Documents:
    """Return the questions of a task with all that is known of them.

    The pinned official data is downloaded once and checked by its hash; with
    `data_dir="sample"` it is the embedded sample.

    Args:
        task: name of the task, such as "longbench_v1_qasper".
        options: keys of the `longbench` metadata: `data_dir`, `only`, `retrieved_context`, ...

    Raises:
        UnknownNameError: there is no such task or option; names the nearest.
        OptionError: an option has an impossible value.
        DataError: the data is not there or damaged.
    """
    own = find_task(task)
    benchmark = benchmark_of(own)
    chosen = read_options({KEY: options})
    asking = asking_of(benchmark, own, chosen, chosen.repeats or benchmark.repeats)
    return Documents(task, asking, asking.load())


def prompt(
    task: str,
    doc: Mapping[str, Any],
    *,
    tokenizer: str | PreTrainedTokenizerBase | None = None,
    truncate_to: int | None = None,
) -> PromptText:
    """Return the official prompt of a question, before any chat template.

    Args:
        task: name of the task.
        doc: a document of `load`, or a row of the official data.
        tokenizer: of the model, by name or folder or as an object; cuts the prompt.
        truncate_to: longest prompt in tokens; a longer one loses its middle, as officially. None:
            the whole prompt.

    Raises:
        UnknownNameError: there is no such task.
        PromptError: a field of the template is missing in the question or is not a text.
        OptionError: one of `tokenizer` and `truncate_to` is given without the other.
        TokenizerError: the tokenizer cannot be loaded.
    """
    if (tokenizer is None) != (truncate_to is None):
        raise OptionError("tokenizer and truncate_to go together: one cuts to the other's number.")
    Options(truncate_to=truncate_to)
    own = find_task(task)
    benchmark = benchmark_of(own)
    if isinstance(doc, Document) and doc.task == task:
        whole, question = doc._asking.render(doc.row), doc._asking.question(doc.row)
    else:
        whole, question = benchmark.render(own, doc), benchmark.question(own, doc)

    def loaded() -> PreTrainedTokenizerBase:
        if tokenizer is None or isinstance(tokenizer, str):
            return load_tokenizer(tokenizer, {})
        return tokenizer

    (finished,) = prepare([whole], truncate_to, loaded, benchmark.rule)
    text = PromptText(finished.text)
    text.question_at = question_at(finished.text, whole, question)
    text.tokens, text.truncated = finished.tokens, finished.truncated
    return text
