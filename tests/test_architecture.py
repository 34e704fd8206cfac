"""The package is as docs/architecture.md says, and as small as it says."""

import ast
import importlib.util
import re
import sys
from pathlib import Path

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest needs it there

import lm_eval_longbench as interface
from lm_eval_longbench.benchmarks.registry import expanded, find_task
from lm_eval_longbench.metrics.text import METRICS

ROOT = Path(__file__).resolve().parent.parent
_SPEC = importlib.util.spec_from_file_location("counts", ROOT / "scripts" / "counts.py")
counts = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(counts)

# What has been reached: lower these whenever it can be done, raise them for what users gain.
LIMITS = {
    "package lines": 38_745,
    "lines of code": 24_969,
    "lines of JavaScript and CSS": 1_404,
    "lines of JSON": 1_464,
    "modules": 174,
    "longest module": 500,
    "YAML files": 124,
    "test lines": 42_306,
    "English words of docs": 19_482,
    "scripts lines": 2_129,
    "classes": 283,
    "modules in a circle": 0,
    "own imports inside functions": 3,
    "functions that pass through": 10,
    "patches of the harness": 4,
    "modules outside benchmarks/ that name benchmarks": 0,
}


@pytest.fixture(scope="module")
def counted():
    return counts.counts()


def test_the_page_has_the_layers_that_import_linter_checks():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    said = {}
    for number, folder in re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.MULTILINE):
        said.setdefault(int(number), set()).add(folder)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    folders = {file.parent.name for file in (ROOT / "lm_eval_longbench").glob("*/*.py")} - {"tasks"}
    checked = [own for line in layers if (own := set(re.findall(r"\w+", line)) & folders)]
    assert [said[number] for number in sorted(said, reverse=True)] == [*checked, {"top"}]


def files_of(question):
    """The files that answer a question of the page, with the functions named beside each."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition(f"## {question}\n")[2].partition("\n## ")[0]
    items = re.findall(r"^- `([^`]+)`(.*(?:\n  .*)*)", section, re.MULTILINE)
    return {ROOT / name: re.findall(r"`(\w+)`", text) for name, text in items}


def test_the_page_is_short():
    assert len((ROOT / "docs" / "architecture.md").read_text("utf-8").splitlines()) <= 150


def test_the_page_names_the_two_files_of_a_task():
    """What they say is what the task is, and no module says anything of it by its name."""
    leaf, metric = files_of("What is a task")
    says = yaml.load(leaf.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    base = leaf.with_name(says["include"]).read_text(encoding="utf-8")
    shared = yaml.load(base.replace("!function ", ""), Loader=yaml.BaseLoader)
    assert {"source", "truncation", "headline", "metric_list"} <= shared.keys()
    task = find_task(leaf.stem)
    assert (says["task"], says["doc_to_text"]) == (task.name, task.prompt)
    assert (says["metric"], int(says["generation_kwargs"]["max_gen_toks"])) == (
        task.metric,
        task.budget,
    )
    assert METRICS[says["metric"]].__code__.co_filename == str(metric)
    names = {leaf.stem, says["dataset_name"]}
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in counts.modules()}
    assert [file for file, tree in trees.items() if not names.isdisjoint(counts.texts(tree))] == []


def test_the_page_names_the_three_files_of_a_cut():
    """Each defines what is named beside it; the second defines the rules that task files name."""
    files = files_of("Where is a prompt cut")
    assert len(files) == 3
    functions = {}
    for file, named in files.items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        defined = (ast.FunctionDef, ast.ClassDef)
        functions[file] = {one.name for one in tree.body if isinstance(one, defined)}
        assert named and set(named) <= functions[file], file
    bases = [file.read_text(encoding="utf-8") for file in (ROOT / "tasks").glob("*/_base*")]
    rules = {rule for text in bases for rule in re.findall(r"^truncation: (\w+)", text, re.M)}
    assert rules and rules <= functions[list(files)[1]]


def test_the_page_names_the_five_files_of_a_headline():
    """No other module of `benchmarks/` or `statistics/` that knows scores takes part in it."""
    names = expanded(["longbench_v1_en"])[0]
    documents = [interface.load(name, data_dir="sample")[0] for name in names]
    lines = [interface.judge(one.task, one, one.golds[0]) for one in documents]
    passed = set()

    def follow(frame, event, _):
        passed.add(Path(frame.f_code.co_filename))

    interface.figures(lines)
    sys.setprofile(follow)
    try:
        found = {figure.name: figure.value for figure in interface.figures(lines)}
    finally:
        sys.setprofile(None)
    assert 0.9 < found["English"] <= 1
    package = ROOT / "lm_eval_longbench"
    inside = {
        file
        for file in passed
        if file.parent in (package / "statistics", package / "benchmarks")
        and file.name not in ("base.py", "registry.py")
    }
    assert inside == set(files_of("How does a score become the headline"))
    assert len(inside) == 5


def test_words_of_a_building_are_not_used():
    """A folder is a folder, and the package is the package."""
    files = [*counts.modules(), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    words = re.compile(r"\b(house|rooms)\b", re.IGNORECASE)
    found = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if words.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("what", sorted(LIMITS))
def test_limits(what, counted):
    assert counted[what] <= LIMITS[what]


def test_what_counts_as_naming_benchmarks(tmp_path):
    def says(text):
        file = tmp_path / "module.py"
        file.write_text(text)
        return counts.names_benchmarks(file)

    assert says('"""Of longbench_v1."""\nX = "mine"\n') is False
    assert says('if name == "longbench_v1": pass\n') is True
    assert says('TABLES = ("v1", "v2")\n') is True
    both = "from lm_eval_longbench.benchmarks import v1, pro\n"
    assert says(both) is True
    assert says("from lm_eval_longbench.benchmarks.pro import PRO\n") is False
