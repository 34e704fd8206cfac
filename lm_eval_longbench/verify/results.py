"""Check a results file as a whole: that each entry belongs to something, and its groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_longbench.benchmarks.registry import kind_of, our_group, tasks
from lm_eval_longbench.errors import LongBenchError, PredictionError
from lm_eval_longbench.input_files import read_json_lines
from lm_eval_longbench.logs.formulas import plain_error, pooled_error, weighted_mean
from lm_eval_longbench.logs.results_file import NAMING, ResultsFile, TaskResult
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.signature.signature import package_versions
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
    all_of,
    compared,
    same_number,
)

# ---------------------------------------------------------------------- groups

_STDERR = "_stderr,"
_NO_ERROR = "N/A"
# Tasks of a group, each as often as ways lead to it, that can be reckoned with.
_MOST = 10_000


def _times(group: str, members: Mapping[str, Sequence[str]]) -> Counter[str] | None:
    """Return how many ways lead from a group to each task under it: so often the harness counts it.

    None for a group that contains itself, which the harness cannot build.
    """
    order: list[str] = []
    state: dict[str, bool] = {}  # False: begun, True: done
    waiting = [(group, False)]
    while waiting:
        name, done = waiting.pop()
        if done:
            state[name] = True
            order.append(name)
        elif name not in state:
            state[name] = False
            waiting.append((name, True))
            waiting += [(own, False) for own in members.get(name, ())]
        elif not state[name]:
            return None
    ways = Counter({group: 1})
    for name in reversed(order):
        for own in members.get(name, ()):
            ways[own] = min(ways[own] + ways[name], _MOST)
    return Counter({name: number for name, number in ways.items() if name not in members})


def _expected(
    key: str, values: Sequence[float], sizes: Sequence[int], weighted: bool | None
) -> list[float]:
    """Return the figures that the harness can make: weighted by size, plain, or (None) either."""
    is_error = _STDERR in key
    made = []
    if weighted is not False:
        made.append(pooled_error(values, sizes) if is_error else weighted_mean(values, sizes))
    if not weighted:
        plain = weighted_mean(values, [1] * len(values))
        made.append(plain_error(values) if is_error else plain)
    return [value for value in made if value is not None]


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def check_groups(
    results: ResultsFile, verified: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, Check]]:
    """Yield the checks of each group's figures, with the group's name.

    A group of ours, with our members, weighs its tasks as our file says. Any other is a user's own,
    of which the results do not say whether it weighs them by size: either is confirmed. Figures of
    tasks that are not in `verified` are taken as stated.
    """
    ours = {task.name for task in results.tasks}
    for name, members in results.members.items():
        ways = _times(name, results.members)
        if ways is None:
            said = "The group contains itself, which the harness cannot build."
            yield name, Check("groups", "members", DIFFERENT, ", ".join(members), None, said)
            continue
        if kind_of(name) != "group" and not ours & ways.keys():
            continue  # a group of other tasks
        own = _Group(name, ways, results, verified)
        for check in own.checks():
            yield name, check
        if kind_of(name) == "group" and our_group(name, members) is None:
            said = "A group of this package has this name, and other members."
            yield name, Check(OFFICIAL, "members", NOT_CHECKABLE, ", ".join(members), None, said)


class _Group:
    """One group of a results file."""

    def __init__(
        self,
        name: str,
        ways: Counter[str],
        results: ResultsFile,
        verified: Mapping[str, Mapping[str, float]],
    ) -> None:
        self._results, self._verified = results, verified
        ours = our_group(name, results.members[name])
        self._weights = None if ours is None else ours.weights
        self._stated = results.results.get(name, {})
        self._copy = results.groups.get(name)
        self._too_many = ways.total() > _MOST
        # Each task as often as the harness counts it.
        self.tasks = [] if self._too_many else [t for t in ways.elements() if t in results.results]

    def _sizes(self, tasks: Sequence[str]) -> list[int] | None:
        """Return the number of questions of some tasks; None if one is not known."""
        stated = [self._results.results[task].get("sample_len") for task in tasks]
        sizes = [size for size in stated if isinstance(size, int) and _is_number(size) and size > 0]
        return sizes if sizes and len(sizes) == len(stated) else None

    def checks(self) -> Iterator[Check]:
        """Yield a check of each thing that the results state of the group."""
        if self._too_many:
            said = f"Its tasks are counted more than {_MOST} times."
            yield Check("groups", "members", NOT_CHECKABLE, meaning=said)
            return
        for key, found in self._stated.items():
            if key not in ("name", "alias", "sample_len", "sample_count"):
                yield self._figure(key, found)
        if "sample_len" in self._stated:
            yield from self._counts()
        for metric in self._weights or ():
            if not any(key.partition(",")[0] == metric for key in self._stated):
                yield from self._missing(metric)
        if self._copy is not None or "sample_len" in self._stated:
            yield self._copied()

    def _counts(self) -> Iterator[Check]:
        said = "Its tasks have another number of questions."
        sizes = self._sizes(self.tasks)
        total = None if sizes is None else sum(sizes)
        yield compared("groups", "sample_len", self._stated["sample_len"], total, said)
        counts = self._stated.get("sample_count")
        expected = {}
        for key in self._stated:
            if "," in key and _STDERR not in key:
                own = self._sizes(
                    [task for task in self.tasks if key in self._results.results[task]]
                )
                expected[key] = None if own is None else sum(own)
        yield compared("groups", "sample_count", counts, expected or None, said)

    def _missing(self, metric: str) -> Iterator[Check]:
        """Yield a check of a figure that a group of ours has, and this one has not."""
        wanted = f"{metric},"
        own = [
            task
            for task in self.tasks
            if any(k.startswith(wanted) for k in self._results.results[task])
        ]
        if own:
            said = "The group's figure was taken out of the results."
            yield Check("groups", metric, DIFFERENT, None, None, said)

    def _copied(self) -> Check:
        """Check that the two places of the file that state the group's figures agree."""
        copy = self._copy or {}
        other = [
            key
            for key in self._stated.keys() | copy.keys()
            if not same_number(copy.get(key), self._stated.get(key))
        ]
        if not other:
            return Check("groups", "copy", CONFIRMED, "figures of the results")
        said = "'groups' states other figures than 'results': one of them was edited."
        found, expected = copy.get(min(other)), self._stated.get(min(other))
        return Check("groups", f"copy of {min(other)}", DIFFERENT, found, expected, said)

    def _figure(self, key: str, found: Any) -> Check:
        stated, verified = self._results.results, self._verified
        own = [task for task in self.tasks if key in stated[task]]
        values: list[Any] = [verified.get(task, {}).get(key, stated[task][key]) for task in own]
        sizes = self._sizes(own)
        if not own or "," not in key:
            said = "Its tasks have no such figure: it was added."
            return Check("groups", key, DIFFERENT, found, None, said)
        if not all(map(_is_number, values)):
            return _no_error(key, found, values)
        if sizes is None:
            said = "Its tasks have no number of questions."
            return Check("groups", key, NOT_CHECKABLE, found, None, said)
        weighted = None
        if self._weights is not None:
            weighted = self._weights.get(key.partition(",")[0].removesuffix(_STDERR[:-1]))
        expected = _expected(key, values, sizes, weighted)
        for value in expected:
            if same_number(found, value):
                of = key.replace(_STDERR, ",")
                recomputed = [task for task in own if of in verified.get(task, {})]
                if len(recomputed) == len(own):
                    return Check("groups", key, CONFIRMED, found, value)
                left = len(set(own) - set(recomputed))
                said = f"It follows from its tasks, of which {left} were not recomputed."
                return Check("groups", key, NOT_CHECKABLE, found, value, said)
        said = "The group's figure is no mean of its tasks' figures: one of them was edited."
        return Check("groups", key, DIFFERENT, found, expected[0] if expected else None, said)


