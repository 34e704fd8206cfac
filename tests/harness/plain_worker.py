"""Plain `simple_evaluate` with tasks of ours, several times in one process, without `evaluated`.

Arguments: the file that the ranks meet by, rank, number of ranks, and the runs as JSON: lists of
the tasks and further arguments of `simple_evaluate`. What a run says goes to the standard error
output, where a line of stars ends each.
"""

import json
import sys

import torch.distributed as dist
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from ranks_worker import GlooLM

from lm_eval_longbench.task_folder import task_folder


class Dying(GlooLM):
    """Breaks down when it is asked."""

    def generate_until(self, requests, disable_tqdm=False):
        raise ValueError("no model")


def main(store, rank, world_size, runs):
    if world_size > 1:
        dist.init_process_group(
            "gloo", init_method=f"file://{store}", rank=rank, world_size=world_size
        )
    metadata = {"longbench": {"data_dir": "sample"}}
    for tasks, more in json.loads(runs):
        manager = TaskManager(
            include_path=str(task_folder()), include_defaults=False, metadata=metadata
        )
        model = Dying() if more.pop("dies", False) else GlooLM()
        try:
            simple_evaluate(
                model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0, **more
            )
        except ValueError as error:
            sys.stderr.write(f"{error}\n")
        sys.stderr.write("****\n")
    if world_size > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
