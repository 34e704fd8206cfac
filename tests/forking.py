"""Functions in processes that fork from one with `datasets` and the loaders imported.

Each is a process of its own, as one that a user starts, without the seconds of importing.
"""

import multiprocessing

FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(
    ["pytest", "lm_eval_longbench.benchmarks.registry", "lm_eval_longbench.data.open"]
)
