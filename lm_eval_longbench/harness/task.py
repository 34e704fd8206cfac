"""The one Task subclass: the seam between the harness and everything else in this package.

All knowledge of the harness's task interface is in this folder. The class keeps to the methods
that stay from 0.4.13 to 0.5: `__init__(config)`, `download`, `fewshot_docs`, `test_docs`,
`doc_iterator`, `doc_to_text`, `doc_to_target`, `build_all_requests`, `apply_filters` and
`process_results`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from lm_eval.api.task import ConfigurableTask

from lm_eval_longbench.aggregation.longbench_v1 import sample_figures
from lm_eval_longbench.catalog import RAW_PROMPT, Split, split_of_file
from lm_eval_longbench.data.longbench_v1 import Documents, load
from lm_eval_longbench.errors import OverlengthError
from lm_eval_longbench.harness.budget import fold_budget, kept_apart
from lm_eval_longbench.harness.fit import cut_to_room, tokens_over
from lm_eval_longbench.harness.limit import Limit, resolve_limit
from lm_eval_longbench.harness.logged_prompt import LoggedPrompt
from lm_eval_longbench.once import warn_once
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.longbench_v1 import TEMPLATES, render
from lm_eval_longbench.prompts.prepare import Prompt, prepare, text_sha256
from lm_eval_longbench.prompts.templates import template_sha256
from lm_eval_longbench.prompts.tokenizer import load_tokenizer, tokenizer_name
from lm_eval_longbench.prompts.truncation import halves_decoded_apart

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Prepared:
    """What is kept of a document's prompt once its request is built."""

    summary: dict[str, Any]
    kept: bool


