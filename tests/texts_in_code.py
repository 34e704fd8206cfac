"""The texts that code makes, with {} for what is filled in."""

import ast
import re


def _text(node):
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(own.value if isinstance(own, ast.Constant) else "{}" for own in node.values)


def texts_in(tree):
    """Yield every text of several words below a node, docstrings aside."""
    documented = [own for own in ast.walk(tree) if isinstance(own, ast.FunctionDef | ast.ClassDef)]
    documented += [tree] if isinstance(tree, ast.Module) else []
    first = [own.body[0] for own in documented if isinstance(own.body[0], ast.Expr)]
    passed = {id(own.value) for own in first}
    nodes = list(ast.walk(tree))
    for string in (own for own in nodes if isinstance(own, ast.JoinedStr)):
        passed |= {id(part) for part in ast.walk(string) if part is not string}
    for node in nodes:
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in passed:
            text = _text(node)
            if re.search(r"[a-z]{3}", text) and " " in text.strip():
                yield text
