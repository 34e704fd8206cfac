"""docs/reliability.md names each test of a fault, and no other."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent


def test_the_page_lists_the_tests_of_faults():
    page = (HERE.parent.parent / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| `(\w+)` \|$", page, re.MULTILINE)
    tests = []
    for name in ("test_server_faults.py", "test_server_bounds.py"):
        tree = ast.parse((HERE / name).read_text(encoding="utf-8"))
        tests += [own.name for own in tree.body if isinstance(own, ast.FunctionDef)]
    assert rows == [name for name in tests if name.startswith("test_")]
