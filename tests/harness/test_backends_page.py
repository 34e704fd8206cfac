"""docs/backends.md names each argument of longbench-api with its default."""

import inspect
import re
from pathlib import Path

from lm_eval_longbench.harness.api_model import ARGUMENTS, LongBenchAPI

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "backends.md"
# The harness always gives them.
WITHOUT_EFFECT = {"batch_size", "max_batch_size", "device"}


def test_the_page_has_all_arguments_and_their_defaults():
    table = PAGE.read_text(encoding="utf-8").partition("\n## `local-chat-completions`")[0]
    rows = re.findall(r"^\| (`[^|]+`) \| ([^|]*)\|", table, re.MULTILINE)
    shown = {
        name: default.strip() for names, default in rows for name in re.findall(r"`(\w+)`", names)
    }
    assert shown.keys() == set(ARGUMENTS) - WITHOUT_EFFECT
    parameters = inspect.signature(LongBenchAPI).parameters
    for name, default in shown.items():
        if default.replace(".", "").isdecimal():
            assert float(default) == parameters[name].default
