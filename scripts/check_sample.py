#!/usr/bin/env python3
"""Check that the embedded sample is whole and that its answers are right, from its rows alone.

Usage: check_sample.py [FOLDER]

Exits 1 and says what is wrong; exits 0 only if every question of every task was checked. The
checks are in tests/sample_answers.py.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]  # this checkout, installed or not

from sample_answers import QUESTIONS, problems  # noqa: E402

FOLDER = ROOT / "lm_eval_longbench" / "data" / "sample"


def main() -> int:
    found = problems(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
    print("\n".join(found) or f"{QUESTIONS} questions are right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
