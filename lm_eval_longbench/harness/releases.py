"""What releases of the harness call differently: looked for here and nowhere else.

0.4.13 has one class for all tasks, which opens its data at once and has a list of filters and one
of metrics. 0.5 has a class an output type, which opens its data when first asked for them, and
scorers, each with a filter and metrics of its own. No version is read: what is there decides.
"""

from __future__ import annotations

import argparse
import functools
import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

import lm_eval.api.task
from lm_eval.filters import build_filter_ensemble

from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.harness.overrides import check_filters
from lm_eval_longbench.harness.record import COUNTED
from lm_eval_longbench.options import FLAGS, KEY, WHOLE_NUMBERS, flag
from lm_eval_longbench.secrets import masked, without_keys

if TYPE_CHECKING:
    from lm_eval.api.task import ConfigurableTask as GenerateTask
else:
    GenerateTask = getattr(lm_eval.api.task, "GenerateTask", lm_eval.api.task.ConfigurableTask)


# What 0.5 says of each task even where its YAML does not.
_EMPTY = ("tag", "dataset_kwargs", "multiple_inputs", "multiple_targets")


class HarnessTask(GenerateTask):
    """A task that generates, in both releases alike.

    Args:
        config: what the task's YAML says.
        kwargs: passed on.

    Attributes:
        own_filters: the filters of a user's YAML as they stand there, which stay; None without.
    """

    def __init__(self, config: Mapping[str, Any], **kwargs: Any) -> None:
        # Asked before: 0.5 puts a list of its own in the place of none, and metrics into each.
        self.own_filters = config.get("filter_list")
        super().__init__(config=config, **kwargs)
        assert self.dataset is not None  # 0.5 opens the data when first asked for them

    def doc_iterator(
        self,
        *,
        rank: int = 0,
        world_size: int = 1,
        samples: Sequence[int] | None = None,
        **kwargs: Any,
    ) -> Iterator[tuple[int, Any]]:
        """Yield this rank's documents; of chosen ones each with its place among them.

        0.5 gives them their place in the data, which its log of samples takes for the other.
        """
        if not samples:
            yield from super().doc_iterator(rank=rank, world_size=world_size, **kwargs)
            return
        chosen = super().doc_iterator(rank=0, world_size=1, samples=list(samples), **kwargs)
        yield from islice(enumerate(doc for _, doc in chosen), rank, None, world_size)

    def dump_config(self) -> dict[str, Any]:
        """Return the task's config without keys, and as 0.4.13 has it: 0.5 adds to filters, and
        what is empty.
        """
        dumped: dict[str, Any] = masked(super().dump_config())
        if not hasattr(self, "_scorers"):
            return dumped
        dumped |= {"filter_list": self.own_filters, "_qualified_name": None}
        dumped["metric_list"] = [
            {name: value for name, value in one.items() if name != "kwargs" or value}
            for one in dumped["metric_list"]
        ]
        return {
            name: value
            for name, value in dumped.items()
            if value is not None and (value or name not in _EMPTY)
        }

    @property
    def predicts_only(self) -> bool:
        """Whether nothing is scored: the harness's --predict_only."""
        if hasattr(self, "_scorers"):
            return bool(self._has_metric("bypass"))
        return "bypass" in self._metric_fn_list

    def keep_answers(self, number: int | None) -> None:
        """Let the first answers through the filter: all of a request's, or one.

        Filters of a user stay.

        Raises:
            OptionError: they take more answers than there are.
        """
        if self.own_filters is not None:
            check_filters(str(self.config.task), self.own_filters, number or 1)
            return
        step = ["take_first", None] if number is None else ["take_first_k", {"k": number}]
        ensemble = build_filter_ensemble("none", [step])
        if hasattr(self, "_scorers"):
            for scorer in self._scorers:
                scorer.filter = ensemble
        else:
            self._filters = [ensemble]

    @property
    def _qualified_name(self) -> str:
        """The task's name in results: in a group of 0.5, too, so that it is asked once."""
        return str(self.config.task)

    def _build_scorers(self) -> list[Any]:
        """Make the scorers of 0.5, with figures of ours in the place of its metrics.

        It knows another `acc` than ours, and would warn of each figure that it does not know.
        """
        given = self.config.filter_list
        self.config.filter_list = [
            {**one, "metric_list": [{**own, "metric": _named(own["metric"])} for own in metrics]}
            for one in given
            for metrics in [one["metric_list"]]
        ]
        try:
            return list(super()._build_scorers())
        finally:
            self.config.filter_list = given

    def higher_is_better(self) -> dict[str, bool]:
        """Return which figures are better if higher: all listed, which 0.5 forgets unscored."""
        listed = {one["metric"]: one.get("higher_is_better") for one in self.config.metric_list}
        known = {name: value for name, value in listed.items() if isinstance(value, bool)}
        return {**known, **super().higher_is_better()}

    def set_repeats(self, repeats: int) -> None:
        """Refuse the --repeats of 0.5, which would change nothing here."""
        raise OptionError(
            f"{self.config.task}: the harness's own repeats have no effect on LongBench tasks. Ask "
            f"for several answers to each question with the metadata "
            f"{json.dumps({KEY: {'repeats': repeats}})}."
        )

    def without_scores(self, doc: Mapping[str, Any], results: list[Any]) -> dict[str, Any]:
        """Return what a question gets where nothing is scored; 0.5 returns nothing by itself."""
        return super().process_results(doc, results) or {"bypass": None}

    def one_request(self, doc: dict[str, Any], ctx: Any, **kwargs: Any) -> Any:
        """Return the harness's request for a document; 0.5 puts it into a list."""
        built = super().construct_requests(doc, ctx, **kwargs)
        return built[0] if isinstance(built, list) else built

    def count(self, name: str, values: Sequence[Any]) -> None:
        """Take note of the values of one of COUNTED: one a question, of all ranks."""
        raise NotImplementedError("The class of our tasks takes them into its signature.")

    def aggregation(self) -> dict[str, Callable[..., Any]]:
        """Return how figures are put together; 0.4.13 meets the values of all ranks only here."""
        given = super().aggregation()

        def counted(name: str) -> Callable[[Sequence[float]], float]:
            def aggregate(values: Sequence[float]) -> float:
                self.count(name, values)
                return given[name](values)

            return aggregate

        return {**given, **{name: counted(name) for name in COUNTED if name in given}}

    def aggregate(self, bootstrap_iters: int | None = None) -> tuple[dict[str, Any], int]:
        """Put figures together in 0.5, which passes `aggregation` by.

        It would also draw 100,000 samples for the standard error of each function of ours, in
        processes of its own; 0.4.13 has none for these.
        """
        from lm_eval.api.metrics import mean

        figures: dict[str, Any] = {}
        number = 0
        for scorer in self._scorers:
            rows = scorer.reduced_docs
            listed = {one.name: one for one in scorer.metrics or ()}
            others = {name: mean for row in rows.values() for name in row if name not in listed}
            own, asked = scorer.aggregate(rows, 0, others)
            figures, number = {**figures, **own}, max(number, asked)
            if bootstrap_iters:
                without = {name for name, one in listed.items() if not _has_error(one)}
                docs = {
                    key: {name: value for name, value in row.items() if name not in without}
                    for key, row in rows.items()
                }
                figures |= scorer.aggregate(docs, bootstrap_iters, others)[0]
            for name in COUNTED:
                values = [row[name] for row in rows.values() if name in row]
                if values and name in listed:
                    self.count(name, values)
        return figures, number

    def with_replies(self, doc: Mapping[str, Any]) -> dict[str, Any]:
        """Return a document with what is known of the answers to its question."""
        raise NotImplementedError("The class of our tasks knows it.")


