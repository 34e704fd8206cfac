"""What the commands that check runs and results do, for Python callers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lm_eval_longbench.answers.summary import FileAnswers
    from lm_eval_longbench.doctor.line import Line
    from lm_eval_longbench.options import Options
    from lm_eval_longbench.verify.check import Verification
    from lm_eval_longbench.verify.compare import Compared


def verify_results(
    paths: Path | str | Iterable[Path | str],
    *,
    data_dir: str | None = None,
    tokenizer: str | None = None,
) -> Verification:
    """Compute results again from their sample logs, as `lm-eval-longbench verify` does.

    Args:
        paths: results files, run folders and scored folders.
        data_dir: folder or file of the data, where it is not the official cache.
        tokenizer: name or folder of the tokenizer that cut prompts.

    Returns:
        Every check; `exit_status` is that of the command, 0 where all figures were confirmed.

    Raises:
        PredictionError: a path does not exist or holds no results.
    """
    from lm_eval_longbench.verify.verify import verify  # slow to import

    given = [paths] if isinstance(paths, str | Path) else list(paths)
    return verify([Path(path) for path in given], data_dir, tokenizer)


def compare_results(left: Path | str, right: Path | str) -> Compared:
    """Say whether two results can be compared, as `lm-eval-longbench compare` does.

    Args:
        left, right: results files, run folders or scored folders.

    Returns:
        The verdict, and by task in what they differ.

    Raises:
        PredictionError: a file is broken, or has no tasks of ours, or one task twice.
    """
    from lm_eval_longbench.verify import compare  # slow to import

    return compare.compare_results(Path(left), Path(right))


def check_run(
    arguments: Sequence[str] = (), *, preset: str | None = None, thinking: bool = False
) -> list[Line]:
    """Look at everything a run needs before it costs anything, as `lm-eval-longbench doctor` does.

    Args:
        arguments: those of `lm-eval-longbench run`; none: what does not depend on a run.
        preset: published model of LongBench Pro whose settings are used.
        thinking: its settings for thinking scores.

    Returns:
        What was looked at, each with a status.
    """
    from lm_eval_longbench.doctor.checkup import examine  # slow to import

    return examine(arguments, preset, thinking=thinking)


def freeze(tasks: Sequence[str], options: Options) -> str:
    """Return the text of a lock file, as `lm-eval-longbench lock` writes it.

    Args:
        tasks: tasks and groups; wildcards work.
        options: of the runs that it is for.

    Raises:
        UnknownNameError: a name stands for none of our tasks; names the nearest.
        DataError: data that `options` names is not there.
    """
    from lm_eval_longbench.lock.lock import lock_now, lock_text  # slow to import

    return lock_text(lock_now(tasks, options))


def kept_answers(path: Path | str) -> list[FileAnswers]:
    """Return what is in the files where runs keep answers, as `lm-eval-longbench answers` does.

    Args:
        path: a file of answers, or a folder with some.

    Raises:
        OptionError: a file is none of answers, or damaged.
    """
    from lm_eval_longbench.answers.summary import files_of, summary

    return [summary(file) for file in files_of(Path(path))]
