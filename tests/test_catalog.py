"""Task files define the tasks: against facts written by hand, and as the harness reads them."""

import hashlib
import itertools
import json
import shutil
from pathlib import Path

import longbench_pro_facts as pro_facts
import longbench_v2_facts as v2_facts
import pytest
import v2_prompts
import yaml
from hypothesis import given
from hypothesis import strategies as st
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml
from lm_eval.utils import apply_template
from longbench_v1_facts import CATEGORIES, DATASETS, SEGMENTED

from lm_eval_longbench.benchmarks import registry
from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.catalog.model import Length, prompt_sha256
from lm_eval_longbench.catalog.read import OWN_KEYS, defined, read_file, read_folder
from lm_eval_longbench.errors import PromptError
from lm_eval_longbench.task_folder import task_folder

FOLDER = task_folder()
READ = read_folder(FOLDER)
FILES = sorted(FOLDER.rglob("*.yaml"))
# Of the official templates (THUDM/LongBench, commit 2e00731, config/dataset2prompt.json).
OFFICIAL = {
    "narrativeqa": "aada7ed24b06abace5b0045ac3bcfe06fc831a6cf434f0ecfd99fb7b3d299e1c",
    "qasper": "0fbdd123fe7f83d6d6a9c583ca28cb29d68e523bf8fec01a0cf2dcd11037775d",
    "multifieldqa_en": "20b4666a2de8a1f701bdb6c4e015fa9f8758d64b361d841f7766df6c9ceba770",
    "multifieldqa_zh": "344b3a4e557cd5470c661b3d6b374339717e1257a6c01f628d22322d4a554b94",
    "hotpotqa": "9ec4ae308865bd0c62af20b3dc7b12b31f2b447f55684bd88c1aa40f2f636deb",
    "2wikimqa": "9ec4ae308865bd0c62af20b3dc7b12b31f2b447f55684bd88c1aa40f2f636deb",
    "musique": "9ec4ae308865bd0c62af20b3dc7b12b31f2b447f55684bd88c1aa40f2f636deb",
    "dureader": "ae53329f51b17908e08b8c6bf366987282b8b38c0ee35275ebd7b79e9b30eff2",
    "gov_report": "91c25d585b189ced91c9280efcb4ecb5dcff9548cd4e3bfae66c68025b569e95",
    "qmsum": "dca23b678fe0183bbd9555b57947022aed1b85739da5ad7e1b4708dd0c71c409",
    "multi_news": "2af3f28c40b902e6535d4910510d51653613c49de9b2fc287c5958395061101d",
    "vcsum": "3e5d8241bc9b512eb4929c1ba80882a44f50b446bc2b1d9d79eff030dd10dc27",
    "trec": "0eff8bebdba99d91e9d7d91b6ab39455ac74648bea92c9255c9f68c62175b2db",
    "triviaqa": "00a802e6377e72fca39b169cf6c28893bedf23ba7286b03ecd15867c3e27a7c4",
    "samsum": "a68d884234907eefcaa0eacf7b2997f60fa46603988dceae6a44f9b49f045b3f",
    "lsht": "f3edabdf7fae53d6cadfa7a10f3574d114302161c46dacecd5d30763204bbbf3",
    "passage_count": "986550b6c61009c629a4535766d94b7b51e2b2b9e1ed169e4ecb54417466e964",
    "passage_retrieval_en": "39b96b7fa52bdd2aa2bde34ea199158505201b9a0a2c3ce94e80249293f60431",
    "passage_retrieval_zh": "c1e2346e245eb365bc33a1503cde2e473948a2aad51c3e4c72893e61ab074d60",
    "lcc": "6a1f24cf0bb83cd90f1fca8f0dd24801626c2aaea29db834ddc83b950e71190e",
    "repobench-p": "ee9ec182ea5ffeb70a7140d55baea97264a8612d88226d323afa90859c36240c",
}
# commit 2e00731, prompts.
OFFICIAL_V2 = {
    "0shot": "68a162252bc9ff71d5d7abca3d69bb31aac3c35f832d657a2866f2018b8a6950",
    "0shot_cot": "6cc33d92fd8f611662b756c1f10f302c541ca005b58c46d5f3188ac3a939bfe8",
    "0shot_cot_ans": "85ec59df4ac0e27aabbc619a7ca5cf3ae1787dd5a76cf51a18944eb52c91955f",
    "0shot_no_context": "125fb44183af01ffc623df19392b80a287db62af3e2a2805e5b2ff9c7b2bee30",
    "0shot_rag": "5c50ce4fa24d297b8c72eb048599681ee01ced5d24a6636464386d6d3c72c4c9",
}
METRICS_V1 = {
    **dict.fromkeys(("narrativeqa", "qasper", "multifieldqa_en", "hotpotqa"), "qa_f1"),
    **dict.fromkeys(("2wikimqa", "musique", "triviaqa"), "qa_f1"),
    "multifieldqa_zh": "qa_f1_zh",
    **dict.fromkeys(("gov_report", "qmsum", "multi_news", "samsum"), "rouge_l"),
    **dict.fromkeys(("dureader", "vcsum"), "rouge_l_zh"),
    **dict.fromkeys(("trec", "lsht"), "classification"),
    "passage_count": "count",
    "passage_retrieval_en": "retrieval",
    "passage_retrieval_zh": "retrieval_zh",
    **dict.fromkeys(("lcc", "repobench-p"), "code_sim"),
}


