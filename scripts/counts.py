"""Count what keeps this package small, one line a number; tests hold it to limits.

A module names benchmarks if a text in its code is the name of one, of its family or of what the
command line calls it, or if it imports two families. Docstrings do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "lm_eval_longbench"
# Modules that lie in no folder.
TOP = "top"
FAMILIES = {"longbench_v1", "longbench_v2", "longbench_pro"}
NAMES = FAMILIES | {"longbench_v1_e", "v1", "v1_e", "v2", "pro", "lb-v1", "lb-e", "lb-v2", "lb-pro"}


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


def _is_for_types(node: ast.AST) -> bool:
    """Whether a node is a block of imports for types alone."""
    test = getattr(node, "test", None)
    return isinstance(node, ast.If) and isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def folder_of(module: str) -> str:
    """Return the folder of a module, or of a name in one; modules in none are of TOP."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (ROOT / PACKAGE / parts[1]).is_dir() else TOP


def imports_of_folders(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the folders that each folder imports from, types alone left out."""
    found: dict[str, set[str]] = {}
    for file in modules(root):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if _is_for_types(node):
                node.body = [ast.Pass()]
        parts = file.relative_to(root / PACKAGE).parts
        own = parts[0] if len(parts) > 1 else TOP
        found.setdefault(own, set()).update(map(folder_of, imported(tree)))
    return {own: others - {own} for own, others in found.items()}


def names_benchmarks(file: Path) -> bool:
    """Whether a module knows which benchmarks there are."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    families = {
        family
        for module in imported(tree)
        for family in FAMILIES
        if module.startswith(f"{PACKAGE}.benchmarks.{family}")
    }
    return len(families) > 1 or not NAMES.isdisjoint(texts(tree))


def naming(root: Path = ROOT) -> list[Path]:
    """Return the modules outside benchmarks/ that name benchmarks."""
    inside = root / PACKAGE / "benchmarks"
    return [file for file in modules(root) if inside not in file.parents and names_benchmarks(file)]


def counts(root: Path = ROOT) -> dict[str, int]:
    """Return every count by what it counts."""
    sizes = [lines(file) for file in modules(root)]
    scripts = [file for file in sorted((root / "scripts").rglob("*")) if file.is_file()]
    return {
        "package lines": sum(sizes),
        "modules": len(sizes),
        "longest module": max(sizes),
        "modules outside benchmarks/ that name benchmarks": len(naming(root)),
        "scripts lines": sum(
            lines(file)
            for file in scripts
            if "__pycache__" not in file.parts and file.suffix in ("", ".py")
        ),
    }


if __name__ == "__main__":
    for what, number in counts().items():
        print(f"{number:>7,}  {what}")
    for file in naming():
        print(f"         names benchmarks: {file.relative_to(ROOT)}")
    for folder, others in sorted(imports_of_folders().items()):
        print(f"         {folder} imports {', '.join(sorted(others)) or 'nothing'}")
    longest = sorted(modules(), key=lines)[-3:]
    print("         longest:", ", ".join(f"{file.name} {lines(file)}" for file in longest))