def _no_error(key: str, found: Any, values: Sequence[Any]) -> Check:
    """Check a figure of which not all tasks have a number: "N/A", for errors only."""
    if _STDERR in key and found == _NO_ERROR:
        return Check("groups", key, CONFIRMED, found, _NO_ERROR)
    said = "Not all of its tasks have a number, so that the group has none."
    return Check("groups", key, DIFFERENT, found, None, said)


# ---------------------------------------------------------------------- entries

# Parts with an entry a task; the first ones have entries of groups, too.
_WITH_GROUPS = ("results", "versions", "n-shot", "higher_is_better")
_OF_TASKS = ("n-samples", "task_hashes")
# What `harness.task` writes into the configuration of its tasks.
_OURS = "lm_eval_longbench"
# What the harness states once a file, and checks compare.
_STATED = (
    *("config", "lm_eval_version", "model_source", "model_name", "chat_template"),
    *("chat_template_sha", "system_instruction", "system_instruction_sha"),
)


def check_results(results: ResultsFile) -> Iterator[tuple[str, Check]]:
    """Yield the checks of a results file's parts, each with the task or group that it is about."""
    yield from _entries(results)
    for name in results.others:
        problem = _is_ours(results, name)
        if problem:
            said = "What it wrote of its run was taken out, so that nothing of it can be checked."
            yield name, Check("entries", "longbench_run", DIFFERENT, None, problem, said)
    if not results.tasks:
        return
    for task in results.tasks:
        yield from ((task.name, check) for check in _table(results, task))
    yield from ((group, check) for group, check in _groups(results))
    yield from (("", check) for check in _run(results))


