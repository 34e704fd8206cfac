"""Keep every answer of a run the moment it arrives, and ask for no answer that is there already.

For the time of one `evaluate` of the harness a wrapper stands before the model's `generate_until`.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import logging
import os
import time
from argparse import Namespace
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from tqdm.auto import tqdm

from lm_eval_longbench.errors import RunStopped
from lm_eval_longbench.harness.backend import Counts, as_text, replaced
from lm_eval_longbench.harness.engines import died, seeded_batches, warn_of_size, watched
from lm_eval_longbench.harness.interrupt import Stopped, Stopping, gated
from lm_eval_longbench.harness.prefill import document_of, grouped
from lm_eval_longbench.harness.record import question_id
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.records.answer import ANSWERED, CAPPED, EMPTY, Answer, AnswerText, answer_of
from lm_eval_longbench.records.identity import answer_key, sent_generation
from lm_eval_longbench.records.store import AnswerStore, Kept
from lm_eval_longbench.secrets import masked

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance

logger = logging.getLogger(__name__)

_METHOD = "generate_until"
# Engines that answer all that they are given in one call. They are given pieces, each of so many
# times what the engine works on at one time. At the end of a piece the engine runs empty, for about
# half the time of one answer: 1 part in 2 * 16.
_ENGINES = frozenset({"VLLM", "SGLangLM"})
_FILLS = 16
_SEQUENCES = 256
# English has about as many characters a token; of Chinese more fit than is thought.
_CHARACTERS = 4
# What the harness takes for an answer of null.
_NULL = os.environ.get("LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER", "")


@dataclass(frozen=True)
class Wanted:
    """One answer that is wanted: the request, its key and the number of the repeat."""

    instance: Instance
    key: str
    repeat: int

    @property
    def name(self) -> tuple[str, int]:
        """What it is found by; of two equal ones only one is asked."""
        return self.key, self.repeat

    def kept(self, answer: Answer) -> Kept:
        """Return an answer to it as the store takes it."""
        prompt, generation = self.instance.args
        return Kept(
            self.key,
            self.repeat,
            str(self.instance.task_name),
            question_id(self.instance.doc, self.instance.doc_id),
            text_sha256(as_text(prompt)),
            json.dumps(masked(sent_generation(generation)), sort_keys=True, default=str),
            answer,
        )


# Gets the run's arguments, its answers and what is to be asked; raises NothingSent.
Instead = Callable[[Namespace, "KeptAnswers", list[Wanted]], NoReturn]


class KeptAnswers:
    """The answers of a run while it evaluates.

    Attributes:
        asked: answers that the run needs, as far as it has come.
        done: those of them that are there.
        instead: called in place of the model with this and what is to be asked; None: it is asked.
        model: that is asked, while they are `around` it.
    """

    def __init__(
        self,
        store: AnswerStore,
        stopping: Stopping,
        say: Callable[[str], None] = logger.info,
        *,
        cuts: dict[str, Any] | None = None,
        keep_empty: bool = False,
        instead: Callable[[KeptAnswers, list[Wanted]], NoReturn] | None = None,
    ) -> None:
        """Prepare.

        Args:
            store: where answers are kept.
            stopping: says whether the run is to stop.
            say: gets the line that says how many answers are there already.
            cuts: arguments of the model that may cut the prompts of others' tasks.
            keep_empty: whether requests that got no answer are left alone.
        """
        self.store = store
        self.asked = self.done = 0
        self._stopping, self._say = stopping, say
        self._cuts, self._keep_empty, self.instead = cuts or {}, keep_empty, instead
        self._answers: dict[tuple[str, int], Answer] = {}
        self._pending: dict[str, deque[Wanted]] = {}
        self._of_prompt: dict[str, dict[str, None]] = {}  # keys of requests by a hash of the prompt
        self._bar: tqdm[Any] | None = None

    @contextlib.contextmanager
    def around(self, lm: Any) -> Iterator[None]:
        """While open, the answers of a model are kept and not asked for again."""
        self.model, self._ask, self._counts = lm, lm.generate_until, Counts(lm)
        self._failed = self._capped = 0
        with replaced(lm, generate_until=self.generate_until):
            yield

    def end(self, lm: Any) -> None:
        """Put the answers of all ranks into the file of the first one; all must have answered."""
        if lm.world_size > 1 and lm.rank != 0:
            self.store.close()
        if lm.world_size > 1:
            lm.barrier()
        if self.store.is_first:
            self.store.merge()
        self.store.close()

    def count(self) -> str:
        """Return how many answers are there of how many, and where."""
        if not self.asked:
            return "It had not come to any question yet."
        return f"{self.done} of {self.asked} answers are there, in {self.store.path}."

    # ------------------------------------------------------------------ for one call

    def requests(self, instances: Sequence[Instance]) -> list[Wanted]:
        """Return what is wanted, in order."""
        seen: Counter[int] = Counter()
        found = []
        for instance in instances:
            # The harness repeats a rank's last request, so that all ranks have equally many.
            number = seen[id(instance)] if seen[id(instance)] < (instance.repeats or 1) else 0
            seen[id(instance)] += 1
            number += instance.args[1].get(REPEAT, 0)
            found.append(Wanted(instance, self._key(instance), number))
        return found

    def _key(self, instance: Instance) -> str:
        prompt, generation = instance.args
        own = "document_sha256" in (instance.doc.get("prompt") or ())
        return answer_key(as_text(prompt), generation, {} if own else self._cuts)

    def there(self, request: Wanted) -> Answer | None:
        """Return the answer to a request that is not to be asked again; None: it is to be asked."""
        answer = self.store.find(*request.name)
        return answer if answer and (self._keep_empty or answer.state == ANSWERED) else None

    # ------------------------------------------------------------------ in place of the model's

    def generate_until(self, instances: list[Instance], *args: Any, **kwargs: Any) -> list[str]:
        """Return a text for each request, asking the model for what is not there."""
        wanted = self.requests([one for one in instances if _is_for_text(one)])
        # Of another package's task, such as one with images.
        foreign = [one for one in instances if not _is_for_text(one)]
        others = iter(self._ask(foreign, *args, **kwargs) if foreign else ())
        unique: dict[tuple[str, int], Wanted] = {}
        for request in wanted:
            unique.setdefault(request.name, request)
        known = {name: self.there(request) for name, request in unique.items()}
        self._answers = {name: answer for name, answer in known.items() if answer}
        missing = [request for name, request in unique.items() if not known[name]]
        there = len(self._answers)
        self.asked += len(unique)
        self.done += there
        ask = f"{len(missing)} to ask" if missing else "nothing to ask"
        self._say(f"{there} of {len(unique)} answers are in {self.store.path} already, {ask}.")
        if missing and self.instead is not None:
            self.instead(self, missing)
        elif missing:
            self._asked(missing, args, kwargs)
        texts = iter([AnswerText(self._answers[request.name]) for request in wanted])
        return [next(texts if _is_for_text(one) else others) for one in instances]

    def _asked(self, missing: list[Wanted], args: Any, kwargs: Any) -> None:
        """Ask, and keep the answers."""
        stopping = self._stopping
        stopping.answering = True
        try:
            if stopping():
                raise Stopped
            if hasattr(self.model, "generate_answers"):
                self._with_answers(missing)
            else:
                self._with_hook(missing, args, kwargs)
        except Exception as error:
            if stopping.fault is None and stopping.signal is None:
                stopping.fault = died(self.model, error)
            if stopping.fault is not None:
                raise stopping.fault from error
            if stopping.signal is not None:  # an engine that was stopped too, and the like
                raise Stopped from error
            raise
        except KeyboardInterrupt:
            if stopping.fault is not None and stopping.signal is None:
                raise stopping.fault from None
            raise
        finally:
            stopping.answering = False

    def _keep(self, request: Wanted, answer: Answer) -> None:
        """Write an answer down; a full disk ends the run."""
        if answer.at is None:
            answer = replace(answer, at=time.time())
        self._stopping.held = True
        try:
            self.store.keep(request.kept(answer))
            if self.store.fault is None:
                self.done += 1
            else:
                said = f"Answers cannot be written to {self.store.path}: {self.store.fault}."
                self._stopping.stop(RunStopped(f"{said} Make room, and start again."))
        finally:
            self._stopping.held = False
        self._answers[request.name] = answer
        if self._bar is not None:
            self._failed += answer.state != ANSWERED
            self._capped += answer.finish_reason == CAPPED
            self._bar.set_postfix(failed=self._failed, capped=self._capped, refresh=False)
            self._bar.update(1)

    def _with_answers(self, missing: list[Wanted]) -> None:
        """Ask a model that gives answers."""
        answers = self.model.generate_answers(
            [one.instance for one in missing],
            keep=lambda number, answer: self._keep(missing[number], answer),
            stopping=self._stopping,
        )
        for request, answer in zip(missing, answers, strict=True):
            if request.name not in self._answers:
                self._keep(request, answer)

    def _with_hook(self, missing: list[Wanted], args: Any, kwargs: Any) -> None:
        """Ask any other model, which reports texts as they come, or returns them."""
        self._pending, self._of_prompt = defaultdict(deque), defaultdict(dict)
        for request in missing:
            self._pending[request.key].append(request)
            self._of_prompt[text_sha256(as_text(request.instance.args[0]))][request.key] = None
        model = self.model
        report = model.cache_hook.add_partial

        def add_partial(attr: str, req: Any, res: Any) -> None:
            if attr == _METHOD:
                self._reported(req, res)
            report(attr, req, res)

        warn_of_size(model, len(missing))
        silent = _can_be_silent(model)
        if silent:
            kwargs = {**kwargs, "disable_tqdm": True}
        try:
            with (
                replaced(model.cache_hook, add_partial=add_partial),
                gated(model, self._stopping),
                self._counts.listening(),
                seeded_batches(model, self._waiting),
                watched(model, self._stopping),
                tqdm(
                    total=len(missing),
                    desc="answers",
                    unit="",
                    disable=not silent or model.rank != 0,
                ) as self._bar,
            ):
                for piece in self._pieces(missing):
                    texts = self._ask([one.instance for one in piece], *args, **kwargs)
                    for request, text in zip(piece, texts, strict=True):
                        if request.name not in self._answers:
                            self._keep(request, self._answer(request, text))
                    if self._stopping():
                        raise Stopped
        finally:
            self._bar = None

    def _pieces(self, missing: list[Wanted]) -> Iterator[list[Wanted]]:
        """Yield what is asked in one call of the model."""
        lengths = [len(as_text(one.instance.args[0])) for one in missing]
        size = engine_piece(self.model, sum(lengths) / len(lengths) / _CHARACTERS)
        if size is None:
            yield missing
            return
        # The longest first, as the harness has them, and whole documents.
        piece: list[Wanted] = []
        for group in grouped([one.instance for one in missing], document_of):
            piece += [missing[number] for number in group]
            if len(piece) >= size:
                yield piece
                piece = []
        if piece:
            yield piece

    def _reported(self, req: Any, text: Any) -> None:
        """Keep an answer that the model reports while it goes on; others come at its end."""
        prompt, generation = req
        for more in ({}, self._cuts):
            waiting = self._pending.get(answer_key(as_text(prompt), generation, more))
            if waiting:
                request = waiting.popleft()
                self._keep(request, self._answer(request, text))
                if not hasattr(self.model, "model_call"):
                    self._stopping.after_batch()
                return

    def _waiting(self, prompt: str) -> list[tuple[str, int]]:
        """Return the names of the requests of a prompt that are not answered yet, in order."""
        keys = self._of_prompt.get(text_sha256(prompt), ())
        return [request.name for key in keys for request in self._pending[key]]

    def _answer(self, request: Wanted, text: Any) -> Answer:
        known = answer_of(text)
        if known is not None:
            return known
        prompt, generation = request.instance.args
        given = str(text if text is not None else "")
        state = EMPTY if given in ("", _NULL) else ANSWERED
        return Answer(given, state, **self._counts.of(prompt, generation, given))


def _is_for_text(instance: Instance) -> bool:
    """Whether a request asks for a text with a prompt alone."""
    return len(instance.args) == 2 and isinstance(instance.args[1], dict)


def _can_be_silent(model: Any) -> bool:
    """Whether a model shows no bar of its own if it is told so; then there is one, and ours."""
    names = {base.__name__ for base in type(model).__mro__}
    method = inspect.signature(type(model).generate_until).parameters
    return "disable_tqdm" in method and "TemplateAPI" not in names


def engine_piece(model: Any, tokens: float = 0.0) -> int | None:
    """Return how many requests an engine is given at one time; None: all.

    Args:
        model: of the harness.
        tokens: length of a request, about: so many as fit into the engine's cache at one time are
            fewer than it would take of short ones.
    """
    if not _ENGINES & {base.__name__ for base in type(model).__mro__}:
        return None
    given = getattr(model, "model_args", None) or {}
    engine = getattr(getattr(model, "model", None), "llm_engine", None)
    config = getattr(engine, "vllm_config", None)
    most = given.get("max_num_seqs") or given.get("max_running_requests")
    most = most or getattr(getattr(config, "scheduler_config", None), "max_num_seqs", None)
    at_once = int(most or _SEQUENCES)
    cache = getattr(config, "cache_config", None)
    blocks, size = (getattr(cache, name, None) for name in ("num_gpu_blocks", "block_size"))
    if blocks and size and tokens > 0:
        at_once = max(1, min(at_once, int(blocks * size / tokens)))
    return _FILLS * at_once
