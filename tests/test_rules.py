"""Rules that keep the parts apart, read off the source; see also test_architecture.py."""

import ast
import functools
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from command_costs import costs, run_code

import lm_eval_longbench

PACKAGE = Path(lm_eval_longbench.__file__).resolve().parent
FILES = sorted(PACKAGE.rglob("*.py"))


@functools.cache
def trees():
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in FILES
    }


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

    # The bytes of a prompt in a pipe; a report that is laid out in memory.
    others = ["cli/prompt.py", "reporting/formats.py"]
    assert files_that(prints) == [others[0], "console.py", others[1]]


WRITES = re.compile("'wb'|'ab'|O_WRONLY")


def test_files_of_others_are_read_through_one_module():
    """Where their kind and their size are looked at; what is listed here are files of our own."""

    def reads(tree):
        return any(
            name.rpartition(".")[2] in {"read_bytes", "read_text", "GzipFile", "decompressobj"}
            or (
                (name == "open" or name.endswith(".open"))
                and not any(WRITES.search(ast.unparse(argument)) for argument in node.args)
            )
            for name, node in called(tree)
        )

    ours = [
        "catalog/presets.py",
        "catalog/read.py",
        "data/convert.py",
        "data/rows.py",  # a member, of an archive that was opened so
        "harness/doctor.py",
        "harness/engines.py",  # what the processes of an engine have just logged
        "harness/record.py",  # what this run has just written
        "language.py",
        "page/build.py",
        "prompts/prepare.py",
        "prompts/tokens/official.py",
        "reporting/published.py",
        "server/batch.py",  # the files that --write-requests wrote
    ]
    assert sorted(set(files_that(reads)) - {"files.py"}) == ours


def test_only_the_command_line_ends_the_program():
    ends = {"sys.exit", "exit", "quit", "os._exit", "os.abort"}

    def ends_it(tree):
        raises = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc)
        return any(name in ends for name, _ in called(tree)) or any(
            "SystemExit" in ast.unparse(error) for error in raises
        )

    assert files_that(ends_it) == ["cli/main.py", "cli/run.py", "conformance/__main__.py"]


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
    assert len(metrics) > 8


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

    # Seeds what `hf` itself draws from, and puts it back.
    assert files_that(draws) == ["harness/engines.py"]


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


def test_no_class_name_has_two_meanings():
    """But for `Documents`: a caller of `load` sees those of the data layer."""
    names = Counter(
        node.name
        for tree in trees().values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, number in names.items() if number > 1] == ["Documents"]


def test_every_module_says_what_it_is():
    silent = [name for name, tree in trees().items() if not ast.get_docstring(tree)]
    assert silent == []


# ---------------------------------------------------------------------- imports, run


def test_no_module_leans_on_what_others_have_imported():
    """As `import lm_eval_longbench` and `lm_eval_longbench.options` would."""

    def whole(tree):
        return any(
            name.name.split(".")[0] == "lm_eval_longbench"
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for name in node.names
        )

    assert files_that(whole) == []


def heavy_after(module):
    code = (
        f"import {module}, json, sys\n"
        "names = ('torch', 'transformers', 'datasets', 'lm_eval', 'huggingface_hub', 'pyarrow')\n"
        "sys.stdout.write(json.dumps([name for name in names if name in sys.modules]))\n"
    )
    return json.loads(run_code(code))


@pytest.mark.parametrize(
    "module",
    [
        "metrics.text",
        "benchmarks.registry",
        "scoring.score",
        "prompts.prepare",
        "prompts.tokenizer",
        "options",
        "task_folder",
    ],
)
def test_light_modules_import_nothing_heavy(module):
    assert heavy_after(f"lm_eval_longbench.{module}") == []


def test_what_the_harness_calls_at_each_start_imports_next_to_nothing():
    """`lm_eval` asks each package with tasks where they are, whatever it runs."""
    code = (
        "import lm_eval_longbench.task_folder, json, sys\n"
        "own = [name for name in sys.modules if name.startswith(('lm_eval_longbench.', 'numpy'))]\n"
        "sys.stdout.write(json.dumps(sorted(own)))\n"
    )
    own = ["errors", "task_folder", "version"]
    assert json.loads(run_code(code)) == [f"lm_eval_longbench.{name}" for name in own]


def test_the_command_line_does_not_wait_for_torch_or_the_harness():
    found = heavy_after("lm_eval_longbench.cli.main")
    assert not {"torch", "transformers", "lm_eval"} & set(found)


HEAVY = ("torch", "transformers", "datasets", "lm_eval", "pyarrow", "huggingface_hub", "numba")
HEAVY += ("jieba", "pandas", "scipy", "nltk", "altair")