def _entries(results: ResultsFile) -> Iterator[tuple[str, Check]]:
    """Check that every entry is of a task or a group, and that each of these has its entry."""
    whole: Mapping[str, Any] = results.whole
    groups, names = results.members, whole["configs"].keys()
    wrong: list[tuple[str, str, str]] = []
    for part in (*_WITH_GROUPS, *_OF_TASKS, "groups"):
        known = {*names, *groups} if part in _WITH_GROUPS else names
        known = groups.keys() if part == "groups" else known
        said = "It belongs to no task and no group of the file: it was added."
        wrong += [(name, part, said) for name in whole.get(part, {}) if name not in known]
    said = "It was taken out of the results."
    wrong += [(name, "results", said) for name in (*names, *groups) if name not in results.results]
    members = {name for own in groups.values() for name in own}
    wrong += [(name, "configs", said) for name in members if name not in {*names, *groups}]
    for name, part, said in wrong:
        yield name, Check("entries", part, DIFFERENT, name, None, said)
    if not wrong and results.tasks:
        number = len(names) + len(groups)
        yield "", Check("entries", "entries", CONFIRMED, f"{number} tasks and groups")


def _is_ours(results: ResultsFile, name: str) -> str:
    """Return how a task without a run of ours shows that it is one; "": it is another's."""
    config = results.whole["configs"][name]
    if name in tasks():
        return "a task of this package by its name"
    if config.get("process_results") == _OURS or _OURS in str(config.get("class")):
        return "a task of this package by its configuration"
    log, _ = results.log_of(name)
    try:
        rows = iter(()) if log is None else read_json_lines(log, PredictionError)
        _, row = next(rows, (0, None))
    except LongBenchError:  # another's log
        return ""
    doc = row.get("doc") if isinstance(row, Mapping) else None
    if not isinstance(doc, Mapping) or not isinstance(doc.get("prompt"), Mapping):
        return ""
    return "a task of this package by its log" if str(doc.get("task")) in tasks() else ""


def _table(results: ResultsFile, task: TaskResult) -> Iterator[Check]:
    """Check what the harness's table shows of a task besides its figures."""
    whole, kind = results.whole, "table"
    config, name = task.config, task.name
    said = "The table shows it otherwise than the configuration has it."
    shots, alias = config.get("num_fewshot"), config.get("task_alias") or name
    for key, found, expected in (
        ("task", config.get("task"), name),
        ("name", task.figures.get("name", name), name),
        ("alias", task.figures.get("alias", alias), alias),
        # Where the configuration is silent 0.5 shows a 0.
        ("n-shot", whole.get("n-shot", {}).get(name, shots) or 0, shots or 0),
        ("num_fewshot", shots or 0, 0),
    ):
        yield compared(kind, key, found, expected, said)
    stated = whole.get("higher_is_better", {}).get(name, {})
    listed = {own["metric"]: own.get("higher_is_better") for own in config.get("metric_list") or ()}
    figures = {key.rpartition(",")[0] for key in task.figures}
    wrong = [
        f"{metric} is {stated.get(metric)}"
        for metric in sorted({*listed, *stated})
        if (metric in listed and listed[metric] not in (None, stated.get(metric)))
        or metric not in {*listed, *figures}
        or not isinstance(stated.get(metric), bool)
    ]
    yield from all_of("higher is better", len(stated), wrong, "as in the configuration", said)