def _has_error(metric: Any) -> bool:
    """Whether a figure of 0.5 gets a standard error: those that get one in 0.4.13."""
    of = getattr(metric.aggregation, "__module__", "")
    return of.startswith("lm_eval.") and metric.name not in COUNTED


def show_replies() -> None:
    """Let the sample log of 0.5 have what is known of answers.

    It logs the document that a request was built from; 0.4.13 asks `doc_iterator` once more.
    """
    if not hasattr(lm_eval.api.task, "GenerateTask"):
        return
    from lm_eval import evaluator

    build = evaluator._build_logged_samples
    if hasattr(build, "shows_replies"):
        return

    @functools.wraps(build)
    def shown(task: Any, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = build(task, *args, **kwargs)
        if isinstance(task, HarnessTask):
            # Now: the harness has hashed the document without them, as 0.4.13 does.
            for row in rows:
                row["doc"] = task.with_replies(row["doc"])
        return rows

    shown.shows_replies = True  # type: ignore[attr-defined]
    evaluator._build_logged_samples = shown


def _named(name: Any) -> Callable[..., None]:
    """Return a metric of 0.5 with a name, which has its values from `process_results`."""

    def figure(*_: Any, **__: Any) -> None:
        """Never called."""

    figure.__name__ = name if isinstance(name, str) else name.__name__
    return figure


def task_index(manager: Any) -> Mapping[str, Any]:
    """Return a task manager's index: an entry for each name of a task, a group or a tag."""
    return manager.task_index if hasattr(manager, "task_index") else manager._task_index


def defaults_of_members(group: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """Return the keys that a group gives its members: its own of tasks, or what 0.5 includes.

    Args:
        group: what its YAML says.
        file: the YAML; None: it stands within another.
    """
    from lm_eval.config.group import GroupConfig
    from lm_eval.tasks._yaml_loader import load_yaml

    of_a_group = {field.name for field in fields(GroupConfig)}
    if "include" not in of_a_group:
        return {key: value for key, value in group.items() if key not in of_a_group}
    given = group.get("include") or {}
    if isinstance(given, str):
        return dict(load_yaml((file.parent if file else Path()) / given))
    return dict(given)


class _NotRead(Exception):
    """--metadata is no JSON: argparse lets an exception of this class through."""


def _read_metadata(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _NotRead(f"--metadata {text} is no JSON: {error}") from error


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def parsed_arguments(arguments: Sequence[str], more: Sequence[str] = ()) -> Namespace:
    """Return what the harness's parser of `run` makes of arguments, our flags among them.

    Args:
        arguments: behind `run`.
        more: options that are read elsewhere, for the nearest name to a misspelt one.

    Raises:
        SystemExit: after the help.
        ValueError: an argument has no value, or one that cannot be read.
        UnknownNameError: there is no such option; names the nearest.
    """
    from lm_eval._cli.harness import HarnessCLI

    run = HarnessCLI()._subparsers.choices["run"]
    run.prog, run.usage = "lm-eval-longbench run", "%(prog)s --model MODEL --tasks TASKS [options]"
    run.epilog = None  # examples of the harness's own tasks
    run.error = _refuse
    run.conflict_handler = "resolve"  # 0.5 has a --repeats, which has no effect on our tasks
    for name in FLAGS:
        kind = int if name in WHOLE_NUMBERS else str
        run.add_argument(flag(name), type=kind, dest=name, help=argparse.SUPPRESS)
    metadata = run._option_string_actions["--metadata"]
    if metadata.type is json.loads:
        metadata.type = _read_metadata
    try:
        parsed, unknown = run.parse_known_args(arguments)
    except _NotRead as error:
        raise ValueError(str(error)) from error
    except ValueError as error:
        if "unpack" not in str(error):
            raise
        # 0.5 splits at the first "=" without a look.
        raise ValueError("a piece of a list of arguments is no key=value") from error
    for word in unknown:
        if word.startswith("-"):
            known = (one for one in run._option_string_actions if one.startswith("--"))
            raise UnknownNameError("flag", word.partition("=")[0], [*known, *more])
    if unknown:
        raise OptionError(
            f"{without_keys(unknown[0])!r} stands alone: put the option that it belongs to before "
            "it, such as --tasks."
        )
    return parsed


def sample_size(task: Any, limit: float | None) -> int | None:
    """Return how many questions of a task --limit leaves; None: all."""
    from lm_eval import evaluator_utils

    name = "get_sample_size" if hasattr(evaluator_utils, "get_sample_size") else "_get_sample_size"
    return getattr(evaluator_utils, name)(task, limit)


def is_text(instance: Any) -> bool:
    """Whether a request is a prompt and how to generate, and nothing more, such as an image."""
    args = instance.args
    more = getattr(instance, "additional_args", None)  # where 0.5 has it
    return len(args) == 2 and isinstance(args[1], dict) and not more


def building_module() -> ModuleType:
    """Return the module whose bar shows how prompts are built."""
    return getattr(lm_eval.api.task, "_task", lm_eval.api.task)
