"""Rules that keep the parts apart, read off the source; see also test_architecture.py."""

import ast
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lm_eval_longbench

PACKAGE = Path(lm_eval_longbench.__file__).resolve().parent
FILES = sorted(PACKAGE.rglob("*.py"))


@functools.cache
def trees():
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in FILES
    }


def module_name(path):
    parts = ("lm_eval_longbench", *Path(path).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree):
    """Every module named by an import, wherever in the file it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def called(tree):
    """Every call as its dotted name, with the node."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def files_that(predicate):
    return [name for name, tree in trees().items() if predicate(tree)]


def imports_any(tree, *roots):
    return any(
        name == root or name.startswith(f"{root}.") for name in imports(tree) for root in roots
    )


def test_the_rules_have_a_subject():
    assert len(trees()) > 50
    assert "harness/task.py" in trees()


def test_nothing_is_printed():
    def prints(tree):
        return any(name in {"print", "builtins.print", "pprint.pprint"} for name, _ in called(tree))

    assert files_that(prints) == []


def test_what_is_printed_goes_through_one_module():
    """Where control characters are escaped; elsewhere somebody would forget."""
    ways = {
        "typer.echo",
        "typer.secho",
        "click.echo",
        "Console",
        "rich.console.Console",
        "rich.print",
    }

    def prints(tree):
        return any(
            name in ways or (name.startswith(("sys.stdout.", "sys.stderr.")) and "write" in name)
            for name, _ in called(tree)
        )

    # The bytes of a prompt in a pipe; a report that is laid out in memory; names of task files.
    others = ["cli/prompt.py", "reports/render.py", "reports/run_end.py"]
    assert files_that(prints) == [*others, "terminal.py", "write_tasks.py"]


def test_files_of_others_are_read_through_one_module():
    """Where their kind and their size are looked at; what is listed here are files of our own."""

    def reads(tree):
        return any(
            name.rpartition(".")[2] in {"read_bytes", "read_text", "GzipFile", "decompressobj"}
            or (
                (name == "open" or name.endswith(".open"))
                and not any("wb" in ast.unparse(argument) for argument in node.args)
            )
            for name, node in called(tree)
        )

    ours = [
        "data/archive.py",  # a member, of an archive that was opened so
        "data/arrow.py",
        "data/load_array.py",
        "doctor/scorers.py",
        "harness/quiet.py",  # it adds to the log of this run
        "harness/written.py",  # what this run has just written
        "page/build.py",
        "presets/table.py",
        "prompts/templates.py",
        "prompts/tokens/cut_cache.py",
        "prompts/tokens/official.py",
        "reports/published.py",
        "task_names.py",
        "write_tasks.py",
    ]
    assert sorted(set(files_that(reads)) - {"input_files.py"}) == ours


def test_only_the_command_line_ends_the_program():
    ends = {"sys.exit", "exit", "quit", "os._exit", "os.abort"}

    def ends_it(tree):
        raises = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc)
        return any(name in ends for name, _ in called(tree)) or any(
            "SystemExit" in ast.unparse(error) for error in raises
        )

    assert files_that(ends_it) == ["cli/main.py", "cli/run.py", "write_tasks.py"]


def test_only_the_harness_folder_knows_the_harness():
    found = files_that(lambda tree: imports_any(tree, "lm_eval"))
    assert found
    assert all(name.startswith("harness/") for name in found)


def test_metrics_stand_on_their_own():
    metrics = {name: tree for name, tree in trees().items() if name.startswith("metrics/")}
    allowed = ("lm_eval_longbench.metrics", "lm_eval_longbench.errors")
    for name, tree in metrics.items():
        ours = [module for module in imports(tree) if module.startswith("lm_eval_longbench")]
        assert all(module.startswith(allowed) for module in ours), name
    assert len(metrics) > 10


def test_no_global_random_numbers():
    def draws(tree):
        return any(
            (name.startswith("random.") and name != "random.Random")
            or (
                name.startswith(("np.random.", "numpy.random."))
                and not name.endswith((".default_rng", ".Generator"))
            )
            or name.startswith("torch.manual_seed")
            for name, _ in called(tree)
        ) or any(
            isinstance(node, ast.ImportFrom)
            and node.module == "random"
            and any(alias.name != "Random" for alias in node.names)
            for node in ast.walk(tree)
        )

    assert files_that(draws) == []


def test_every_zip_is_strict():
    loose = []
    zips = 0
    for name, tree in trees().items():
        for function, node in called(tree):
            if function == "zip":
                zips += 1
                strict = [key.value for key in node.keywords if key.arg == "strict"]
                if [ast.unparse(value) for value in strict] != ["True"]:
                    loose.append(f"{name}:{node.lineno}")
    assert loose == []
    assert zips


def test_every_module_says_what_it_is():
    silent = [name for name, tree in trees().items() if not ast.get_docstring(tree)]
    assert silent == []


