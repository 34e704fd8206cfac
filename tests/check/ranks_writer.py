"""One rank of a run that is written down: test_verify_real_runs.py starts it as a process."""

import sys
from pathlib import Path

import torch.distributed as dist

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS), str(TESTS / "harness")]

from ranks_worker import GlooLM  # noqa: E402
from real_runs import write_run  # noqa: E402

# The last one has as many questions that a rank is short of one, and is asked one again.
TASKS = [
    "longbench_v1_qasper",
    "longbench_v2_cot",
    "longbench_v2_cot_answer",
    "longbench_pro_t3_1",
    "longbench_v1_trec",
]

if __name__ == "__main__":
    store, rank, world_size, output = sys.argv[1:]
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=int(rank), world_size=int(world_size)
    )
    write_run(output, GlooLM(), TASKS)
    dist.destroy_process_group()
