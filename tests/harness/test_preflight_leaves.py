"""Which tasks a run evaluates; the harness's own loading is the oracle."""

import pytest
from lm_eval.tasks import TaskManager

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.harness.preflight import open_tasks, read_run
from lm_eval_longbench.task_folder import task_folder

SAMPLE = {"longbench": {"data_dir": "sample"}}


def leaves_of(*tasks, include=None, metadata='{"longbench": {"data_dir": "sample"}}'):
    more = ("--include_path", str(include)) if include else ()
    run = read_run(["--model", "hf", "--tasks", *tasks, "--metadata", metadata, *more])
    return open_tasks(run, include_defaults=False)


@pytest.mark.parametrize(
    "tasks",
    [
        ["longbench_v1"],
        ["longbench_v1_e_few_shot", "longbench_v1_qasper"],
        ["longbench_pro"],
        ["longbench_pro_thinking_t4", "longbench_v2"],
        ["longbench_v2_domains"],
    ],
)
def test_groups_expand_to_what_the_harness_builds(tasks):
    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=dict(SAMPLE)
    )
    built = manager.load(tasks)["tasks"]
    _, leaves = leaves_of(*tasks)
    assert [leaf.name for leaf in leaves] == list(built)
    for leaf in leaves:
        task = built[leaf.name]
        assert leaf.dataset == task.config.dataset_name
        assert leaf.repeats == task.config.metadata["longbench_run"]["repeats"]
        assert task.benchmark().removeprefix("longbench_").startswith(leaf.benchmark)


def test_patterns():
    _, leaves = leaves_of("longbench_v1_passage_*")
    assert [leaf.name for leaf in leaves] == [
        "longbench_v1_passage_count",
        "longbench_v1_passage_retrieval_en",
        "longbench_v1_passage_retrieval_zh",
    ]


@pytest.fixture
def suite(tmp_path):
    """A user's own group, with overrides, an inline group and a task of another kind."""
    (tmp_path / "suite.yaml").write_text(
        "group: my_suite\n"
        "task:\n"
        "  - longbench_v1_lcc\n"
        "  - task: longbench_v1_trec\n"
        "    generation_kwargs: {max_gen_toks: 7}\n"
        "  - group: inner\n"
        "    task: [longbench_v1_samsum]\n"
        "  - group: longbench_v1_e_code\n"
        "    repeats: 2\n"
        "  - theirs\n"
    )
    (tmp_path / "theirs.yaml").write_text(
        "task: theirs\ndataset_path: nobody/nothing\noutput_type: generate_until\n"
    )
    return tmp_path


def test_a_users_own_group(suite):
    manager, leaves = leaves_of("my_suite", include=suite)
    by_name = {leaf.name: leaf for leaf in leaves}
    assert list(by_name) == [
        "longbench_v1_lcc",
        "longbench_v1_trec",
        "longbench_v1_samsum",
        "longbench_v1_e_lcc",
        "longbench_v1_e_repobench_p",
        "theirs",
    ]
    assert by_name["theirs"].benchmark is None
    assert by_name["longbench_v1_e_lcc"].repeats == 2
    (task,) = manager.load(by_name["longbench_v1_trec"].spec)["tasks"].values()
    assert task.config.task == "longbench_v1_trec"
    assert task.config.generation_kwargs["max_gen_toks"] == 7
    assert task.config.generation_kwargs["until"] == []


def test_a_yaml_file_by_its_path(suite):
    _, by_name = leaves_of("my_suite", include=suite)
    _, by_path = leaves_of(str(suite / "suite.yaml"), include=suite)
    assert by_path == by_name
    _, (leaf,) = leaves_of(str(task_folder() / "longbench_v1" / "longbench_v1_lcc.yaml"))
    assert (leaf.name, leaf.benchmark) == ("longbench_v1_lcc", "v1")
    manager, _ = leaves_of("longbench_v1_lcc")
    (task,) = manager.load(dict(leaf.spec))["tasks"].values()
    assert task.config.task == "longbench_v1_lcc"


def test_options_of_a_yaml_reach_the_leaf(tmp_path):
    (tmp_path / "own.yaml").write_text(
        "group: own\ntask:\n  - task: longbench_v1_lcc\n"
        "    metadata: {version: 1.0, longbench: {data_dir: sample}}\n"
    )
    _, (leaf,) = leaves_of("own", include=tmp_path, metadata="{}")
    assert leaf.metadata["longbench"] == {"data_dir": "sample"}


@pytest.mark.parametrize("wanted", ["longbench_v1_qaspar", "no/such/file.yaml"])
def test_an_unknown_task_names_the_nearest(wanted):
    with pytest.raises(UnknownNameError, match="Did you mean"):
        leaves_of(wanted)


def test_a_member_that_is_nowhere_is_unknown(tmp_path):
    (tmp_path / "own.yaml").write_text("group: own\ntask: [longbench_v1_lccc]\n")
    with pytest.raises(UnknownNameError, match="longbench_v1_lcc"):
        leaves_of("own", include=tmp_path)


def test_embedding_options_stay_out_of_the_built_tasks():
    """The preflight asks the embedding server itself."""
    metadata = '{"longbench": {"data_dir": "sample", "embedding_model": "m"}}'
    manager, (leaf,) = leaves_of("longbench_pro_t4_1", metadata=metadata)
    assert leaf.metadata["longbench"]["embedding_model"] == "m"
    (task,) = manager.load(leaf.spec)["tasks"].values()
    assert "embedding_model" not in task.config.metadata["longbench"]
