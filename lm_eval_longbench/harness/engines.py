"""Models in this process: an engine in a process of its own, which can die, and seeds of `hf`."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import importlib
import json
import logging
import os
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import RunStopped
from lm_eval_longbench.harness.backend import replaced
from lm_eval_longbench.harness.interrupt import Stopping

logger = logging.getLogger(__name__)

# ---------------------------------------------------------------------- an engine that died

# Seconds between two looks at whether an engine lives.
_LOOK = 1.0
_FLAG = ("model", "llm_engine", "engine_core", "resources", "engine_dead")
_DEAD = (
    "The engine of the model has died, so that no more answers come. Where the system has killed "
    "it for want of memory, the system's log says so (`dmesg`): give the engine less with "
    "gpu_memory_utilization, max_model_len or max_num_seqs in --model_args. What it said itself "
    "is above and in the log."
)


def _flag(model: Any) -> Any:
    """Return what vLLM knows of its engine's end; None where there is no such engine."""
    for name in _FLAG:
        model = getattr(model, name, None)
    return model if isinstance(model, bool) else None


def died(model: Any, error: BaseException) -> RunStopped | None:
    """Return why a run stops where a model's engine is dead; None: it is not, or has none."""
    if _flag(model) or type(error).__name__ == "EngineDeadError":
        return RunStopped(_DEAD)
    return None


@contextlib.contextmanager
def watched(model: Any, stopping: Stopping) -> Iterator[None]:
    """While open, the end of a model's engine stops the run, which would wait for it for ever.

    vLLM notices that its engine's process has ended, and goes on waiting for the answers.
    """
    if _flag(model) is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK):
            if _flag(model):
                stopping.interrupt(RunStopped(_DEAD))
                return

    watch = threading.Thread(target=look, daemon=True, name="engine watch")
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()


def warn_of_size(model: Any, requests: int) -> None:
    """Say where the harness hands an engine fewer requests at one time than it can work on.

    Args:
        model: of the harness.
        requests: that are asked.
    """
    size = getattr(model, "batch_size", None)
    if _flag(model) is None or not isinstance(size, int) or requests <= size:
        return
    warn_once(
        logger,
        "batch size of an engine",
        f"--batch_size {size}: the engine gets {size} request{'s' if size > 1 else ''} at a time, "
        "where it could work on hundreds. Add --batch_size auto: the answers stay, and come many "
        "times as fast.",
    )


# ---------------------------------------------------------------------- seeds of requests


@contextlib.contextmanager
def seeded_batches(
    model: Any, waiting: Callable[[str], Sequence[tuple[str, int]]]
) -> Iterator[None]:
    """While open, `hf` begins each batch of prompts with the random state that follows from it.

    A request that samples is answered alike in a run that was interrupted and in one that was not,
    where batches are the same.

    Args:
        model: of the harness; others than `hf` are left as they are.
        waiting: gives what tells the requests of a prompt that are not answered yet, in order.
    """
    encode = getattr(model, "tok_batch_encode", None)
    if encode is None:
        yield
        return
    import torch  # slow to import, and of no use to other models

    base = torch.initial_seed()

    def seed(prompts: Sequence[str]) -> int:
        seen: Counter[str] = Counter()
        names: list[object] = [base]
        for prompt in prompts:
            known = waiting(prompt)
            names.append(known[seen[prompt]] if seen[prompt] < len(known) else prompt)
            seen[prompt] += 1
        digest = hashlib.sha256(json.dumps(names).encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:7], "big")

    def tok_batch_encode(strings: Sequence[str], *args: Any, **kwargs: Any) -> Any:
        torch.manual_seed(seed(strings))
        return encode(strings, *args, **kwargs)

    try:
        with replaced(model, tok_batch_encode=tok_batch_encode):
            yield
    finally:
        torch.manual_seed(base)


# ---------------------------------------------------------------------- an engine that cannot start

_CONFIG = "VLLM_LOGGING_CONFIG_PATH"
# Whoever sets one of them has a log of his own.
_CONFIGS = {_CONFIG, "VLLM_CONFIGURE_LOGGING"}
_ERROR = re.compile(
    r"(?:^|\s)((?:\w+\.)*\w*(?:Error|Exception): (?!.*root cause).*)$", re.MULTILINE
)


def _defaults() -> Any:
    """Return how vLLM logs; None: it is not here, which the harness says."""
    try:
        return importlib.import_module("vllm.logger").DEFAULT_LOGGING_CONFIG
    except Exception:
        return None


@contextlib.contextmanager
def overheard(model: str) -> Iterator[Callable[[], str]]:
    """While open, note the errors that vLLM's processes log: what it raises here does not say them.

    Args:
        model: the backend.

    Yields:
        What returns the first error that was logged; "" for none.
    """
    defaults = _defaults() if model == "vllm" and not os.environ.keys() & _CONFIGS else None
    if defaults is None:
        yield lambda: ""
        return
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as folder:
        errors, file = Path(folder) / "errors.log", Path(folder) / "logging.json"
        config = copy.deepcopy(defaults)
        own = {"class": "logging.FileHandler", "filename": str(errors), "level": "ERROR"}
        config["handlers"]["longbench"] = own
        config["loggers"]["vllm"]["handlers"].append("longbench")
        file.write_text(json.dumps(config), encoding="utf-8")
        handler = logging.FileHandler(errors)  # for processes that are forked
        handler.setLevel(logging.ERROR)
        logging.getLogger("vllm").addHandler(handler)
        os.environ[_CONFIG] = str(file)  # for those that are not

        def first() -> str:
            found = _ERROR.search(errors.read_text(encoding="utf-8", errors="replace"))
            return found[1].strip() if found else ""

        try:
            yield first
        finally:
            del os.environ[_CONFIG]
            logging.getLogger("vllm").removeHandler(handler)
            handler.close()
