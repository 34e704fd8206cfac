"""Prepare the prompts of a task so that the harness never cuts a request; how long they may be."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.registry import benchmark_of, families, title_of
from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import OptionError, OverlengthError
from lm_eval_longbench.prompts.prepare import Prompt, prepare
from lm_eval_longbench.prompts.tokenizer import is_true, tokenizer_name
from lm_eval_longbench.prompts.truncation import Rule, count_many, count_tokens, counts_as_installed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from lm_eval_longbench.catalog.model import Task


# ---------------------------------------------------------------------- the limit

# Tokens kept free for the chat template when the limit follows from the model's length. Raw
# prompts keep it free too, so that a model's raw and chat runs are cut alike.
TEMPLATE_RESERVE = 64
# What the harness takes for API models and for configs that name no length.
HARNESS_DEFAULT_LENGTH = 2048
_ASSUMED = f"the harness's default max_length={HARNESS_DEFAULT_LENGTH}"
_UNKNOWN = "unknown"
# Names of the model's length: of hf, of vllm, of sglang.
_LENGTH_ARGUMENTS = ("max_length", "max_model_len", "context_length")
_CONFIG_FIELDS = ("n_positions", "max_position_embeddings", "n_ctx")
# `tokenizer.model_max_length` of a tokenizer that does not know.
_UNKNOWN_LENGTH = 1_000_000_000


@dataclass(frozen=True)
class Limit:
    """The limit of a task's prompts.

    Attributes:
        tokens: longest prompt in tokens; None: no limit is known, prompts go out whole.
        room: tokens the harness lets a whole request have before it cuts on the left; None: it
            does not cut, or nobody knows.
        source: where `tokens` comes from, in words.
        official: whether the user set it with `truncate_to`.
        assumed: whether nobody gave the model's length and the harness assumes one.
    """

    tokens: int | None
    room: int | None
    source: str
    official: bool = False
    assumed: bool = False


def _config_length(model_args: Mapping[str, Any]) -> int | None:
    """Read the context length of a local or cached `pretrained`, as the harness does."""
    name = model_args.get("pretrained")
    if not isinstance(name, str) or not name:
        return None
    from transformers import AutoConfig, AutoTokenizer

    revision = str(model_args.get("revision") or "main")
    trust = is_true(model_args.get("trust_remote_code"))
    try:
        config = AutoConfig.from_pretrained(
            name, revision=revision, trust_remote_code=trust, local_files_only=True
        )
    except Exception:  # not here or not a transformers model: then its length is not known
        return None
    config = getattr(config, "text_config", None) or config
    for field in _CONFIG_FIELDS:
        value = getattr(config, field, None)
        if value is not None:
            return int(value)
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            str(model_args.get("tokenizer") or name),
            revision=revision,
            trust_remote_code=trust,
            local_files_only=True,
        )
    except Exception:  # no tokenizer here to ask: what the harness would take
        return HARNESS_DEFAULT_LENGTH
    known = tokenizer.model_max_length
    return int(known) if known and known < _UNKNOWN_LENGTH else HARNESS_DEFAULT_LENGTH


def resolve_limit(
    truncate_to: int | None,
    model_args: Mapping[str, Any],
    budget: int,
    *,
    uncut: bool = False,
) -> Limit:
    """Return the limit of a task's prompts.

    Args:
        truncate_to: the official way, in tokens; it wins over the model's length.
        model_args: the harness's model arguments.
        budget: output tokens of the task.
        uncut: whether the harness never cuts: chat messages, and what our own client sends.

    Raises:
        OverlengthError: the model's length leaves no room for a prompt.
        OptionError: the model arguments make the backend cut the end of prompts.
    """
    if is_true(model_args.get("truncation")):
        raise OptionError(
            "truncation=True in model_args makes the hf model cut the end of every long prompt, "
            "question included. Leave it out: prompts are cut in the middle before."
        )
    on_server = bool(model_args.get("base_url"))
    cuts = not uncut
    if on_server:  # the harness cuts on the left what it tokenizes
        tokenized = is_true(model_args.get("tokenized_requests", True))
        backend = str(model_args.get("tokenizer_backend", "auto")).lower()
        cuts = cuts and tokenized and backend != "none"
    # There it does so by max_length, whatever other names say.
    names = _LENGTH_ARGUMENTS[:1] if on_server and cuts else _LENGTH_ARGUMENTS
    given = next((one for one in names if str(model_args.get(one) or "").isdecimal()), None)
    length: int | None = None
    source = _UNKNOWN
    if given is not None:
        length, source = int(model_args[given]), f"{given}={model_args[given]}"
    elif not on_server:
        length, source = _config_length(model_args), "the model's config"
    elif cuts and tokenizer_name(None, model_args):  # a server of a kind that is not tokenized for
        length, source = HARNESS_DEFAULT_LENGTH, _ASSUMED  # names none
    if on_server and length is not None:
        length -= 1  # the harness keeps one token for itself
    room = length - budget if length is not None and cuts else None
    if truncate_to is not None:
        return Limit(truncate_to, room, f"truncate_to={truncate_to}", official=True)
    if length is None:
        return Limit(None, room, _UNKNOWN)
    tokens = length - budget - TEMPLATE_RESERVE
    if tokens < 2:
        raise OverlengthError(
            f"{source} leaves no room for a prompt: {budget} tokens are for the answer and "
            f"{TEMPLATE_RESERVE} for the chat template. Give the model's real length with "
            "max_length=... in model_args."
        )
    words = f"{source} - {budget} for the answer - {TEMPLATE_RESERVE} in reserve"
    return Limit(tokens, room, words, assumed=source == _ASSUMED)


# ---------------------------------------------------------------------- prompts of a task

logger = logging.getLogger(__name__)

# A prompt as the backend gets it, chat template included.
Sent = Callable[[str], str]

# A cut prompt can grow by a few tokens when it is tokenized again; each round takes them off.
_ROUNDS = 8
# Tokens that may merge or split where a prompt meets its chat template.
_SEAMS = 2


def sent_lengths(texts: Iterable[str], tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Return the length of each request in tokens, as backends count it."""
    # Backends leave out the beginning-of-text token where the template has written it.
    begin = tokenizer.bos_token
    return list(
        count_many(tokenizer, ((text, not (begin and text.startswith(begin))) for text in texts))
    )