def heavy_of_command(*arguments, **environment):
    return costs(*arguments, names=HEAVY, **environment)["modules"]


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


@pytest.mark.parametrize("command", ["--help", "--version"])
def test_what_says_no_more_than_names_imports_neither_pydantic_nor_numpy(command):
    assert costs(command, names=("pydantic", "numpy", "lm_eval"))["modules"] == []


def test_scoring_english_answers_imports_nothing_heavy(tmp_path, cache):
    """Where no data is prepared, whose documents would be looked up."""
    command = score_one(tmp_path, "gov_report", "The cat sat.", "The cat sat on the mat.")
    assert heavy_of_command(*command, "--rouge-google", **cache) == []
    scores = (tmp_path / "out" / "scores.json").read_text("utf-8")
    assert "gov_report" in scores


def test_scoring_chinese_answers_imports_jieba_and_nothing_else(tmp_path, cache):
    command = score_one(tmp_path, "vcsum", "研究生命起源", "研究生命")
    assert heavy_of_command(*command, **cache) == ["jieba"]


# ---------------------------------------------------------------------- files and rows, counted


def task_files(files):
    """Take the task files out of what was opened; return how many, and how often one at most."""
    own = [files.pop(name) for name in list(files) if name.endswith(".yaml")]
    return len(own), max(own, default=0)


def test_the_names_of_tasks_take_each_task_file_once():
    files = costs("tasks")["files"]
    assert task_files(files) == (len(list((PACKAGE.parent / "tasks").rglob("*.yaml"))), 1)
    assert files == {}


@pytest.fixture
def cache(tmp_path):
    return {"HF_DATASETS_CACHE": str(tmp_path / "cache")}


def test_a_prompt_takes_one_row_and_each_task_file_once(cache):
    command = ("prompt", "longbench_v1_qasper", "--index", "1", "--data-dir", "sample")
    costs(*command, **cache)  # converts the data
    names = ("rows", "datasets", "transformers", "lm_eval", "torch", "pandas")
    found = costs(*command, names=names, **cache)
    assert task_files(found["files"])[1] == 1
    # The converted file for its hash, and then to be mapped.
    once = dict.fromkeys(("qasper.jsonl", "converted.json"), 1)
    assert found["files"] == {**once, "qasper.arrow": 2}
    # The column is that of the documents' hashes.
    assert found["rows"] == {"columns": 1, "rows": 1, "decoded": 1}  # the manifest
    assert found["modules"] == []


def test_a_prompt_of_one_of_many_files_opens_that_one(cache):
    """Pro's 25 tasks are converted together, and each is opened by itself."""
    command = ("prompt", "--index", "0", "--data-dir", "sample")
    costs(*command, "longbench_pro_t1_1", **cache)
    found = costs(*command, "longbench_pro_t1_2", names=["rows"], **cache)
    assert [name for name in found["files"] if name.endswith(".arrow")] == ["t1_2.arrow"]
    assert max(found["files"].values()) <= 2
    assert found["rows"] == {"columns": 1, "rows": 1, "decoded": 1}


def test_scored_files_are_opened_a_fixed_number_of_times(tmp_path):
    """However many rows; a row is decoded once by each reader, but for the first: what are they?"""
    row = {"pred": "Emma", "answers": ["Emma"], "all_classes": None, "length": 5}
    path, out, number = tmp_path / "qasper.jsonl", tmp_path / "out", 500
    path.write_text((json.dumps(row) + "\n") * number, encoding="utf-8")
    found = costs("score", path, "--benchmark", "v1", "--output", out, names=["rows"])
    assert task_files(found["files"])[1] == 1
    assert found["files"].pop("converted.json") == 1  # there is no converted data
    assert found["files"].pop("qasper.jsonl") <= 14
    # The figures that it prints are those of a reader of what it has written.
    assert found["files"] == {"report.json": 2, "samples.jsonl": 2, "chinese.json": 1}
    assert found["rows"].keys() == {"decoded"}
    assert 2 * number <= found["rows"]["decoded"] <= 2 * number + 100
    found = costs("report", out, names=["rows"])
    assert task_files(found["files"])[1] == 1
    assert found["files"] == {"report.json": 2, "samples.jsonl": 2, "chinese.json": 1}
    assert number <= found["rows"]["decoded"] <= number + 100


def test_files_that_the_docs_name_are_there():
    root = PACKAGE.parent
    pages = [*(root / "docs").glob("*.md"), root / "README.md", root / "CHANGELOG.md"]
    named = re.compile(r"`((?:tests|docs|scripts|lm_eval_longbench)/[\w./*-]+)`")
    found = {name: page for page in pages for name in named.findall(page.read_text("utf-8"))}
    assert len(found) > 20
    assert [name for name in found if not list(root.glob(name.rstrip("/")))] == []
