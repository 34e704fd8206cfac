"""The options a user gives: flags of the command line, or `--metadata '{"longbench": {...}}'`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import field, fields
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainValidator, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from lm_eval_longbench.errors import LongBenchError, OptionError, UnknownNameError
from lm_eval_longbench.secrets import http_parts, secret_part

KEY = "longbench"
# Answers to one question that are scored and reported. Pro's summary and reports have figures for
# each number of runs, so that time and memory grow with it, not with the answers that there are;
# best-of-N and pass@N are published up to 3, and studied up to some hundreds.
MOST_REPEATS = 256
# What prompts hold: documents, or nothing in their place.
DOCUMENT, NONE = "document", "none"
# The number of a repeat whose seed is left out, among the generation arguments of its request. It
# tells the repeats apart in the harness's response cache and is never sent.
REPEAT = "longbench_repeat"
# Options that `run`, `doctor` and `lock` have flags for, with the type of their values.
SHARD = "shard"
FLAGS = {"truncate_to": int, "data_dir": str, "tokenizer": str, "repeats": int, SHARD: str}
# Options that a model, too, may have as an argument, or that only say how it is asked.
_OF_MODELS = frozenset(
    {"tokenizer", "thinking", "embedding_model", "embedding_url", "reuse_prefill"}
)
# The first one that is set holds the key of an embedding server.
EMBEDDING_KEYS = ("LONGBENCH_EMBEDDING_API_KEY", "OPENAI_API_KEY")


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
    if str(given).lower() in ("none", "null"):
        return None
    if not str(given).isdecimal():
        raise OptionError(
            "seed must be a whole number, the seed of the first answer, or none to send no seed at "
            f"all; not {given!r}."
        )
    return int(given)


# Selections that `only` has for every benchmark, beside the dimensions of its questions.
SELECTIONS = LENGTH, TOKENS, IDS, SAMPLE = "length", "tokens", "ids", "sample"


def _only(given: Any) -> dict[str, Any]:
    """Check a selection; a single value counts as a list of one."""
    if not isinstance(given, Mapping):
        raise OptionError(
            f'Option \'only\' must be an object such as {{"language": "English"}}, not {given!r}.'
        )
    chosen: dict[str, Any] = {}
    for name, values in given.items():
        own = tuple(values) if isinstance(values, list | tuple) else (values,)
        kinds = {type(one) for one in own}
        if name == SAMPLE:
            fits, wanted = type(values) is int and values > 0, "a number above 0"
        elif name == TOKENS or (name == LENGTH and kinds == {int}):
            fits = kinds == {int} and len(own) == 2 and own[0] <= own[1]
            wanted = "the least and the most, such as [10000, 147000]"
        else:
            fits, wanted = kinds == {str}, "a text or a list of texts"
        if not fits:
            raise OptionError(f"Option 'only' must give {name!r} {wanted}, not {values!r}.")
        chosen[name] = values if name == SAMPLE else own
    return chosen


def shard_of(given: str | None) -> tuple[int, int]:
    """Return the number of a piece and of all pieces; OptionError if "3/8" is of another shape."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", given or "1/1")
    piece, number = map(int, found.groups()) if found else (0, 0)
    if not 1 <= piece <= number:
        raise OptionError(
            f"Option 'shard' must be a piece and their number, such as \"3/8\", not {given!r}."
        )
    return piece, number


_Text = Annotated[str, Field(min_length=1)]
# What a value must be, by the kind of pydantic's error.
_MUST = {
    "string_type": "a non-empty string",
    "string_too_short": "a non-empty string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "literal_error": "one of {}",
    "greater_than_equal": "at least {}",
    "less_than_equal": "at most {}",
}


def _problem(error: ValidationError) -> LongBenchError:
    """Return what is wrong with an option in words of ours."""
    found = error.errors(include_url=False)[0]
    name, value = str(found["loc"][-1]), found["input"]
    if found["type"] not in _MUST:
        return UnknownNameError(f"{KEY} option", name, [one.name for one in fields(Options)])
    bound = str(next(iter(found.get("ctx", {"": ""}).values())))
    wanted = _MUST[found["type"]].format(bound.replace("'", "").replace(" or ", ", "))
    unit = " tokens" if name == "truncate_to" and bound.isdecimal() else ""
    return OptionError(f"Option {name!r} must be {wanted}{unit}, not {value!r}.")


