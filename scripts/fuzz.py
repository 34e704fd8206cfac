#!/usr/bin/env python3
"""Run damaged inputs through every reader; `--help` says how, tests/damaged_inputs.py does it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from damaged_inputs import main

if __name__ == "__main__":
    sys.exit(main())
