"""What there is to freeze of a run of our tasks, here and now."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.templates import load_template, template_sha256
from lm_eval_longbench.provenance.lock_data import data_of
from lm_eval_longbench.provenance.lock_file import Lock
from lm_eval_longbench.provenance.lock_tasks import all_tasks, expanded, task_versions, valid_names
from lm_eval_longbench.provenance.packages import package_versions
from lm_eval_longbench.provenance.signature import METRIC_VERSIONS

# Besides those of a signature: they read the data and cut the prompts.
_MORE_PACKAGES = ("datasets", "transformers")


def packages_now() -> dict[str, str | None]:
    """Return the version of each package that a lock freezes; None where it is not installed."""
    found = package_versions()
    for name in _MORE_PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def options_set(options: Options) -> dict[str, Any]:
    """Return the options that are not at their default, as plain JSON values."""
    default = Options().to_dict()
    given = json.loads(json.dumps(options.to_dict()))
    return {name: value for name, value in given.items() if value != default[name]}


def lock_of(names: Sequence[str], options: Options) -> Lock:
    """Return the lock of some of our tasks.

    Args:
        names: tasks, as `lock_tasks.expanded` gives them.
        options: of the run.

    Raises:
        DataError: data that `options` names is not there.
        PromptError: a prompt template was changed.
    """
    known, versions = all_tasks(), task_versions()
    tasks = [known[name] for name in names]
    templates = sorted({task.template for task in tasks})
    for template in templates:
        load_template(*template)  # stops where the file is not what its hash says
    return Lock(
        data=data_of(tasks, options),
        metrics={task.benchmark: METRIC_VERSIONS[task.benchmark] for task in tasks},
        options=options_set(options),
        packages=packages_now(),
        tasks={name: versions[name] for name in names},
        templates={"/".join(template): template_sha256(*template) for template in templates},
    )


def lock_now(tasks: Sequence[str], options: Options) -> Lock:
    """Return the lock of what a user asks for.

    Args:
        tasks: our tasks and groups, with wildcards or commas as for the harness; pass two of
            chain of thought comes along with pass one.
        options: of the run.

    Raises:
        UnknownNameError: a name stands for none of our tasks; names the nearest.
        DataError: data that `options` names is not there.
        PromptError: a prompt template was changed.
    """
    names, foreign = expanded(tasks)
    if foreign:
        raise UnknownNameError("task of this package", foreign[0], valid_names())
    return lock_of(names, options)
