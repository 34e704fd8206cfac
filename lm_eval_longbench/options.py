"""The options a user gives: flags of the command line, or `--metadata '{"longbench": {...}}'`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from lm_eval_longbench.catalog.model import MOST_REPEATS
from lm_eval_longbench.errors import EmbeddingError, OptionError, UnknownNameError
from lm_eval_longbench.metrics.reasoning import DROP, POLICIES
from lm_eval_longbench.semantic.remote import check_recorded

KEY = "longbench"
RETRIEVERS = ("bm25", "embedding")
OVERLENGTH = ("truncate", "skip", "fail")
LOG_PROMPTS = ("excerpt", "full")
# What prompts hold: documents, or nothing in their place.
DOCUMENT, NONE = CONTEXTS = ("document", "none")
# The number of a repeat whose seed is left out, among the generation arguments of its request. It
# tells the repeats apart in the harness's response cache and is never sent.
REPEAT = "longbench_repeat"
# Options that `run`, `doctor` and `lock` have flags for.
FLAGS = ("truncate_to", "data_dir", "tokenizer", "repeats")


def flag(option: str) -> str:
    """Return the flag of one of FLAGS."""
    return f"--{option.replace('_', '-')}"


def in_flags(text: str) -> str:
    """Return a message of the library as the command line speaks: options are flags."""
    return re.sub(rf"the option ({'|'.join(FLAGS)})\b", lambda found: flag(found[1]), text)


def with_flags(metadata: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return --metadata with the options of flags in it.

    Args:
        metadata: of the command line or its config file.
        given: values by option; None: the flag is not there.

    Raises:
        OptionError: a flag and the metadata contradict each other.
    """
    options = metadata.get(KEY)
    if options is not None and not isinstance(options, Mapping):
        return dict(metadata)  # `Options` says what is wrong with it
    own = dict(options or {})
    for name, value in given.items():
        if value is None:
            continue
        if own.setdefault(name, value) != value:
            raise OptionError(
                f"{flag(name)} {value} and the metadata, where {name} is {own[name]!r}, contradict "
                "each other: give one of them."
            )
    return {**metadata, KEY: own} if own else dict(metadata)


def read_seed(given: Any) -> int | None:
    """Return the seed of `--gen_kwargs seed=...`: a whole number, or None: send no seed.

    Args:
        given: as the harness read it: a number, its digits, or "none" or "null" in any case.

    Raises:
        OptionError: it is something else.
    """
    if given is None or str(given).lower() in ("none", "null"):
        return None
    if isinstance(given, bool) or not str(given).isdecimal():
        raise OptionError(
            "seed must be a whole number, the seed of the first answer, or none to send no seed at "
            f"all; not {given!r}."
        )
    return int(given)


def _only(given: Any) -> dict[str, tuple[str, ...]]:
    """Check a selection by dimension; a single value counts as a list of one."""
    if not isinstance(given, Mapping):
        raise OptionError(
            f'Option \'only\' must be an object such as {{"language": "English"}}, not {given!r}.'
        )
    chosen = {}
    for dimension, values in given.items():
        if not isinstance(values, str | list | tuple):
            raise OptionError(
                f"Option 'only' must give {dimension!r} a text or a list of texts, not {values!r}."
            )
        chosen[dimension] = (values,) if isinstance(values, str) else tuple(values)
    return chosen


# Options whose value is a text, and those whose value is a number with its least value and unit.
_TEXTS = (
    "data_dir",
    "tokenizer",
    "embedding_model",
    "embedding_url",
    "cot_samples",
    "retrieved_context",
    "preset",
)
_NUMBERS = (
    ("truncate_to", 2, " tokens"),
    ("repeats", 1, ""),
    ("rag_top_n", 1, ""),
    ("chunk_size", 1, ""),
)
WHOLE_NUMBERS = frozenset(name for name, _, _ in _NUMBERS)
# And those that have a greatest value.
_MOST = {"repeats": MOST_REPEATS}
# Options that no model has as an argument: at the top level they are misplaced.
_OURS = frozenset(
    {"truncate_to", "overlength", "log_prompts", "data_dir", "repeats", "only", "context"}
    | {"cot_samples", "rag_top_n", "retrieved_context", "preset", "chunk_size", "retriever"}
)


def _check_not_misplaced(metadata: Mapping[str, Any]) -> None:
    """Refuse options that would be passed over without a word."""
    for name in metadata:
        if name in _OURS or (name == "reasoning" and metadata[name] in POLICIES):
            raise OptionError(
                f"{name!r} stands beside the model arguments. LongBench options go under one key "
                f'of the metadata: {{"{KEY}": {{"{name}": ...}}}}.'
            )
        if KEY not in metadata and difflib.get_close_matches(str(name).lower(), [KEY], cutoff=0.8):
            raise UnknownNameError("metadata key", name, [KEY])


