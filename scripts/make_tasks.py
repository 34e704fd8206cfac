#!/usr/bin/env python3
"""Write the task files of our benchmarks, or with --check name those that differ."""

import sys
from pathlib import Path

from lm_eval_longbench.write_tasks import main

if __name__ == "__main__":
    sys.exit(main([str(Path(__file__).resolve().parent.parent / "tasks"), *sys.argv[1:]]))