# ---------------------------------------------------------------------- what they say


@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("benchmark", [V1, E], ids=["v1", "v1_e"])
def test_a_dataset_of_v1_and_e(benchmark, name):
    known = DATASETS[name]
    questions, length = known.rows, known.length
    if benchmark is E:
        questions, length = known.rows_e, known.length_e
        if questions is None:
            assert name not in E.datasets
            return
    task = benchmark.datasets[name]
    unit = "characters" if known.language == "zh" else "words"
    assert task.name == f"{benchmark.name}_{name.replace('-', '_')}"
    assert task.dataset == name + benchmark.suffix
    assert (task.table, task.counted, task.label) == (benchmark.name, task.name, name)
    assert (task.category, task.language) == (known.category, known.language)
    assert (task.questions, task.length) == (questions, Length(length, length, unit))
    assert (task.metric, task.chat) == (METRICS_V1[name], known.chat)
    assert task.first_line == (known.category == "few_shot")
    assert task.segmented == (known.language == "zh" and known.category in SEGMENTED)
    assert benchmark.generation(task) == {
        **{"until": [], "max_gen_toks": known.budget, "do_sample": False, "temperature": 0.0}
    }
    assert task.prompt_sha256 == prompt_sha256(task.prompt) == OFFICIAL[name]
    assert (task.document, task.retrieved, task.summary) == (True, False, False)


@pytest.mark.parametrize(("name", "task"), v2_prompts.TASKS.items())
def test_a_mode_of_v2(name, task):
    own = V2.tasks[task]
    (mode,) = [one for one in v2_facts.MODES if one.task == task]
    assert hashlib.sha256(own.prompt.encode()).hexdigest() == own.prompt_sha256 == OFFICIAL_V2[name]
    assert (own.budget, own.questions, own.metric) == (mode.budget, 503, "letter")
    assert own.document == (name not in ("0shot_no_context", "0shot_cot_ans"))
    assert own.retrieved == (name == "0shot_rag")
    assert (V2.tables[task].mode, V2.tables[task].published) == (mode.title, mode.published)


def test_domains_of_v2():
    assert V2.counts == v2_facts.COUNTS
    for code, domain in v2_facts.DOMAINS.items():
        task = V2.tasks[f"longbench_v2_{code}"]
        assert (task.where, task.label, task.dataset) == ("domain", domain, code)
        assert task.questions == v2_facts.COUNTS["domain"][domain]
        assert task.length == v2_facts.LENGTHS[code]
        assert task.prompt == V2.tasks["longbench_v2"].prompt


def test_tasks_of_pro():
    assert PRO.counts == pro_facts.COUNTS
    assert {name: list(values) for name, values in PRO.counts.items()} == {
        name: list(values) for name, values in pro_facts.COUNTS.items()
    }
    for form, budget in (("longbench_pro", 1024), ("longbench_pro_thinking", 8192)):
        for one in pro_facts.SECONDARY_TASKS.values():
            task = PRO.tasks[f"{form}_{one.code}"]
            assert (task.table, task.label, task.dataset) == (form, one.name, one.code)
            assert (task.category, task.metric) == (one.primary, one.metric)
            assert (task.questions, task.length) == (60, pro_facts.LENGTH)
            assert (task.budget, task.chat, PRO.repeats) == (budget, True, 3)


# ---------------------------------------------------------------------- prompts

HOSTILE = st.text(
    st.sampled_from("ab {}%$#\n\t\\<&'\"") | st.characters(codec="utf-8"), max_size=40
)


@given(st.sampled_from([*V1.tasks.values(), *PRO.tasks.values()]), st.lists(HOSTILE, min_size=4))
def test_the_harness_fills_a_template_as_we_do(task, texts):
    names = ("context", "input", "question_nonthinking", "question_thinking")
    row = dict(zip(names, texts, strict=False))
    benchmark = registry.benchmark_of(task)
    assert benchmark.render(task, row) == apply_template(task.prompt, row)


def test_pro_is_stripped_whole():
    task = PRO.tasks["longbench_pro_thinking_t1_1"]
    row = {"context": "\n {{ x }} ", "question_thinking": " {% y %}\n "}
    assert PRO.render(task, row) == "{{ x }} \n\n\n\n {% y %}"
    assert PRO.question(task, row) == "\n\n\n\n {% y %}"
    with pytest.raises(PromptError, match="needs the field 'question_nonthinking' as a text"):
        PRO.render(PRO.tasks["longbench_pro_t1_1"], row)


def test_endings_that_editors_like_to_strip():
    ends = {name: task.prompt[-2:] for name, task in V1.datasets.items()}
    assert ends["passage_count"] == ends["passage_retrieval_en"] == ": "
    assert ends["lcc"] == ends["repobench-p"] == ":\n"
    assert "asconcisely" in V1.datasets["narrativeqa"].prompt  # the official typo