@dataclass(frozen=True)
class Options:
    """Validated options; that the names in `only` and `preset` exist, `registry.read_options` says.

    Attributes:
        data_dir: folder or archive with the data, or "sample"; None: the pinned official set.
        truncate_to: longest prompt in tokens, cut in the middle as officially; None: the model's
            own limit.
        overlength: what to do with longer prompts: "truncate", "skip" the document, or "fail".
        tokenizer: name or folder of the evaluated model's tokenizer, if the model arguments do
            not name it.
        log_prompts: "excerpt" logs hash, head and tail of each prompt; "full" logs all of it.
        reasoning: whether `<think>...</think>` is dropped before an answer is scored ("drop") or
            scored with it ("keep"), as the official evaluations do.
        context: "document", or "none": prompts without documents, which is no official protocol;
            LongBench v2 has a task for it.
        preset: published model whose truncation and, for LongBench Pro, output budget and
            temperature are used; tasks of benchmarks without such a preset keep their own.
        thinking: the preset's settings for thinking scores.
        repeats: answers asked for each question, at most 256; None: the benchmark's default.
        only: LongBench Pro: keep the questions with these values of a dimension, such as
            {"language": "English", "token_length": ["8k", "16k"]}.
        embedding_model: LongBench Pro: model for the semantic similarity of summaries.
        embedding_url: LongBench Pro: OpenAI-compatible embeddings server to ask instead; a URL
            that may hold a secret is refused.
        cot_samples: LongBench v2, `_cot_answer`: sample log of `_cot`, or a folder with it.
        rag_top_n: tasks that retrieve: chunks that stand for the document.
        retrieved_context: the same: JSON Lines file with each question's ranked chunks; None:
            retrieve them here.
        chunk_size: the same: tokens (LongBench v2) or words (v1) of a chunk that is cut here;
            None: 512 and 200.
        retriever: the same: "bm25", or "embedding" by `embedding_model`.

    Raises:
        OptionError: a value has the wrong type, is out of range or may hold a secret.
    """

    data_dir: str | None = None
    truncate_to: int | None = None
    overlength: str = "truncate"
    tokenizer: str | None = None
    log_prompts: str = "excerpt"
    reasoning: str = DROP
    context: str = DOCUMENT
    preset: str | None = None
    thinking: bool = False
    repeats: int | None = None
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    embedding_model: str | None = None
    embedding_url: str | None = None
    cot_samples: str | None = None
    rag_top_n: int = 4
    retrieved_context: str | None = None
    chunk_size: int | None = None
    retriever: str = RETRIEVERS[0]

    def __post_init__(self) -> None:
        for name in _TEXTS:
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value):
                raise OptionError(f"Option {name!r} must be a non-empty string, not {value!r}.")
        for name, least, unit in _NUMBERS:
            value = getattr(self, name)
            if value is None and getattr(type(self), name) is None:  # the default
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                raise OptionError(f"Option {name!r} must be a whole number, not {value!r}.")
            if value < least:
                raise OptionError(f"Option {name!r} must be at least {least}{unit}, not {value}.")
            if value > _MOST.get(name, value):
                raise OptionError(
                    f"Option {name!r} must be at most {_MOST[name]}, not {value}: more answers to "
                    "one question are not scored."
                )
        if self.embedding_url and not self.embedding_model:
            raise OptionError(
                "Option 'embedding_url' needs 'embedding_model', the name of the model to ask the "
                "server for: another model gives other scores."
            )
        if not isinstance(self.thinking, bool):
            raise OptionError(f"Option 'thinking' must be true or false, not {self.thinking!r}.")
        if self.preset is None and self.thinking:
            raise OptionError(
                "Option 'thinking' chooses between a preset's settings: give 'preset' too. "
                "Thinking itself is switched on in the model."
            )
        if self.embedding_url:
            try:
                check_recorded(self.embedding_url)
            except EmbeddingError as error:
                raise OptionError(str(error)) from None
        object.__setattr__(self, "only", _only(self.only))
        for name, valid in (
            ("overlength", OVERLENGTH),
            ("log_prompts", LOG_PROMPTS),
            ("reasoning", POLICIES),
            ("context", CONTEXTS),
            ("retriever", RETRIEVERS),
        ):
            value = getattr(self, name)
            if value not in valid:
                raise OptionError(
                    f"Option {name!r} must be one of {', '.join(valid)}, not {value!r}."
                )

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any] | None) -> Options:
        """Read the options from the harness's metadata; without the key all are at their default.

        Raises:
            OptionError: the value under the key is not an object, or a value is impossible.
            UnknownNameError: a key does not exist; the message names the nearest valid one.
        """
        _check_not_misplaced(metadata or {})
        given = (metadata or {}).get(KEY)
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            raise OptionError(
                f"metadata {KEY!r} must be an object such as "
                f'{{"{KEY}": {{"truncate_to": 31500}}}}, not {given!r}.'
            )
        valid = [option.name for option in fields(cls)]
        for name in given:
            if name not in valid:
                raise UnknownNameError(f"{KEY} option", name, valid)
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""
        return asdict(self)