def _check_recorded(url: str) -> None:
    """Refuse a URL that may hold a secret: options are written into lock files and results.

    A masked one could not be used again by who reads the lock, and the harness writes the options
    into the results by itself.
    """
    # Neither message quotes the URL: it may hold a password, which may be why it cannot be read.
    if http_parts(url) is None:
        raise OptionError(
            "'embedding_url' is not an http or https URL such as "
            "http://localhost:8000/v1/embeddings."
        )
    secret = secret_part(url)
    if secret:
        raise OptionError(
            f"'embedding_url' holds {secret}; lock files and results would show it. Leave it out, "
            f"and put the key into the environment variable {EMBEDDING_KEYS[0]}."
        )


def _check_not_misplaced(metadata: Mapping[str, Any]) -> None:
    """Refuse options that would be passed over without a word."""
    ours = {option.name for option in fields(Options)} - _OF_MODELS
    for name, value in metadata.items():
        # A model may have an argument `reasoning`, of other values.
        if name in ours and (name != "reasoning" or value in ("drop", "keep")):
            raise OptionError(
                f"{name!r} stands beside the model arguments. LongBench options go under one key "
                f'of the metadata: {{"{KEY}": {{"{name}": ...}}}}.'
            )
        if KEY not in metadata and difflib.get_close_matches(str(name).lower(), [KEY], cutoff=0.8):
            raise UnknownNameError("metadata key", name, [KEY])


@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Options:
    """Validated options; that the name in `preset` exists, `registry.read_options` says.

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
        only: keep the questions with these values of their benchmark's dimensions, such as
            {"language": "English", "token_length": ["8k", "16k"]}; with this official "length";
            with "tokens": [10000, 147000] of the prompt before cutting; with these "ids"; or
            "sample": 200 of all tasks, stratified.
        shard: a piece of the questions, such as "3/8", for a machine each; see docs/clusters.md.
        embedding_model: LongBench Pro: model for the semantic similarity of summaries.
        embedding_url: LongBench Pro: OpenAI-compatible embeddings server to ask instead; a URL
            that may hold a secret is refused.
        reuse_prefill: whether a model `hf` reads what prompts have in common once ("auto"), or each
            prompt whole ("off").
        cot_samples: LongBench v2, `_cot_answer`: sample log of `_cot`, or a folder with it.
        rag_top_n: tasks that retrieve: chunks that stand for the document.
        retrieved_context: the same: JSON Lines file with each question's ranked chunks; None:
            retrieve them here.
        chunk_size: the same: tokens (LongBench v2) or words (v1) of a chunk that is cut here;
            None: 512 and 200.
        retriever: the same: "bm25", or "embedding" by `embedding_model`.

    Raises:
        OptionError: a value has the wrong type, is out of range or may hold a secret.
        UnknownNameError: there is no such option; names the nearest.
    """

    data_dir: _Text | None = None
    truncate_to: Annotated[int, Field(ge=2)] | None = None
    overlength: Literal["truncate", "skip", "fail"] = "truncate"
    tokenizer: _Text | None = None
    log_prompts: Literal["excerpt", "full"] = "excerpt"
    reasoning: Literal["drop", "keep"] = "drop"
    context: Literal["document", "none"] = "document"
    preset: _Text | None = None
    thinking: bool = False
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] | None = None
    only: Annotated[Mapping[str, Any], PlainValidator(_only)] = field(default_factory=dict)
    shard: _Text | None = None
    embedding_model: _Text | None = None
    embedding_url: _Text | None = None
    reuse_prefill: Literal["auto", "off"] = "auto"
    cot_samples: _Text | None = None
    rag_top_n: Annotated[int, Field(ge=1)] = 4
    retrieved_context: _Text | None = None
    chunk_size: Annotated[int, Field(ge=1)] | None = None
    retriever: Literal["bm25", "embedding"] = "bm25"

    @model_validator(mode="wrap")
    @classmethod
    def _with_our_errors(cls, given: Any, handler: Any) -> Options:
        try:
            options: Options = handler(given)
        except ValidationError as error:
            raise _problem(error) from None
        if options.embedding_url and not options.embedding_model:
            raise OptionError(
                "Option 'embedding_url' needs 'embedding_model', the name of the model to ask the "
                "server for: another model gives other scores."
            )
        if options.embedding_url:
            _check_recorded(options.embedding_url)
        shard_of(options.shard)
        if options.preset is None and options.thinking:
            raise OptionError(
                "Option 'thinking' chooses between a preset's settings: give 'preset' too. "
                "Thinking itself is switched on in the model."
            )
        return options

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
        return cls(**{str(name): value for name, value in given.items()})
