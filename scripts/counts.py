#!/usr/bin/env python3
"""Count what keeps this package small, one line a number; tests hold it to limits.

A module names benchmarks if a text in its code is the name of one, of its family or of what the
command line calls it, or if it imports two families. Docstrings do not count.
A function passes through if its body is one call of another function, with arguments of its own
alone.
A word has a letter or a digit: the bars of tables are none.
A patch of the harness is something imported from lm_eval whose attribute is set or `replaced`.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "lm_eval_longbench"
FAMILIES = {"v1", "v2", "pro"}
SHORT = {*FAMILIES, "v1_e"}
NAMES = SHORT | {f"longbench_{name}" for name in SHORT} | {"lb-v1", "lb-e", "lb-v2", "lb-pro"}


def modules(root: Path = ROOT) -> list[Path]:
    """Return the modules of the package."""
    return sorted((root / PACKAGE).rglob("*.py"))


def lines(file: Path) -> int:
    """Return the number of lines of a file."""
    return len(file.read_text(encoding="utf-8").splitlines())


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield each module of ours, or name in one, that is imported anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith(PACKAGE))


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield each text of a module that is no docstring."""
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in passed
        ):
            yield node.value


def names_benchmarks(file: Path) -> bool:
    """Whether a module knows which benchmarks there are."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    places = {family: f"{PACKAGE}.benchmarks.{family}." for family in FAMILIES}
    found = [f"{module}." for module in imported(tree)]
    families = [one for one in places.values() if any(own.startswith(one) for own in found)]
    return len(families) > 1 or not NAMES.isdisjoint(texts(tree))


def naming(root: Path = ROOT) -> list[Path]:
    """Return the modules outside benchmarks/ that name benchmarks; but for the files of each."""
    own = ("benchmarks", *(f"records/{family}_files.py" for family in FAMILIES))
    places = tuple(str(root / PACKAGE / place) for place in own)
    return [f for f in modules(root) if not str(f).startswith(places) and names_benchmarks(f)]


def kinds_of_lines(file: Path) -> dict[str, int]:
    """Return the lines of a module by kind: code, docstrings, comments, blank."""
    text = file.read_text(encoding="utf-8")
    code: set[int] = set()
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, (node.end_lineno or 0) + 1))
    passed = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (*passed, tokenize.ENDMARKER):
            code.update(range(token.start[0], token.end[0] + 1))
    written = text.splitlines()
    blank = {number for number, line in enumerate(written, 1) if not line.strip()}
    code -= docstrings
    return {
        "code": len(code),
        "docstrings": len(docstrings),
        "blank": len(blank - docstrings - code),
        "comments": len(written) - len(code | docstrings | blank),
    }


def module_graph(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the modules that each module imports, inside functions and for types, too."""
    names = {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for file in modules(root)
    }
    graph: dict[str, set[str]] = {}
    for name, file in names.items():
        found = set(imported(ast.parse(file.read_text(encoding="utf-8"))))
        found = {one if one in names else one.rpartition(".")[0] for one in found}
        graph[name] = (found & names.keys()) - {name}
    return graph


def circle_of(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other in a circle; empty: none do."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1][1:])
    return []


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _own_imports_inside(tree: ast.AST) -> int:
    """Count the imports of our own modules inside functions."""
    found = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, _FUNCTIONS)
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and any(imported(node))
    }
    return len(found)


def _passes_through(function: ast.AST) -> bool:
    """Whether a function does nothing but call one other with the same names."""
    if not isinstance(function, _FUNCTIONS):
        return False
    body = [
        node
        for node in function.body
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    if len(body) != 1 or not isinstance(body[0], (ast.Return, ast.Expr)):
        return False
    call = body[0].value
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    if not isinstance(call, ast.Call) or not names:
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return bool(given) and all(getattr(one, "id", None) in names for one in given)


def _patches(tree: ast.AST) -> Iterator[str]:
    """Yield what a module puts into the harness."""
    theirs = {
        (name.asname or name.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in node.names
        if (getattr(node, "module", None) or name.name).partition(".")[0] == "lm_eval"
    }
    for node in ast.walk(tree):
        names = [ast.unparse(one) for one in getattr(node, "targets", ())]
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "replaced":
            names = [f"{ast.unparse(node.args[0])}.{one.arg}" for one in node.keywords]
        yield from (one for one in names if "." in one and one.partition(".")[0] in theirs)


def counts(root: Path = ROOT) -> dict[str, int]:
    """Return every count by what it counts."""
    files = modules(root)
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    sizes = [lines(file) for file in files]
    kinds = [kinds_of_lines(file) for file in files]
    scripts = [file for file in sorted((root / "scripts").rglob("*")) if file.is_file()]
    pages = (root / "docs").glob("*.md")

    def beside(*endings: str) -> int:
        return sum(lines(one) for end in endings for one in (root / PACKAGE).rglob(f"*.{end}"))

    return {
        "package lines": sum(sizes),
        "lines of code": sum(kind["code"] for kind in kinds),
        "lines of docstrings": sum(kind["docstrings"] for kind in kinds),
        "blank lines": sum(kind["blank"] for kind in kinds),
        "lines of comments": sum(kind["comments"] for kind in kinds),
        "modules": len(sizes),
        "longest module": max(sizes),
        "lines of JavaScript and CSS": beside("js", "css"),
        "lines of JSON": beside("json"),
        "YAML files": sum(one.is_file() for one in (root / "tasks").glob("*/*")),
        "test lines": sum(lines(file) for file in (root / "tests").rglob("*.py")),
        "English words of docs": sum(
            any(map(str.isalnum, word))
            for page in pages
            for word in page.read_text("utf-8").split()
        ),
        "scripts lines": sum(
            lines(file)
            for file in scripts
            if "__pycache__" not in file.parts and file.suffix in ("", ".py")
        ),
        "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
        "modules in a circle": len(circle_of(module_graph(root))),
        "own imports inside functions": sum(map(_own_imports_inside, trees)),
        "functions that pass through": sum(map(_passes_through, nodes)),
        "patches of the harness": len(set().union(*map(_patches, trees))),
        "modules outside benchmarks/ that name benchmarks": len(naming(root)),
    }


# What each count is to come to; the rest are shown for those who move lines from one to another.
GOALS = {
    "package lines": 23_000,
    "lines of code": 15_000,
    "modules": 110,
    "longest module": 500,
    "YAML files": 130,
    "test lines": 27_000,
    "English words of docs": 20_000,
    "scripts lines": 2_000,
    "classes": 160,
    "modules in a circle": 0,
    "own imports inside functions": 15,
    "functions that pass through": 10,
    "patches of the harness": 4,
    "modules outside benchmarks/ that name benchmarks": 8,
}


if __name__ == "__main__":
    for what, number in counts().items():
        print(f"{number:>7,}  {what}" + (f" (goal {GOALS[what]:,})" if what in GOALS else ""))
    for file in naming():
        print(f"         names benchmarks: {file.relative_to(ROOT)}")
    if circle := circle_of(module_graph()):
        print("         circle:", ", ".join(circle))
    longest = sorted(modules(), key=lines)[-3:]
    print("         longest:", ", ".join(f"{file.name} {lines(file)}" for file in longest))