def sender(
    chat_template: Callable[..., Any] | None, system_instruction: str | None
) -> Callable[[str], Any]:
    """Return what makes of a prompt what the backend gets: a text, or chat messages."""

    def sent(text: str) -> Any:
        if chat_template is None:
            return (system_instruction or "") + text
        system = [{"role": "system", "content": system_instruction}] if system_instruction else []
        return chat_template([*system, {"role": "user", "content": text}])

    return sent


def warn_of(limit: Limit) -> None:
    """Say once what a user must know of a limit that nobody set."""
    if limit.tokens is None:
        warn_once(
            logger,
            "no limit",
            "The model's length limit is not known: prompts go out whole, and whatever serves "
            "the model may cut or refuse them. The option truncate_to cuts them in the middle, as "
            "officially; so does max_length=TOKENS in model_args, at the model's length.",
        )
    elif limit.assumed:
        warn_once(
            logger,
            "assumed length",
            "No max_length in model_args: the harness assumes 2048 tokens for this API model "
            "and would cut prompts on the left, so they are cut in the middle to that length. "
            "Give the model's real length with max_length=TOKENS.",
        )


def raw_datasets(family: str) -> str:
    """Return the datasets of a family of benchmarks whose prompts officially go out raw."""
    own = (task for one in families()[family] for task in one.tasks.values())
    return ", ".join(dict.fromkeys(task.label for task in own if not task.chat))


def goes_out_raw(task: Task, messages_only: bool) -> bool:
    """Whether a task's prompt is withheld from the chat template, as officially.

    Args:
        messages_only: whether the backend takes nothing but chat messages, of which a warning
            tells.
    """
    if task.chat:
        return False
    if messages_only:
        warn_once(
            logger,
            "messages only",
            "This backend takes only chat messages, so the prompts of "
            f"{raw_datasets(benchmark_of(task).prepared_as)} are wrapped in one; officially they "
            "go out raw. Scores of these are not comparable with official ones.",
        )
    return not messages_only


def warn_without_chat(asked: Iterable[Task]) -> None:
    """Say once for each family of benchmarks that a run goes without its official chat template.

    Args:
        asked: tasks of the run; of those that officially go out raw nothing is said.
    """
    for family in dict.fromkeys(benchmark_of(task).prepared_as for task in asked if task.chat):
        raw = raw_datasets(family)
        but = f", but for {raw}, which go out raw" if raw else ""
        warn_once(
            logger,
            f"no chat {family}",
            f"No apply_chat_template: officially a chat model gets the prompts of "
            f"{title_of(family)} in its template{but}. Give it, unless this is a base model.",
        )


