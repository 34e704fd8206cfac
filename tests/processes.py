"""Commands as processes that share the import of what others made.

To import the harness, torch and transformers takes seconds, far longer than most commands. Here one
process imports them once, and forks for each command; this package is imported anew by each. What
the harness finds out about the machine, and its own 13,000 task files, are read once as well.
Tests about the start of a process use `subprocess`.
"""

import contextlib
import gc
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TASKS = Path(__file__).resolve().parents[1] / "tasks"
# Seconds that a command may take; a busy machine needs many.
TIMEOUT = 600


class Process:
    """One command that was started."""

    def __init__(self, parent, pid, arguments, files):
        self._parent, self.pid, self.args, self._files = parent, pid, arguments, files

    def poll(self):
        """Return the status; None while it runs."""
        return self._parent.ask({"poll": self.pid})

    def send_signal(self, number):
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def wait(self, timeout=TIMEOUT):
        """Return status and output as subprocess.run does; kill what takes too long."""
        status = self._parent.ask({"wait": self.pid}, timeout, self.pid)
        said = [file.read_bytes().decode("utf-8", "replace") for file in self._files]
        return subprocess.CompletedProcess(self.args, status, *said)


class Processes:
    """The process that forks. Attribute: folder, where output is kept."""

    def __init__(self, folder):
        self.folder, self._number = folder, 0
        self._begin()

    def _begin(self):
        self._process = subprocess.Popen(
            [sys.executable, __file__, self.folder],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, question, timeout=TIMEOUT, pid=None):
        """Send a question and return the answer."""
        try:
            self._process.stdin.write(f"{json.dumps(question)}\n")
            self._process.stdin.flush()
            if select.select([self._process.stdout], [], [], timeout)[0]:
                return json.loads(self._process.stdout.readline())
            raise TimeoutError(f"no answer in {timeout} s: {question}")
        except BaseException:  # also of pytest: what is answered later would be the next one's
            if pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process.kill()
            self._process.communicate()
            self._begin()
            raise

    def start(self, *arguments, cwd=None, env=None, all_tasks=False):
        """Start a console script (`lm_eval`, `lm-eval-longbench`), a Python file, or `-m module`.

        env: the whole environment; None: that of the tests. all_tasks: the command will look at
        all of the harness's tasks.
        """
        self._number += 1
        files = [self.folder / f"{self._number}.{name}" for name in ("out", "err")]
        arguments = [str(argument) for argument in arguments]
        pid = self.ask(
            {
                "start": arguments,
                "cwd": str(cwd or Path.cwd()),
                "env": {**(os.environ if env is None else env)},
                "files": [str(file) for file in files],
                "all tasks": all_tasks,
            }
        )
        return Process(self, pid, arguments, files)

    def run(self, *arguments, timeout=TIMEOUT, **more):
        """Run a command to its end."""
        return self.start(*arguments, **more).wait(timeout)

    def close(self):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def words_of(script):
    """Return the words of each command in a shell script that is ours or Python's, as bash has
    them; other commands are run."""
    shown = "() { printf '%s\\n' $FUNCNAME \"$@\" ''; }\n"
    functions = "".join(name + shown for name in ("lm-eval-longbench", "python"))
    said = subprocess.run(
        ["bash", "-e", "-c", functions + script], capture_output=True, text=True, check=True
    ).stdout
    commands = [part.split("\n") for part in said.strip().split("\n\n")]
    return [words[1:] if words[0] == "python" else words for words in commands]


def imported_once():
    """Import what others made, and ask about the machine; of ours nothing may be there."""
    import bm25s  # noqa: F401
    import datasets  # noqa: F401
    import jieba  # noqa: F401
    import lm_eval._cli.harness
    import lm_eval.api.task
    import lm_eval.evaluator
    import lm_eval.loggers
    import lm_eval.models.huggingface
    import lm_eval.models.openai_completions
    import lm_eval.tasks._index
    import pydantic
    import pytablewriter  # noqa: F401
    import rich.console
    import rich.table  # noqa: F401
    import rouge_score.rouge_scorer  # noqa: F401
    import typer  # noqa: F401

    _ = pydantic.TypeAdapter  # what typer checks arguments with; imported when it is asked for
    ours = [name for name in sys.modules if name.startswith("lm_eval_longbench")]
    assert ours == [], ours
    about = {}
    lm_eval.evaluator.add_env_info(about)
    lm_eval.evaluator.add_env_info = lambda results: results.update(about)


def read_own_task_files_once():
    """Read the files of TASKS, and keep those that the harness will read of its own."""
    import lm_eval.tasks
    import task_files

    task_files.keep(TASKS, Path(lm_eval.tasks.__file__).parent)
    lm_eval.tasks.TaskManager(include_path=[str(TASKS)], include_defaults=False)


def read_task_files_once():
    """Read the harness's own task files, so that children have them, and a model's modules."""
    import lm_eval.tasks
    import transformers.models.llama.modeling_llama  # noqa: F401

    gc.disable()  # it would look at all that stays
    lm_eval.tasks.TaskManager()
    gc.enable()


def become(asked):
    """In a child: run the command."""
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    for number, file in enumerate((os.devnull, *asked["files"])):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    import datasets

    # What looked at the environment when it was imported.
    tempfile.tempdir = None
    if threads := os.environ.get("OMP_NUM_THREADS"):
        import torch

        torch.set_num_threads(int(threads))
    if cache := os.environ.get("HF_DATASETS_CACHE"):
        datasets.config.HF_DATASETS_CACHE = Path(cache)
    if endpoint := os.environ.get("HF_ENDPOINT"):
        from huggingface_hub import constants

        constants.ENDPOINT = endpoint
        constants.HF_HUB_OFFLINE = os.environ.get("HF_HUB_OFFLINE") == "1"
    name, *sys.argv[1:] = asked["start"]
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv[0] = name
    if name == "-m":
        runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
    elif name == "lm_eval":
        from lm_eval.__main__ import cli_evaluate

        cli_evaluate()
    elif name == "lm-eval-longbench":
        from lm_eval_longbench.cli.main import main

        main()
    else:
        sys.path.insert(0, str(Path(name).parent))
        runpy.run_path(name, run_name="__main__")


def serve(folder):
    """Answer questions until there are no more."""
    imported_once()
    read_own_task_files_once()
    # Children compile this package once, whatever the environment says about bytecode.
    sys.dont_write_bytecode, sys.pycache_prefix = False, folder
    tasks_are_read, ended = False, {}
    for line in sys.stdin:
        asked = json.loads(line)
        pid = asked.get("wait") or asked.get("poll")
        if pid:
            if pid not in ended:
                try:
                    found, status = os.waitpid(pid, 0 if "wait" in asked else os.WNOHANG)
                except ChildProcessError:  # of a process like this one that has ended
                    found, status = pid, signal.SIGKILL
                if found:
                    ended[pid] = os.waitstatus_to_exitcode(status)
            answer = ended.get(pid)
        else:
            if asked["all tasks"] and not tasks_are_read:
                read_task_files_once()
                tasks_are_read = True
            gc.freeze()  # a child does not look at, and so does not copy, what is there
            answer = os.fork()
            if answer == 0:
                become(asked)
                return
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