class LongBenchTask(ConfigurableTask):
    """A LongBench v1 or LongBench-E dataset as a harness task.

    The YAML names the dataset (`dataset_name`: the data file's stem, `qasper` or `qasper_e`);
    options come in `metadata["longbench"]`, the model's arguments in `metadata` beside it.

    Raises:
        LongBenchError: an option, the data, the tokenizer or a prompt is not as it must be.
    """

    def __init__(self, config: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        config = {key: value for key, value in (config or {}).items() if key != "class"}
        metadata = config["metadata"] = dict(config.get("metadata") or {})
        self._split: Split = split_of_file(str(config.get("dataset_name")))
        self._options = Options.from_metadata(metadata)
        self._prepared: dict[int, _Prepared] = {}
        self._texts: dict[int, str] = {}
        self._run: dict[str, Any] = {}
        self._withheld = False
        # A user's YAML may replace the whole mapping; without `until` the harness would stop every
        # answer at the first blank line.
        config["generation_kwargs"] = {
            "until": [],
            "max_gen_toks": self._split.info.max_gen_toks,
            "do_sample": False,
            "temperature": 0.0,
        } | dict(config.get("generation_kwargs") or {})
        # Any value keeps the harness from looking for our metrics in its registry and on the hub.
        config.setdefault("process_results", "lm_eval_longbench")
        super().__init__(config=config, **kwargs)
        if not self._documents.official:
            self.VERSION = f"{self.VERSION} data: {self._documents.label}"

    # ------------------------------------------------------------------ documents

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Open the documents, memory-mapped; see `lm_eval_longbench.data`."""
        self._documents: Documents = load(self._split, self._options.data_dir)
        rows = self._documents.rows
        # The harness copies documents about and logs them whole: it gets them without their long
        # text, and with the row number that leads back to it.
        light = rows.remove_columns("context").add_column("index", list(range(len(rows))))
        self.dataset = {self.config.test_split: light}
        self._run = {
            "data": self._documents.label,
            "data_sha256": self._documents.sha256,
            "template_sha256": template_sha256(TEMPLATES, self._split.info.name),
        }
        self.config.metadata["longbench_run"] = self._run

    def fewshot_docs(self) -> None:
        """LongBench has no few-shot split; the harness would copy the test documents."""
        return None

    def doc_iterator(
        self, *, rank: int = 0, world_size: int = 1, **kwargs: Any
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the documents of this rank with their prompt's summary, less the skipped ones."""
        if self._options.overlength != "skip" or not self._prepared:
            documents = super().doc_iterator(rank=rank, world_size=world_size, **kwargs)
        else:
            # The ranks share out what is left, so that none of them is left without work.
            kept = (
                (doc_id, doc)
                for doc_id, doc in super().doc_iterator(rank=0, world_size=1, **kwargs)
                if self._prepared[doc["index"]].kept
            )
            documents = islice(kept, rank, None, world_size)
        for doc_id, doc in documents:
            prepared = self._prepared.get(doc["index"])
            yield doc_id, {**doc, "prompt": prepared.summary} if prepared else doc

    def doc_to_target(self, doc: Mapping[str, Any], doc_to_target: Any = None) -> list[str]:
        """Return the gold answers."""
        return list(doc["answers"])

    def doc_to_text(self, doc: Mapping[str, Any], doc_to_text: Any = None) -> str:
        """Return the finished prompt; before requests are built, the whole one."""
        index = doc["index"]
        return self._texts[index] if index in self._texts else self._render(index)

    def _render(self, index: int) -> str:
        return render(self._split.info.name, self._documents.rows[index])

    # ------------------------------------------------------------------ requests

    def build_all_requests(
        self,
        *,
        limit: int | None = None,
        samples: list[int] | None = None,
        rank: int = 0,
        world_size: int = 1,
        cache_requests: bool = False,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        chat_template: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Prepare this rank's prompts in batches, then let the harness build its requests."""
        if cache_requests:
            # Its key knows neither the options nor the data: it would serve other runs' prompts.
            warn_once(
                logger,
                "cache_requests",
                "--cache_requests is not used for LongBench tasks: prompts are prepared anew.",
            )
        fold_budget(self.config.task, self.config.generation_kwargs)
        messages_only = (
            apply_chat_template
            and chat_template is not None
            and (not isinstance(chat_template([{"role": "user", "content": "?"}]), str))
        )
        self._withheld = apply_chat_template and self._goes_out_raw(messages_only)
        if self._withheld:
            apply_chat_template, chat_template, system_instruction = False, None, None
        share = {"limit": limit, "samples": samples, "rank": rank, "world_size": world_size}
        self._prepare(
            share,
            chat_template if apply_chat_template else None,
            system_instruction,
            messages_only=messages_only,
        )
        super().build_all_requests(
            **share,
            system_instruction=system_instruction,
            apply_chat_template=apply_chat_template,
            chat_template=chat_template,
            **kwargs,
        )
        self._texts.clear()

    def construct_requests(self, doc: dict[str, Any], ctx: Any, **kwargs: Any) -> Any:
        """Build a document's request."""
        request = super().construct_requests(doc, ctx, **kwargs)
        if self._withheld and not self.config.metadata.get("base_url"):
            prompt, generation = request.arguments
            request.arguments = (prompt, kept_apart(generation))
        return request

    def _goes_out_raw(self, messages_only: bool) -> bool:
        """Whether this dataset's prompt is withheld from the chat template, as officially."""
        if self._split.info.chat:
            return False
        if messages_only:
            warn_once(
                logger,
                "messages only",
                "This backend takes only chat messages, so the prompts of "
                f"{', '.join(RAW_PROMPT)} are wrapped in one; officially they go out raw. Scores "
                "of these six are not comparable with official ones.",
            )
        return not messages_only

    def _tokenizer(self) -> PreTrainedTokenizerBase:
        metadata = self.config.metadata
        return load_tokenizer(tokenizer_name(self._options.tokenizer, metadata), metadata)

    def _prepare(
        self,
        share: dict[str, Any],
        chat_template: Callable[..., Any] | None,
        system_instruction: str | None,
        *,
        messages_only: bool,
    ) -> None:
        """Render and cut the prompts of this rank's documents."""
        self._prepared.clear()
        self._texts.clear()
        everything = {**share, "rank": 0, "world_size": 1}
        asked = sum(1 for _ in super().doc_iterator(**everything))
        # Each rank measures all documents where some may be skipped: all must agree which.
        measured = everything if self._options.overlength == "skip" else share
        indices = [doc["index"] for _, doc in super().doc_iterator(**measured)]
        limit = resolve_limit(
            self._options.truncate_to,
            self.config.metadata,
            self.config.generation_kwargs["max_gen_toks"],
            messages_only=messages_only,
        )
        self._warn_of(limit)
        prompts = prepare(
            map(self._render, indices), limit.tokens, self._tokenizer, halves_decoded_apart
        )

        def sent(text: str) -> str:
            return self._sent(text, chat_template, system_instruction)

        over = [0] * len(prompts)
        if limit.room is not None:
            over = tokens_over(prompts, limit.room, sent, self._tokenizer())
        kept = self._keep(indices, prompts, over, limit, share["world_size"])
        for index, prompt, more, keep in zip(indices, prompts, over, kept, strict=True):
            if keep and more and limit.room is not None and limit.tokens is not None:
                prompt = cut_to_room(
                    self._render(index),
                    more,
                    limit.tokens,
                    limit.room,
                    sent,
                    self._tokenizer(),
                    halves_decoded_apart,
                )
            self._texts[index] = prompt.text
            self._prepared[index] = _Prepared(self._summary(prompt), keep)
        self._run |= {
            "limit": limit.tokens,
            "limit_source": limit.source,
            "tokenizer": tokenizer_name(self._options.tokenizer, self.config.metadata),
            "chat_template": chat_template is not None,
            "overlength": self._options.overlength,
            "asked": asked,
            "kept": sum(kept) if self._options.overlength == "skip" else asked,
        }

    @staticmethod
    def _warn_of(limit: Limit) -> None:
        """Say once what a user must know of a limit that nobody set."""
        if limit.tokens is None:
            warn_once(
                logger,
                "no limit",
                "The model's length limit is not known: prompts go out whole, and whatever serves "
                "the model may cut or refuse them. To cut them in the middle as officially, add "
                '--metadata \'{"longbench": {"truncate_to": TOKENS}}\' or give max_length=TOKENS '
                "in --model_args.",
            )
        elif limit.assumed:
            warn_once(
                logger,
                "assumed length",
                "No max_length in --model_args: the harness assumes 2048 tokens for this API model "
                "and would cut prompts on the left, so they are cut in the middle to that length. "
                "Give the model's real length with max_length=TOKENS.",
            )

    def _sent(
        self, text: str, chat_template: Callable[..., Any] | None, system_instruction: str | None
    ) -> str:
        """Return a prompt as the backend gets it."""
        if chat_template is None:
            return (system_instruction or "") + text
        system = [{"role": "system", "content": system_instruction}] if system_instruction else []
        return chat_template([*system, {"role": "user", "content": text}])

    @staticmethod
    def _summary(prompt: Prompt) -> dict[str, Any]:
        """What the sample log says of a prompt before any chat template."""
        return {
            "sha256": text_sha256(prompt.text),
            "tokens_before_cut": prompt.tokens,
            "truncated": prompt.truncated,
        }

    def _keep(
        self,
        indices: list[int],
        prompts: list[Prompt],
        over: list[int],
        limit: Limit,
        world_size: int,
    ) -> list[bool]:
        """Decide which documents stay, by the option `overlength`.

        Raises:
            OverlengthError: a request does not fit and may not be cut, or too little is left.
        """
        if limit.official and any(over):
            raise OverlengthError(
                f"{self.config.task}: with {limit.source} a request is {max(over)} tokens longer "
                f"than the {limit.room} that the model takes before its answer, and the harness "
                "would cut it on the left. Lower truncate_to, or give the model's real length with "
                "max_length=TOKENS in --model_args."
            )
        fits = [
            not prompt.truncated and not more for prompt, more in zip(prompts, over, strict=True)
        ]
        if self._options.overlength == "truncate" or all(fits):
            return [True] * len(indices)
        if self._options.overlength == "fail":
            longer = [index for index, fit in zip(indices, fits, strict=True) if not fit]
            shown = ", ".join(map(str, longer[:5])) + (", ..." if len(longer) > 5 else "")
            raise OverlengthError(
                f"{self.config.task}: {len(longer)} of {len(indices)} prompts are longer than "
                f"{limit.tokens} tokens ({limit.source}); documents {shown}. Raise the limit, or "
                'set the option overlength to "truncate" or "skip".'
            )
        logger.warning(
            f"{self.config.task}: kept {sum(fits)} of {len(fits)} documents (overlength: skip, "
            f"limit {limit.tokens} tokens, {limit.source}). The score is not comparable with one "
            "over all documents."
        )
        if sum(fits) < world_size:
            ranks = f", fewer than the {world_size} ranks" if any(fits) else ""
            raise OverlengthError(
                f"{self.config.task}: of {len(fits)} prompts {sum(fits)} are within {limit.tokens} "
                f"tokens ({limit.source}){ranks}: nothing is left to evaluate. Raise the limit."
            )
        return fits

    # ------------------------------------------------------------------ results

    def apply_filters(self) -> list[Instance] | None:
        """Filter the answers, then let go of the long prompts that the sample log would repeat."""
        filtered = super().apply_filters()
        if self._options.log_prompts == "excerpt":
            for instance in self._instances or []:
                prompt, *rest = instance.arguments
                text = prompt if isinstance(prompt, str) else getattr(prompt, "prompt", None)
                if isinstance(text, str):
                    instance.arguments = (LoggedPrompt(text), *rest)
        return filtered

    def process_results(self, doc: Mapping[str, Any], results: list[Any]) -> dict[str, Any]:
        """Return every figure of one sample; see `aggregation.longbench_v1.sample_figures`."""
        if "bypass" in self._metric_fn_list:  # --predict_only
            return super().process_results(doc, results)
        return sample_figures(
            self._split,
            results[0],
            doc["answers"],
            doc["all_classes"],
            doc["length"],
            doc["prompt"]["truncated"],
        )
