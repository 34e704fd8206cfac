"""Write real runs of the harness, with results file and sample logs, and edit what they wrote."""

import gzip
import json
import shutil
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

from lm_eval_longbench.harness.baseline import ExtractiveBaseline
from lm_eval_longbench.harness.evaluate import evaluated
from lm_eval_longbench.task_folder import task_folder

# Its module registers it with the harness under this name.
assert ExtractiveBaseline
EXTRACTIVE = "longbench-extractive"
# A user's own groups, which have figures over tasks of v1.
GROUPS = Path(__file__).parent / "check" / "groups"


class AnsweringLM(LM):
    """Answers each request by a function of its number, counted from 0, and its prompt."""

    tokenizer_name = "answering"

    def __init__(self, answer):
        super().__init__()
        self.answer = answer
        self.asked = 0

    def generate_until(self, requests, disable_tqdm=False):
        texts = []
        for request in requests:
            texts.append(self.answer(self.asked, request.args[0]))
            self.asked += 1
        return texts

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        parts = [f"<|{message['role']}|>\n{message['content']}\n" for message in chat_history]
        return "".join(parts) + ("<|assistant|>\n" if add_generation_prompt else "")

    def loglikelihood(self, requests):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError


def write_run(folder, model, tasks, options=None, model_args=None, *, logs=True, **arguments):
    """Evaluate tasks on the embedded sample as `lm_eval run --output_path` does; return `folder`.

    options: those of --metadata. logs: whether as with --log_samples.
    """
    metadata = dict(model_args or {})
    metadata["longbench"] = {"data_dir": "sample", **(options or {})}
    paths = [str(task_folder()), str(GROUPS), *arguments.pop("include_path", [])]
    manager = TaskManager(include_path=paths, include_defaults=False, metadata=metadata)
    tracker = EvaluationTracker(output_path=str(folder))
    with evaluated():
        results = simple_evaluate(
            model=model,
            model_args=model_args,
            tasks=tasks,
            task_manager=manager,
            evaluation_tracker=tracker,
            log_samples=logs,
            **arguments,
        )
    if results is None:  # of several ranks the first one has them
        return Path(folder)
    samples = results.pop("samples", None)
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in samples or ():
        tracker.save_results_samples(task_name=task, samples=samples[task])
    return Path(folder)


class Files:
    """The files of one run, which may be edited."""

    def __init__(self, folder):
        self.folder = Path(folder)

    @classmethod
    def copy(cls, folder, target):
        shutil.copytree(folder, target)
        return cls(target)

    @property
    def results(self):
        (path,) = self.folder.rglob("results_*.json")
        return path

    def log(self, task):
        (path,) = self.folder.rglob(f"samples_{task}_2*.jsonl")
        return path

    def edit_results(self, edit):
        """Change the decoded results file by a function."""
        whole = json.loads(self.results.read_text(encoding="utf-8"))
        edit(whole)
        self.results.write_text(json.dumps(whole, indent=2, ensure_ascii=False), encoding="utf-8")

    def edit_run(self, name, /, **changes):
        """Change what a task wrote of its run."""

        def edit(whole):
            whole["configs"][name]["metadata"]["longbench_run"].update(changes)

        self.edit_results(edit)

    def run(self, task):
        whole = json.loads(self.results.read_text(encoding="utf-8"))
        return whole["configs"][task]["metadata"]["longbench_run"]

    def rows(self, task):
        lines = self.log(task).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def edit_log(self, task, edit):
        """Change the decoded rows of a log by a function, in place or by what it returns."""
        rows = self.rows(task)
        rows = edit(rows) or rows
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        self.log(task).write_text(text, encoding="utf-8")

    def pack(self, task):
        """Compress a log."""
        path = self.log(task)
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