@dataclass(frozen=True)
class Fitting:
    """How the prompts of a task are made to fit its model.

    Attributes:
        task: name of the task, for errors.
        limit: of prompts.
        sent: a prompt as the backend gets it.
        tokenizer: gives the model's tokenizer; called only if there is a limit.
        rule: the benchmark's truncation rule.
        source: names the prompts, to remember the cuts between runs; None: they are not.
        overlength: the option.
        ranks: that share the documents.
        hold: as of `prepare`.
    """

    task: str
    limit: Limit
    sent: Sent
    tokenizer: Callable[[], PreTrainedTokenizerBase]
    rule: Rule
    source: str | None = None
    overlength: str = "truncate"
    ranks: int = 1
    hold: Callable[[str], Any] = str

    def prompts(
        self, indices: Sequence[int], render: Callable[[int], str]
    ) -> tuple[list[Prompt], list[bool]]:
        """Return the prompts of documents, cut so that requests fit, and whether each one stays.

        Args:
            indices: row numbers of the documents.
            render: gives a document's whole prompt.

        Raises:
            OverlengthError: a request does not fit and may not be cut, or too little is left.
        """
        found = self._prepared(map(render, indices), self.limit.tokens, self.source)
        if self.limit.tokens is None or self.limit.room is None:
            return found, self._kept(indices, found, [0] * len(found))
        over = self.over(found, self.limit.tokens)
        kept = self._kept(indices, found, over)
        for number, index in enumerate(indices):
            if kept[number] and over[number]:
                found[number] = self.cut(render(index), over[number])
        return found, kept

    def _prepared(
        self, texts: Iterable[str], limit: int | None, source: str | None = None
    ) -> list[Prompt]:
        return prepare(texts, limit, self.tokenizer, self.rule, source, self.hold)

    def over(self, prompts: Sequence[Prompt], limit: int) -> list[int]:
        """Return how many tokens each request is longer than the model takes; 0 where it fits.

        Args:
            prompts: prompts prepared for `limit`; one that was neither cut nor counted has at most
                that many tokens.
            limit: longest prompt in tokens.
        """
        tokenizer, room = self.tokenizer(), self.limit.room or 0
        template = count_tokens(tokenizer, self.sent("?")) - count_tokens(tokenizer, "?") + _SEAMS
        over = [0] * len(prompts)
        # Where the backend's ids are not those that prompts were cut with, no count is known.
        known = counts_as_installed(tokenizer)
        doubtful = [
            number
            for number, prompt in enumerate(prompts)
            if not known
            or prompt.truncated
            or (limit if prompt.tokens is None else prompt.tokens) + template > room
        ]
        lengths = sent_lengths((self.sent(prompts[number].text) for number in doubtful), tokenizer)
        for number, length in zip(doubtful, lengths, strict=True):
            over[number] = max(0, length - room)
        return over

    def cut(self, whole: str, over: int) -> Prompt:
        """Return a prompt cut so far that its request fits the model.

        Args:
            whole: the uncut prompt.
            over: tokens by which its request is too long when cut to the limit.

        Raises:
            OverlengthError: the chat template leaves no room for a prompt.
        """
        target = self.limit.tokens or 0
        for _ in range(_ROUNDS):
            target -= over
            if target < 2:
                break
            (cut,) = self._prepared([whole], target)
            (over,) = self.over([cut], target)
            if not over:
                return cut
        raise OverlengthError(
            f"A prompt cannot be made to fit the {self.limit.room} tokens that the model takes "
            "before its answer: the chat template or the system instruction leaves too little of "
            "them."
        )

    def _kept(
        self, indices: Sequence[int], prompts: Sequence[Prompt], over: Sequence[int]
    ) -> list[bool]:
        """Decide which documents stay, by the option `overlength`."""
        task, limit = self.task, self.limit
        if limit.official and any(over):
            raise OverlengthError(
                f"{task}: with {limit.source} a request is {max(over)} tokens longer "
                f"than the {limit.room} that the model takes before its answer, and the harness "
                "would cut it on the left. Lower truncate_to, or give the model's real length with "
                "max_length=TOKENS in model_args."
            )
        fits = [not one.truncated and not more for one, more in zip(prompts, over, strict=True)]
        if self.overlength == "truncate" or all(fits):
            return [True] * len(indices)
        if self.overlength == "fail":
            longer = [index for index, fit in zip(indices, fits, strict=True) if not fit]
            shown = ", ".join(map(str, longer[:5])) + (", ..." if len(longer) > 5 else "")
            raise OverlengthError(
                f"{task}: {len(longer)} of {len(indices)} prompts are longer than "
                f"{limit.tokens} tokens ({limit.source}); documents {shown}. Raise the limit, or "
                'set the option overlength to "truncate" or "skip".'
            )
        logger.warning(
            f"{task}: kept {sum(fits)} of {len(fits)} documents (overlength: skip, "
            f"limit {limit.tokens} tokens, {limit.source}). The score is not comparable with one "
            "over all documents."
        )
        if sum(fits) < self.ranks:
            fewer = f", fewer than the {self.ranks} ranks" if any(fits) else ""
            raise OverlengthError(
                f"{task}: of {len(fits)} prompts {sum(fits)} are within {limit.tokens} "
                f"tokens ({limit.source}){fewer}: nothing is left to evaluate. Raise the limit."
            )
        return fits