# ---------------------------------------------------------------------- imports, run


ONE_BY_ONE = """
import importlib, json, os, sys

# What others made is imported once; ours is imported anew in a child for each module.
import datasets, jieba, lm_eval.api.task, lm_eval._cli.harness, rouge_score.rouge_scorer, typer
import rich.console, rich.table

# Each child compiles what those before it did not, whatever the environment says about bytecode.
sys.dont_write_bytecode, sys.pycache_prefix = False, sys.argv[2]
failed = {}
for name in json.loads(sys.argv[1]):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            assert not any(m.startswith("lm_eval_longbench") for m in sys.modules)
            importlib.import_module(name)
            os._exit(0)
        except BaseException as error:
            os.write(writer, repr(error).encode())
            os._exit(1)
    os.close(writer)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        failed[name] = os.read(reader, 10_000).decode()
    os.close(reader)
sys.stdout.write(json.dumps(failed))
"""


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", *arguments],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=200,
        check=True,
    ).stdout


def test_every_module_can_be_the_first_one_imported(tmp_path):
    """A circle of imports breaks for whoever enters it at the wrong place."""
    missing = "lm_eval_longbench.nothing"  # shows that a failure is seen
    failed = json.loads(
        run(ONE_BY_ONE, json.dumps([*map(module_name, trees()), missing]), tmp_path)
    )
    assert "No module named" in failed.pop(missing)
    assert failed == {}


def heavy_after(module):
    code = (
        f"import {module}, json, sys\n"
        "names = ('torch', 'transformers', 'datasets', 'lm_eval', 'huggingface_hub', 'pyarrow')\n"
        "sys.stdout.write(json.dumps([name for name in names if name in sys.modules]))\n"
    )
    return json.loads(run(code))


@pytest.mark.parametrize(
    "module",
    [
        "metrics.longbench_v1",
        "benchmarks.registry",
        "scoring.score",
        "prompts.prepare",
        "prompts.tokenizer",
        "baseline.extractive",
        "options",
        "task_links",
    ],
)
def test_light_modules_import_nothing_heavy(module):
    assert heavy_after(f"lm_eval_longbench.{module}") == []


def test_the_command_line_does_not_wait_for_torch_or_the_harness():
    found = heavy_after("lm_eval_longbench.cli.main")
    assert not {"torch", "transformers", "lm_eval"} & set(found)


HEAVY = ("torch", "transformers", "datasets", "lm_eval", "pyarrow", "huggingface_hub", "numba")
HEAVY += ("jieba", "pandas", "scipy", "nltk", "altair")
WHAT_A_COMMAND_IMPORTS = """
import contextlib, io, json, sys
from lm_eval_longbench.cli.main import main

names, *sys.argv[1:] = json.loads(sys.argv[1]), *sys.argv[2:]
status, printed = 0, io.StringIO()
with contextlib.redirect_stdout(printed):
    try:
        main()
    except SystemExit as end:
        status = end.code
assert not status and printed.getvalue(), status
sys.stdout.write(json.dumps([name for name in names if name in sys.modules]))
"""


def heavy_of_command(*arguments):
    return json.loads(run(WHAT_A_COMMAND_IMPORTS, json.dumps(HEAVY), *map(str, arguments)))


def score_one(folder, dataset, pred, answer, *options):
    row = {"pred": pred, "answers": [answer], "all_classes": None, "length": 5}
    path = folder / f"{dataset}.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return ("score", path, "--benchmark", "v1", "--output", folder / "out", *options)


@pytest.mark.parametrize(
    "command",
    ["--help", "--version", "tasks", "tasks --help", "presets", "path", "answers --help"],
)
def test_light_commands_import_nothing_heavy(command):
    assert heavy_of_command(*command.split()) == []


def test_scoring_english_answers_imports_nothing_heavy(tmp_path):
    command = score_one(tmp_path, "gov_report", "The cat sat.", "The cat sat on the mat.")
    assert heavy_of_command(*command, "--rouge-google") == []
    scores = (tmp_path / "out" / "scores.json").read_text("utf-8")
    assert "gov_report" in scores


def test_scoring_chinese_answers_imports_jieba_and_nothing_else(tmp_path):
    command = score_one(tmp_path, "vcsum", "研究生命起源", "研究生命")
    assert heavy_of_command(*command) == ["jieba"]


def test_files_that_the_docs_name_are_there():
    root = PACKAGE.parent
    pages = [*(root / "docs").glob("*.md"), root / "README.md", root / "CHANGELOG.md"]
    named = re.compile(r"`((?:tests|docs|scripts|lm_eval_longbench)/[\w./*-]+)`")
    found = {name: page for page in pages for name in named.findall(page.read_text("utf-8"))}
    assert len(found) > 40
    assert [name for name in found if not list(root.glob(name.rstrip("/")))] == []