def _groups(results: ResultsFile) -> Iterator[tuple[str, Check]]:
    """Check what the harness's table shows of groups besides their figures.

    The harness spreads it from members to groups, in the order of the file: a group that comes
    before its members gets nothing from them.
    """
    whole, configs = results.whole, results.whole["configs"]
    stated_shots, stated_better = whole.get("n-shot", {}), whole.get("higher_is_better", {})
    shots = {name: str(stated_shots.get(name)) for name in configs}
    better = {name: stated_better.get(name, {}) for name in configs}
    packages = [task.run.get("packages") or {} for task in results.tasks]
    here = package_versions()["lm_eval_longbench"]
    ours = all(own.get("lm_eval_longbench") == here for own in packages)
    for group, members in results.members.items():
        met = {shots[name] for name in members if name in shots}
        if len(met) == 1:
            shots[group] = met.pop()
        spread: dict[str, Any] = {}
        for name in members:
            for metric, value in better.get(name, {}).items():
                spread[metric] = value if spread.get(metric, value) == value else None
        if spread:
            better[group] = spread
        said = "The table shows it otherwise than that of its tasks."
        found = str(stated_shots[group]) if group in stated_shots else None
        if found is not None or group in shots:
            yield group, compared("table", "n-shot", found, shots.get(group), said)
        if spread or group in stated_better:
            yield group, compared("table", "higher", stated_better.get(group, {}), spread, said)
        name = results.results.get(group, {}).get("name", group)
        yield group, compared("table", "name", name, group, said)
        version = whole.get("versions", {}).get(group)
        alias = results.results.get(group, {}).get("alias", group)
        own = our_group(group, members)
        if own is not None and own.version == str(version) and group == alias:
            yield group, Check("table", "version, alias", CONFIRMED, [version, alias])
        elif own is not None and ours:
            said = "This package has the group under another version or another name in the table."
            wanted = [own.version, group]
            yield group, Check("table", "version, alias", DIFFERENT, [version, alias], wanted, said)
        else:
            said = "Its version and its name in the table stand in the group's own file only."
            yield group, Check("table", "version, alias", NOT_CHECKABLE, version, None, said)


def _run(results: ResultsFile) -> Iterator[Check]:
    """Check what the file says of the model and of the text around prompts, twice and more."""
    whole: Mapping[str, Any] = results.whole
    kind = "run"
    for part in (*_STATED, *_WITH_GROUPS, *_OF_TASKS, "group_subtasks"):
        if part not in whole:
            said = "The file does not state it, so that nothing could be compared with it."
            yield Check(kind, part, NOT_CHECKABLE, None, None, said)
    for part in ("chat_template", "system_instruction"):
        text, found = whole.get(part), whole.get(f"{part}_sha")
        if f"{part}_sha" in whole and (text is None or isinstance(text, str)):
            said = f"The hash is not that of the {part} beside it: one of them was edited."
            yield compared(kind, f"{part}_sha", found, text_sha256(text) if text else None, said)
    config = whole.get("config", {})
    arguments, name = config.get("model_args"), whole.get("model_name")
    source, model = whole.get("model_source"), config.get("model")
    said = "The model is named in two ways: one of them was edited."
    if source not in (None, "CUSTOM"):
        yield compared(kind, "model_source", source, model, said)
    if isinstance(arguments, Mapping) and name is not None:
        named = [str(arguments[key]) for key in NAMING if key in arguments]
        if named:
            yield compared(kind, "model_name", name in named, True, said)
    elif isinstance(arguments, str) and any(f"{key}=" in arguments for key in NAMING):
        yield compared(kind, "model_name", str(name) in arguments, True, said)
    packages = [task.run.get("packages") or {} for task in results.tasks]
    versions = {own["lm_eval"] for own in packages if own.get("lm_eval") is not None}
    if "lm_eval_version" in whole and versions:
        said = "The signatures name another version of the harness than the file."
        yield compared(kind, "lm_eval", [whole["lm_eval_version"]], sorted(versions), said)
    said = (
        "Nothing in the files tells which model answered, on which machine, when, and with which "
        "packages: they are only stated."
    )
    yield Check("ingredients", "model, machine, packages", NOT_CHECKABLE, name, None, said)
