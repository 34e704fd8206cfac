"""The task files and the sample are what the scripts make, and the groups add up."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml

from lm_eval_longbench.benchmarks.longbench_pro import PRO_NO_CONTEXT
from lm_eval_longbench.benchmarks.longbench_pro_facts import BY_CODE, PRIMARY_TASKS
from lm_eval_longbench.benchmarks.longbench_v1 import V1, E
from lm_eval_longbench.benchmarks.longbench_v1_facts import CATEGORIES, DATASETS
from lm_eval_longbench.benchmarks.longbench_v1_variants import VARIANTS as V1_VARIANTS
from lm_eval_longbench.benchmarks.longbench_v2_facts import DOMAINS, SUB_SCORES
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.figures.means import mean_if_all_known, mean_of_known
from lm_eval_longbench.harness.releases import task_index
from lm_eval_longbench.write_tasks import main

ROOT = Path(__file__).resolve().parents[1]
TASKS = ROOT / "tasks"
pytestmark = pytest.mark.skipif(
    not (ROOT / "scripts" / "make_tasks.py").is_file(), reason="not run from a checkout"
)
LEAVES = sorted(path for path in TASKS.rglob("*.yaml") if not path.name.startswith("_"))
V1_LEAVES = [path for path in LEAVES if "longbench_v1" in path.parent.name]
VARIANTS = (*V1_VARIANTS, PRO_NO_CONTEXT)
V2_LEAVES = [path for path in LEAVES if "longbench_v2" in path.parent.name]
V2_MODES = {
    "longbench_v2": 128,
    "longbench_v2_no_context": 128,
    "longbench_v2_cot": 1024,
    "longbench_v2_cot_answer": 128,
    "longbench_v2_rag": 128,
}
V2_DOMAINS = [f"longbench_v2_{domain}" for domain in DOMAINS]
PRO_LEAVES = [path for path in LEAVES if "longbench_pro" in path.parent.name]
GROUPS = sorted(path for path in TASKS.rglob("_*.yaml"))
PRO_FORMS = {
    "longbench_pro": 1024,
    "longbench_pro_thinking": 8192,
    "longbench_pro_no_context": 1024,
}
PRO_TASKS = [f"{form}_{code}" for form in PRO_FORMS for code in BY_CODE]


@pytest.fixture
def copy(tmp_path):
    """A copy of the task files."""
    return shutil.copytree(TASKS, tmp_path / "tasks")


# ---------------------------------------------------------------------- the script


def test_the_files_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "-B", ROOT / "scripts" / "make_tasks.py", "--check"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def one_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def added(path):
    path.with_name(f"extra_{path.name}").write_bytes(path.read_bytes())


@pytest.mark.parametrize("change", [one_byte, added, Path.unlink])
@pytest.mark.parametrize(
    "name",
    [
        "longbench_v1/longbench_v1_qasper.yaml",
        "longbench_v1_e/_longbench_v1_e_code.yaml",
        "longbench_v1/_base",
    ],
)
def test_a_changed_task_file_is_noticed(copy, change, name, capsys):
    assert (main([str(copy), "--check"]), capsys.readouterr().out) == (0, "")
    change(copy / name)
    assert main([str(copy), "--check"]) == 1
    changed = f"{Path(name).parent}/{'extra_' if change is added else ''}{Path(name).name}"
    assert capsys.readouterr().out.splitlines() == [f"differs: tasks/{changed}"]


def test_what_was_changed_is_restored(copy):
    def everything():
        return {p: p.read_bytes() for p in copy.rglob("*") if p.is_file()}

    before = everything()
    one_byte(copy / "longbench_v1" / "_base")
    added(copy / "longbench_v1" / "longbench_v1_lcc.yaml")
    assert main([str(copy)]) == 0
    assert everything() == before


# ---------------------------------------------------------------------- each task file


def test_the_files_that_are_there():
    assert sorted(path.stem for path in V1_LEAVES) == sorted(
        name for one in (V1, E, *V1_VARIANTS) for name in one.tasks
    )
    assert sorted(path.stem for path in PRO_LEAVES) == sorted(PRO_TASKS)
    assert sorted(path.stem for path in V2_LEAVES) == sorted([*V2_MODES, *V2_DOMAINS])
    assert (len(V1_LEAVES), len(V2_LEAVES), len(PRO_LEAVES), len(LEAVES)) == (34 + 47, 11, 75, 167)
    # Of the variants: without context as with it, and one each of retrieval, summary and 2023.
    assert len(GROUPS) == 2 * (9 + 7) + 1 + 3 * 12 + 3


class Plain(yaml.SafeLoader):
    """Reads a task file with `!function` as plain text."""


Plain.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@pytest.mark.parametrize("path", V1_LEAVES, ids=lambda path: path.stem)
def test_leaf(path):
    own = yaml.load(path.read_text(encoding="utf-8"), Loader=Plain)
    included = own["include"] if isinstance(own["include"], list) else [own["include"]]
    assert len(own) <= 8
    assert included[0] == "_base"

    task = find_task(own["task"])
    assert path == TASKS / task.table / f"{task.name}.yaml"
    assert own["dataset_name"] == task.name
    whole = load_yaml(path, resolve_func=False)
    assert whole["generation_kwargs"] == {
        "until": [],
        "max_gen_toks": task.budget,
        "do_sample": False,
        "temperature": 0.0,
    }
    assert whole["generation_kwargs"]["do_sample"] is False
    assert type(whole["generation_kwargs"]["temperature"]) is float

    assert whole["metadata"]["version"] == 1.2
    assert whole["output_type"] == "generate_until"
    assert (whole["num_fewshot"], whole["target_delimiter"]) == (0, "")
    metrics = {metric["metric"]: metric for metric in whole["metric_list"]}
    assert next(iter(metrics)) == "score"
    assert list(metrics)[-4:] == ["failed", "truncated", "reasoned", "capped"]
    better = [m["higher_is_better"] for m in metrics.values()]
    assert better == [True] * (len(metrics) - 4) + [False] * 4


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: path.stem)
def test_the_metrics_of_a_leaf_are_those_the_package_computes(path):
    from lm_eval_longbench.harness.task import LongBenchTask

    config = load_yaml(path)  # functions resolved
    assert config["class"] is LongBenchTask
    task = find_task(config["dataset_name"])
    assert task.name == config["task"] == path.stem
    expected = benchmark_of(task).harness_metrics(task)
    assert [metric["metric"] for metric in config["metric_list"]] == [own.name for own in expected]


@pytest.mark.parametrize("path", V1_LEAVES, ids=lambda path: path.stem)
def test_v1_means(path):
    metrics = {one["metric"]: one["aggregation"] for one in load_yaml(path)["metric_list"]}
    buckets = ["score_0_4k", "score_4_8k", "score_8k_plus"]
    assert [name for name in metrics if name.startswith("score_")] == (
        buckets if "longbench_v1_e" in path.stem else []
    )
    for name, aggregation in metrics.items():
        partly = name.startswith("score_") or name == "capped"
        assert aggregation == (mean_of_known if partly else "mean")


@pytest.mark.parametrize("path", PRO_LEAVES, ids=lambda path: path.stem)
def test_pro_leaf(path):
    own = yaml.load(path.read_text(encoding="utf-8"), Loader=Plain)
    form = path.parent.name
    task = BY_CODE[path.stem.removeprefix(f"{form}_")]
    assert len(own) <= 8
    assert own["task"] == path.stem
    assert own["task_alias"] == task.name

    whole = load_yaml(path)
    assert whole["generation_kwargs"] == {
        "until": [],
        "max_gen_toks": PRO_FORMS[form],
        "temperature": 1.0,
    }
    metrics = {metric["metric"]: metric["aggregation"] for metric in whole["metric_list"]}
    extra = ["rouge_l", "semantic_similarity"] if task.metric == "summary" else []
    scored = ["score", "best_of_n", "pass_at_n", *extra]
    assert list(metrics) == [*scored, "failed", "truncated", "reasoned", "capped"]
    # The mean of the summaries that happen to be scored would be another figure.
    assert all(metrics[name] is mean_if_all_known for name in scored)


@pytest.mark.parametrize("path", V2_LEAVES, ids=lambda path: path.stem)
def test_v2_leaf(path):
    own = yaml.load(path.read_text(encoding="utf-8"), Loader=Plain)
    assert len(own) <= 8
    assert own["task"] == path.stem
    budget = V2_MODES.get(path.stem, V2_MODES["longbench_v2"])
    whole = load_yaml(path)
    assert whole["generation_kwargs"] == {
        "until": [],
        "max_gen_toks": budget,
        "temperature": 0.1,
    }
    metrics = {metric["metric"]: metric["aggregation"] for metric in whole["metric_list"]}
    counts = ["unparsed", "failed", "truncated", "reasoned", "capped"]
    parts = [f"acc_{name}" for name in SUB_SCORES]
    own = (
        ["acc_one_call"] if path.stem == "longbench_v2_cot" else ["acc", *parts, "acc_compensated"]
    )
    assert list(metrics) == own + counts
    for name, aggregation in metrics.items():
        partly = name.removeprefix("acc_") in SUB_SCORES or name == "capped"
        assert aggregation == (mean_of_known if partly else "mean")


# ---------------------------------------------------------------------- groups


@pytest.fixture(scope="module")
def index():
    """Everything the harness finds in our folder, as it finds it."""
    return task_index(TaskManager(include_path=str(TASKS), include_defaults=False))


def leaves(index, name):
    """The tasks below a group, each once; a task twice is a failure."""
    config = index[name].cfg
    if "group" not in config:
        return [name]
    found = [leaf for child in config["task"] for leaf in leaves(index, child)]
    assert len(found) == len(set(found))
    return found


def tasks_of(benchmark, wanted=lambda dataset: True):
    return [task.name for task in benchmark.tasks.values() if wanted(DATASETS[task.label])]


def test_the_whole_benchmarks(index):
    assert leaves(index, "longbench_v1") == tasks_of(V1)
    assert leaves(index, "longbench_v1_e") == tasks_of(E)
    assert index["longbench_v1"].cfg["task"] == [f"longbench_v1_{name}" for name in CATEGORIES]


def test_languages(index):
    english = tasks_of(V1, lambda info: info.language in {"en", "code"})
    chinese = tasks_of(V1, lambda info: info.language == "zh")
    assert leaves(index, "longbench_v1_en") == english
    assert leaves(index, "longbench_v1_zh") == chinese
    assert (len(english), len(chinese)) == (16, 5)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("benchmark", [V1, E], ids=["v1", "v1_e"])
def test_categories(index, category, benchmark):
    name = f"{benchmark.name}_{category}"
    expected = tasks_of(benchmark, lambda info: info.category == category)
    assert leaves(index, name) == expected
    # A category's score is the plain mean of its datasets'.
    assert index[name].cfg["aggregate_metric_list"] == [
        {"metric": "score", "weight_by_size": False}
    ]


@pytest.mark.parametrize("form", PRO_FORMS)
def test_pro_trees(index, form):
    assert leaves(index, form) == [f"{form}_{code}" for code in BY_CODE]
    for number, primary in enumerate(PRIMARY_TASKS, start=1):
        name = f"{form}_t{number}"
        own = [f"{form}_{task.code}" for task in BY_CODE.values() if task.primary == primary]
        assert leaves(index, name) == own
        assert index[name].cfg["group_alias"] == primary
    for name in (form, f"{form}_t4"):
        assert all(entry["weight_by_size"] for entry in index[name].cfg["aggregate_metric_list"])


def test_v2_domains(index):
    assert leaves(index, "longbench_v2_domains") == V2_DOMAINS
    # Questions weigh alike; a sub-score would be weighed by all questions of a domain.
    figures = {m["metric"]: m for m in index["longbench_v2_domains"].cfg["aggregate_metric_list"]}
    assert list(figures) == [
        "acc",
        "acc_compensated",
        "unparsed",
        "failed",
        "truncated",
        "reasoned",
    ]
    assert all(entry["weight_by_size"] for entry in figures.values())


def test_no_task_is_left_over(index):
    groups = {name for name in index if "group" in index[name].cfg}
    below = {child for name in groups for child in index[name].cfg["task"]}
    assert len(groups) == len(GROUPS) == 72
    v2 = {*V2_MODES, *V2_DOMAINS}
    assert set(index) - groups == set(PRO_TASKS) | v2 | {
        name for one in (V1, E, *VARIANTS) for name in one.tasks
    }
    assert below <= set(index)
    # Only what a user asks for by name stands at the top.
    assert set(index) - below == {
        "longbench_v1",
        "longbench_v1_e",
        "longbench_v1_en",
        "longbench_v1_zh",
        "longbench_pro",
        "longbench_pro_thinking",
        "longbench_v2_domains",
        *V2_MODES,
        *(f"longbench_{name}_no_context" for name in ("v1", "v1_e", "pro")),
        "longbench_v1_no_context_en",
        "longbench_v1_no_context_zh",
        "longbench_v1_retrieval",
        "longbench_v1_summary",
        "longbench_v1_2023_07",
    }
    assert not any("tag" in entry.cfg for entry in index.values())


def test_every_file_has_a_version(index):
    for name, entry in index.items():
        version = 1.2 if name.startswith("longbench_v1") else 1.1
        assert entry.cfg["metadata"]["version"] == version, name
    assert sorted(entry.yaml_path for entry in index.values()) == sorted(LEAVES + GROUPS)


def test_no_built_in_task_has_a_name_of_ours(index, processes, tmp_path):
    """Asks a process that reads all of the harness's own task files once."""
    file = tmp_path / "names.py"
    file.write_text(
        "import json, sys\nfrom lm_eval.tasks import TaskManager\n"
        "json.dump(TaskManager(include_defaults=True).all_tasks, sys.stdout)\n"
    )
    built_in = set(json.loads(processes.run(file, all_tasks=True).stdout))
    assert len(built_in) > 5000
    assert {"hellaswag", "longbench", "longbench_qasper"} <= built_in
    assert set(index) & built_in == set()
