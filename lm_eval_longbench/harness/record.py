"""What a run records of itself: each task's signature, what a log keeps of a prompt, its files."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.loggers import EvaluationTracker

from lm_eval_longbench.benchmarks.registry import signs
from lm_eval_longbench.catalog.model import COUNTS, TRUNCATED
from lm_eval_longbench.harness.backend import as_text, replaced
from lm_eval_longbench.prompts.prepare import EXCERPT, Texts, text_sha256, whole
from lm_eval_longbench.records.answer import Answer, answer_of
from lm_eval_longbench.records.results import RESULTS_NAME, logs_of, same_results
from lm_eval_longbench.secrets import masked
from lm_eval_longbench.signature.ingredients import INGREDIENTS
from lm_eval_longbench.signature.signature import completed, line

# Figures whose values tell counts.
COUNTED = tuple(metric.name for metric in COUNTS)


class Signature:
    """Ingredients as they become known, and what else a results file says of a run.

    Attributes:
        run: the complete signature, further keys, and under "signature" the line; always the same
            object.
    """

    def __init__(self) -> None:
        self.run: dict[str, Any] = {}

    def update(self, **known: Any) -> None:
        """Add what has become known, and write the line anew."""
        self.run.update(known)
        whole = completed({key: self.run[key] for key in INGREDIENTS if key in self.run})
        self.run.update(whole)
        self.run["signature"] = line(whole, signs())

    def count(self, figure: str, values: Sequence[float | None]) -> None:
        """Add the counts that all values of one figure tell.

        Args:
            figure: "failed", "reasoned" or "capped", a share of a question's answers, or
                "truncated".
            values: one a question; None: not known. The count is null if none is.
        """
        answers = 1 if figure == TRUNCATED.name else self.run["repeats"]
        known = [value for value in values if value is not None]
        count = round(sum(known) * answers) if known or not values else None
        self.update(answered=len(values), **{figure: count})

    def leave_out(self, replies: Iterable[Sequence[Mapping[str, Any]]]) -> None:
        """Say which parameters servers refused, so that answers came without them.

        Args:
            replies: what is known of the answers to each question.
        """
        left_out = {name for own in replies for reply in own for name in reply.get("left_out", ())}
        left_out.update(self.run.get("left_out", ()))
        if not left_out:
            return
        seeds, generation = self.run.get("seeds"), self.run["generation"]
        if "seed" in left_out and seeds:
            seeds = [None] * len(seeds)
        if "temperature" in left_out:
            generation = {**generation, "temperature": None}
        self.update(left_out=sorted(left_out), seeds=seeds, generation=generation)


def known_replies(instances: Iterable[Instance]) -> dict[int, list[dict[str, Any]]]:
    """Return what is known of the answers to questions, by the question's index.

    Args:
        instances: requests with their responses; each has as many as repeats, and may have one more
            that only filled up a batch.

    Returns:
        One reply an answer in the order of repeats, {} where nothing is known of it. Questions are
        left out where nothing is known of any of their answers.
    """
    found: dict[int, list[Answer | None]] = {}
    for instance in sorted(instances, key=lambda one: one.idx):
        own = map(answer_of, instance.resps[: instance.repeats or 1])
        found.setdefault(instance.doc["index"], []).extend(own)
    return {
        index: [{} if one is None else one.reply() for one in answers]
        for index, answers in found.items()
        if any(answers)
    }


def flat(results: Iterable[Any]) -> list[str]:
    """Flatten what the harness hands over: of each request a text, or a list of texts."""
    return [text for own in results for text in (own if isinstance(own, list) else [own])]


def answered_documents(instances: Iterable[Instance]) -> list[tuple[dict[str, Any], list[str]]]:
    """Return documents with what the first filter made of all their responses, in order."""
    by_doc: dict[int, tuple[dict[str, Any], list[Instance]]] = {}
    for instance in instances:
        by_doc.setdefault(instance.doc_id, (instance.doc, []))[1].append(instance)
    return [
        (
            doc,
            flat(
                next(iter(one.filtered_resps.values()))
                for one in sorted(own, key=lambda one: one.idx)
            ),
        )
        for doc, own in by_doc.values()
    ]


def question_id(doc: Mapping[str, Any], otherwise: object = None) -> str:
    """Return the id of a question, whatever its benchmark calls it."""
    return str(doc.get("_id", doc.get("id", otherwise)))


class LoggedPrompt(dict[str, Any]):
    """The prompt as sent, in short: sha256, length in characters, first and last 256 characters.

    The harness hashes the first request argument of every sample through its `encode`, which gives
    it the whole prompt's bytes, so that `prompt_hash` stays the hash of what was really sent. The
    whole text is not part of the dictionary and does not travel between ranks. It is read when it
    is needed.

    Args:
        prompt: a text or chat messages, or where they are held.
    """

    def __init__(self, prompt: Any) -> None:
        self._prompt = prompt
        text = as_text(whole(prompt))
        super().__init__(
            sha256=text_sha256(text),
            characters=len(text),
            head=text[:EXCERPT],
            tail=text[-EXCERPT:],
        )

    def encode(self, encoding: str = "utf-8") -> bytes:
        """Return the whole prompt's bytes."""
        return as_text(whole(self._prompt)).encode(encoding, "surrogatepass")

    def __reduce__(self) -> tuple[type[dict], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


class HeldInstance(Instance):
    """A request whose prompt is held: models get it from `args`, as it was."""

    @property
    def args(self) -> tuple[Any, ...]:
        """The prompt and the generation arguments."""
        prompt, *rest = self.arguments
        return (whole(prompt), *rest)


def hold_prompt(prompt: Any, texts: Texts) -> Any:
    """Return where a prompt is held that is a text, or chat messages as one; else itself."""
    text = prompt if isinstance(prompt, str) else getattr(prompt, "prompt", None)
    if not isinstance(text, str):
        return prompt
    return texts.hold(text, str if isinstance(prompt, str) else type(prompt))


def let_go(instances: Sequence[Instance], *, excerpt: bool) -> None:
    """Replace the prompts of requests that are answered by what the sample log has of them.

    Args:
        instances: requests; those for repeats of a question share its prompt.
        excerpt: whether that is their ends and their hash; else they are read.
    """
    logged: dict[int, LoggedPrompt] = {}
    for instance in instances:
        prompt, *rest = instance.arguments
        if not excerpt:
            instance.arguments = (whole(prompt), *masked(rest))
        elif not isinstance(prompt, LoggedPrompt):
            if id(prompt) not in logged:
                logged[id(prompt)] = LoggedPrompt(prompt)
            instance.arguments = (logged[id(prompt)], *masked(rest))


# ---------------------------------------------------------------------- results files


def _is_whole(file: Path, rows: int | None) -> bool:
    """Whether a file of results, or of so many rows, is all on the disk."""
    try:
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
            if rows is None:
                return bool(json.load(handle)["results"])
            return sum(bool(json.loads(line)) for line in handle) == rows
    except (OSError, ValueError, KeyError):
        return False


class ResultsWriter(EvaluationTracker):
    """Writes the results and logs of a run without its secrets, and checks that they were written.

    The harness logs that it could not write a file, and goes on. Then no file of the run stays:
    half of them would be taken for its results.

    Args:
        ended: called once, with the results, when they are written.
        given: as for the harness's.

    Attributes:
        results: all that a results file says of the run; None: it did not come to it.
    """

    date_id = ""  # until the harness sets it

    def __init__(self, ended: Callable[[Mapping[str, Any]], object] = bool, **given: Any) -> None:
        super().__init__(**given)
        self.results: dict[str, Any] | None = None
        self._ended = ended
        self._files: dict[Path, bool] = {}

    @property
    def folder(self) -> Path | None:
        """Where the files belong; None: nothing is written."""
        if not self.output_path:
            return None
        path = Path(self.output_path)
        if path.suffix == ".json":
            return path.parent
        return path / str(self.general_config_tracker.model_name_sanitized)

    @property
    def _file(self) -> Path:
        path = Path(self.output_path or "")
        name = path.stem if path.suffix == ".json" else "results"
        return (self.folder or path) / f"{name}_{self.date_id}.json"

    def save_results_aggregated(self, results: dict[str, Any], samples: Any = None) -> None:
        """Write the results file."""
        # In place: the model has answered, and the harness prints its arguments once more.
        for given in (*results["config"].values(), *results["configs"].values()):
            if isinstance(given, dict):
                given.update(masked(given))
        for row in chain.from_iterable((samples or {}).values()):
            row["arguments"] = [  # the prompt stays as it was sent
                (prompt, *(masked(one) if isinstance(one, dict) else one for one in rest))
                for prompt, *rest in row["arguments"]
            ]
        self.results, self._files = results, {}
        super().save_results_aggregated(results=results, samples=samples)
        if self.output_path:
            self._files[self._file] = _is_whole(self._file, None)
        self._ended(results)
        self._ended = bool  # what is saved again is no new run

    def save_results_samples(self, task_name: str, samples: Any) -> None:
        """Write the sample log of a task."""
        # Broken servers send halves of surrogate pairs, which UTF-8 cannot hold: the harness would
        # lose the whole log. They are written as JSON spells them.
        escaping = partial(open, errors="backslashreplace")
        with replaced(sys.modules[EvaluationTracker.__module__], open=escaping):
            super().save_results_samples(task_name=task_name, samples=samples)
        if self.folder is not None:
            log = self.folder / f"samples_{task_name}_{self.date_id}.jsonl"
            self._files[log] = _is_whole(log, len(samples))

    def take_back_parts(self) -> str:
        """Remove all files if one could not be written.

        Returns:
            What could not be written, and what to do, in one line; "" for nothing.
        """
        lost = [file.name for file, whole in self._files.items() if not whole]
        for file in self._files if lost else ():
            with contextlib.suppress(OSError):
                file.unlink()
        if not lost:
            return ""
        return (
            f"Not written to {self.folder}: {', '.join(lost)}. No file of this run stays there. "
            "Make room and start again: answers that are kept are not asked again."
        )

    def take_back_repeated(self) -> Path | None:
        """Remove the files if they add nothing to earlier ones beside them.

        Returns:
            The results file that has all of it already; None: there is something new.
        """
        if self.folder is None:
            return None
        try:
            others = [one for one in self.folder.iterdir() if RESULTS_NAME.fullmatch(one.name)]
            others = sorted(one for one in others if one != self._file)
            earlier = same_results([*others, self._file]).get(self._file)
            for path in (*logs_of(self._file), self._file) if earlier else ():
                path.unlink()
        except OSError:  # then there are two of them, which count once
            return None
        return earlier