@pytest.fixture
def copy(tmp_path):
    """A copy of the task files."""
    return shutil.copytree(FOLDER, tmp_path / "tasks")


NAMES = ["longbench_v1_passage_retrieval_en", "longbench_v1_e_passage_count"]
CHANGES = [
    lambda text: text + "  \n  .\n",
    lambda text: text.rstrip() + "\n",
    lambda text: text.replace("aragraph", "aragarph", 1),
]


@pytest.mark.parametrize(
    ("name", "change"),
    [*itertools.product(NAMES, CHANGES), (NAMES[0], lambda text: text.replace('"', "”", 1))],
)
def test_a_damaged_prompt_is_refused(copy, name, change):
    leaf = copy / "longbench_v1" / f"{name.replace('_e_', '_')}.yaml"
    head, mark, prompt = leaf.read_text(encoding="utf-8").partition("doc_to_text")
    assert change(prompt) != prompt
    leaf.write_text(head + mark + change(prompt), encoding="utf-8")
    benchmark = registry.benchmark_of(registry.find_task(name)).name
    damaged = defined(copy, benchmark).tasks[name]
    official = V1.datasets[damaged.label].prompt_sha256
    with pytest.raises(PromptError, match=f"The prompt of {name} was changed in ") as caught:
        V1.render(damaged, {"context": "C", "input": "I"})
    assert f"{name}.yaml: sha256 {prompt_sha256(damaged.prompt)}, official {official}" in str(
        caught.value
    )
    # The others are as good as before.
    V1.render(
        defined(copy, "longbench_v1").tasks["longbench_v1_qasper"], {"context": "", "input": ""}
    )


# ---------------------------------------------------------------------- the files themselves


def test_how_many_files_and_how_long():
    assert len([path for path in FOLDER.rglob("*") if path.is_file()]) <= 130
    assert len(READ.leaves) == 21 + 13 + 11 + 50 + 8 + 4 + 1
    for path in FOLDER.glob("longbench_pro*/longbench_pro_*.yaml"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 8


class Plain(yaml.SafeLoader):
    """Reads a task file with `!function` as plain text."""


Plain.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_harness_reads_the_same(path):
    theirs, ours = load_yaml(path, resolve_func=False), dict(read_file(path))
    # It puts the folder before the name of a function.
    for key in ("class", "doc_to_text"):
        if str(theirs.get(key, "")).startswith(str(path.parent.parent)):
            theirs[key] = Path(theirs[key]).name
    assert json.dumps(theirs) == json.dumps(ours)
    if "task" in theirs and "group" not in theirs:
        assert theirs["task"] == theirs["definition"] == path.stem
        known = set(yaml.load(path.read_text(encoding="utf-8"), Loader=Plain)) - OWN_KEYS
        assert known <= {
            *("include", "task", "task_alias", "tag", "dataset_name", "generation_kwargs"),
            "doc_to_text",
        }


@pytest.fixture(scope="module")
def index():
    """Everything the harness finds in our folder, as it finds it."""
    return TaskManager(include_path=str(FOLDER), include_defaults=False).task_index


def test_the_index_has_every_name_once(index):
    assert sorted(index) == registry.valid_names()
    for name, entry in index.items():
        assert registry.kind_of(name) == entry.kind.name.lower().removeprefix("py_")
    # A tag of the name of a group or a task would delete it without a word.
    names = [*READ.leaves, *READ.groups, *READ.tags]
    assert len(names) == len(set(names))


def test_groups_list_tasks_alone(index):
    for name, group in READ.groups.items():
        assert set(group.members) <= set(READ.leaves), name
    assert list(READ.groups) == [
        *("longbench_pro", "longbench_pro_thinking", "longbench_v1", "longbench_v1_2023_07"),
        *("longbench_v1_e", "longbench_v1_retrieval", "longbench_v1_summary"),
        "longbench_v2_domains",
    ]
    assert list(READ.groups["longbench_v1"].members) == list(V1.tasks)
    assert list(READ.groups["longbench_v1_e"].members) == list(E.tasks)


@pytest.mark.parametrize("benchmark", [V1, E], ids=["v1", "v1_e"])
def test_tags_of_categories(index, benchmark):
    for category in CATEGORIES:
        own = [name for name, task in benchmark.tasks.items() if task.category == category]
        assert list(READ.tags[f"{benchmark.name}_{category}"]) == own
        assert index[f"{benchmark.name}_{category}"].tags == set(own)


def test_tags_of_languages():
    english = [name for name, task in V1.tasks.items() if task.language in ("en", "code")]
    assert list(READ.tags["longbench_v1_en"]) == english
    assert list(READ.tags["longbench_v1_zh"]) == [name for name in V1.tasks if name not in english]
    assert len(english) == 16


def test_tags_of_primary_tasks():
    for form, table in PRO.tables.items():
        for number, primary in enumerate(pro_facts.PRIMARY_TASKS, start=1):
            own = [name for name, task in table.tasks.items() if task.category == primary]
            assert list(READ.tags[f"{form}_t{number}"]) == own


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
