"""One rank of the distributed test: run by test_ranks.py in a process of its own.

Arguments: the file that the ranks meet by, rank, number of ranks, output, options, and the folder
of the answers beside the output, "" for none.
"""

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from lm_eval_longbench.harness.evaluate import evaluated
from lm_eval_longbench.harness.interrupt import Stopping
from lm_eval_longbench.harness.kept_answers import KeptAnswers
from lm_eval_longbench.records.answer import Answer, AnswerText
from lm_eval_longbench.records.store import AnswerStore
from lm_eval_longbench.task_folder import task_folder

TASKS = [
    "longbench_v1_e_qasper",
    "longbench_v1_trec",
    "longbench_v1_e_gov_report",
    "longbench_v2",
    "longbench_v2_cot",
    "longbench_v2_cot_answer",
]


def _answer(prompt, generation):
    """One of the prompt's first words, or a letter in the words of LongBench v2."""
    if "(insert answer here)" in prompt:
        return f"The correct answer is ({'ABCD'[len(prompt) % 4]})"
    return prompt.split()[len(prompt) % 7]


def _ended(text, index):
    """The answer with how it ended, of some not known; of one a parameter was refused."""
    reason = ("stop", "length", None)[len(text) % 3]
    refused = ("seed", "temperature") if index == 1 else ()
    return AnswerText(Answer(text, finish_reason=reason, left_out=refused))


class GlooLM(LM):
    """Answers from the prompt alone; several ranks talk through torch.distributed."""

    def __init__(self):
        super().__init__()
        if dist.is_initialized():
            self._rank, self._world_size = dist.get_rank(), dist.get_world_size()
        self._device = torch.device("cpu")

    asked = 0

    def generate_until(self, requests, disable_tqdm=False):
        self.asked += len(requests)
        return [_ended(_answer(*request.args), request.doc["index"]) for request in requests]

    def loglikelihood(self, requests):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError

    def all_gather(self, tensor):
        gathered = [torch.zeros_like(tensor) for _ in range(self.world_size)]
        dist.all_gather(gathered, tensor)
        return torch.stack(gathered)

    def gather_object(self, obj, dst=0):
        gathered = [None] * self.world_size if self.rank == dst else None
        dist.gather_object(obj, gathered, dst=dst)
        return gathered

    def barrier(self):
        dist.barrier()


def main(store, rank, world_size, output, options, answers=""):
    # Chain of thought does not go with documents that are left out.
    tasks = TASKS[:3] if "skip" in options else TASKS
    if world_size > 1:
        dist.init_process_group(
            "gloo", init_method=f"file://{store}", rank=rank, world_size=world_size
        )
    metadata = {"longbench": {"data_dir": "sample", **json.loads(options)}}
    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata
    )
    folder = Path(output).parent
    keeping = None
    if answers:
        store = AnswerStore(folder / answers, "answers_gloo_00000000", "{}", rank)
        keeping = KeptAnswers(store, Stopping())
    model = GlooLM()
    with evaluated(keeping):
        result = simple_evaluate(
            model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0, log_samples=True
        )
    (folder / f"asked_of_{world_size}_rank{rank}").write_text(str(model.asked))
    if result is not None:
        runs = {
            task: config["metadata"]["longbench_run"] for task, config in result["configs"].items()
        }
        samples = {
            task: sorted(
                (
                    sample["doc_id"],
                    [[name, sample[name]] for name in sorted(sample["metrics"])],
                    sample["arguments"][0][0]["sha256"],
                )
                for sample in result["samples"][task]
            )
            for task in tasks
        }
        with open(output, "w", encoding="utf-8") as handle:
            json.dump({"results": result["results"], "samples": samples, "runs": runs}, handle)
    if world_size > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
