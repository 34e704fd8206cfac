"""The embedding model that summaries of LongBench Pro (T4) are scored with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lm_eval_longbench.benchmarks.registry import benchmark_of, tasks
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.doctor.model import WEIGHTS
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.harness.preflight_facts import PlannedTask, any_cached, is_offline
from lm_eval_longbench.options import Options
from lm_eval_longbench.semantic.embedder import OFFICIAL_MODEL
from lm_eval_longbench.semantic.remote import RemoteEmbedder

TOPIC = "embeddings"
# Seconds to wait for a server, once: a preflight does not wait for one that is busy.
TIMEOUT = 20.0
_LATER = (
    "Add the option embedding_model (with embedding_url to ask a server), or score the sample log "
    f"later: lm-eval-longbench score LOG --output FOLDER --embedding-model {OFFICIAL_MODEL}"
)


def summaries(leaves: Sequence[PlannedTask]) -> dict[str, str]:
    """Return what `score` calls the benchmark of each task whose score needs embeddings."""
    known = ((leaf.name, tasks().get(str(leaf.task))) for leaf in leaves)
    return {name: benchmark_of(task).short for name, task in known if task and task.summary}


def embedding_lines(options: Options, leaves: Sequence[PlannedTask]) -> Iterator[Line]:
    """Yield the lines on the embedding model; a server is asked to embed one word."""
    found = summaries(leaves)
    names = tuple(found)
    if not names:
        return
    if options.embedding_model is None:
        what = "no embedding model: summaries and every figure that contains them have no score"
        yield Line(WARNING, TOPIC, what, f"{_LATER} --benchmark {found[names[0]]}", names)
        return
    if options.embedding_model == OFFICIAL_MODEL:
        yield Line(OK, TOPIC, f"{OFFICIAL_MODEL}, the official model", "", names)
    else:
        what = f"{options.embedding_model} is not the official {OFFICIAL_MODEL}: no official score"
        yield Line(WARNING, TOPIC, what, f"Use {OFFICIAL_MODEL} for a score.", names)
    if options.embedding_url is None:
        yield _local(options.embedding_model, names)
    else:
        yield _remote(options, names)


def _remote(options: Options, tasks: tuple[str, ...]) -> Line:
    try:
        embedder = RemoteEmbedder(
            str(options.embedding_url), str(options.embedding_model), timeout=TIMEOUT, attempts=1
        )
        embedder.check()
    except LongBenchError as error:
        return Line(ERROR, TOPIC, str(error), "The run would stop before it generates.", tasks)
    return Line(OK, TOPIC, f"{embedder.shown_url} embeds", "", tasks)


def _local(name: str, tasks: tuple[str, ...]) -> Line:
    files = (*WEIGHTS, "modules.json")
    folder = Path(name)
    if folder.is_dir():
        if any((folder / file).is_file() for file in files):
            return Line(OK, TOPIC, f"{name} is a folder with a model", "", tasks)
        todo = "Name a folder that sentence-transformers can load."
        return Line(ERROR, TOPIC, f"the folder {name} holds no model", todo, tasks)
    # The library looks names without an owner up under its own.
    repo = name if "/" in name else f"sentence-transformers/{name}"
    if any_cached(repo, WEIGHTS):
        return Line(OK, TOPIC, f"{name} is in the hub's cache, and is not loaded here", "", tasks)
    fetch = f"hf download {repo}"
    if is_offline():
        what = f"{name} is not on this machine, and HF_HUB_OFFLINE is set"
        return Line(ERROR, TOPIC, what, fetch, tasks)
    todo = f"The run downloads it when all is generated; better ahead: {fetch}"
    return Line(WARNING, TOPIC, f"{name} is not on this machine", todo, tasks)
