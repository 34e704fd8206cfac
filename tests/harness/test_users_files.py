"""A user's task file includes one of ours and changes a key, as in the harness."""

import json

import pytest
from departing import departures
from lm_eval.tasks import TaskManager
from real_runs import AnsweringLM, write_run

from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.benchmarks.results import read_results_file
from lm_eval_longbench.catalog.model import prompt_sha256
from lm_eval_longbench.check.verification import DIFFERENT
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.errors import OptionError, PromptError
from lm_eval_longbench.harness.run import run_harness
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.task_folder import task_folder

QASPER, TREC, V2 = "longbench_v1_qasper", "longbench_v1_trec", "longbench_v2"
PRO = "longbench_pro_t3_1"
PLACES = {QASPER: "longbench_v1", TREC: "longbench_v1", V2: "longbench_v2", PRO: "longbench_pro"}
PROMPT = "doc_to_text: |2-\n  {{context}}\n\n  Q: {{input}}  \n  A:\n"


@pytest.fixture
def own(tmp_path):
    """Write a user's file that includes one of ours; return its folder."""

    def write(lines, official=QASPER, name="mine", tag="tag: []\n"):
        folder = tmp_path / "own"
        folder.mkdir(exist_ok=True)
        included = task_folder() / PLACES[official] / f"{official}.yaml"
        text = f"include: {included}\ntask: {name}\n{tag}{lines}"
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        return folder

    return write


def shown_version(task):
    """The version of a task as its results file and the harness's table show it."""
    return str(json.loads(task.file.read_text(encoding="utf-8"))["versions"][task.name])


def load(folder, name="mine", **options):
    """Build a user's task as plain `lm_eval` does."""
    metadata = {"longbench": {"data_dir": "sample", **options}}
    manager = TaskManager(
        include_path=[str(task_folder()), str(folder)], include_defaults=False, metadata=metadata
    )
    return manager.load([name])["tasks"][name]


def ran(folder, tmp_path, answer, name="mine", **arguments):
    """Run a user's task with plain `lm_eval`; return the folder of the results."""
    run = tmp_path / "run"
    return write_run(run, AnsweringLM(answer), [name], include_path=[str(folder)], **arguments)


def signed(run, name="mine"):
    (file,) = run.rglob("results_*.json")
    (task,) = [one for one in read_results_file(file).tasks if one.name == name]
    return task


def scored(run, tmp_path):
    score_paths([run], tmp_path / "scored")
    return json.loads((tmp_path / "scored" / "report.json").read_text(encoding="utf-8"))


# ---------------------------------------------------------------------- what may be changed


def test_an_own_prompt_is_asked_scored_and_named(own, tmp_path):
    seen = []

    def answer(number, prompt):
        seen.append(prompt)
        return "unanswerable"

    run = ran(own(PROMPT), tmp_path, answer)
    task = signed(run)
    sha256 = prompt_sha256("{{context}}\n\nQ: {{input}}  \nA:")
    assert seen and all("\n\nQ: " in text and text.endswith("  \nA:") for text in seen)
    assert task.run["template_sha256"] == sha256 != find_task(QASPER).prompt_sha256
    assert task.run["task"] == QASPER and task.run["metric"] is None
    assert shown_version(task).startswith("1.2 prompt: own data: sample-")
    assert "a prompt of the user's own" in departures(QASPER, task.signature, 1).found
    # Offline: the results carry the prompt that they were made with.
    report = verify([run])
    assert report.with_status(DIFFERENT) == []
    assert {"template", "prompts"} <= {
        check.kind for check in report.checks if check.status == "confirmed"
    }
    whole = scored(run, tmp_path)
    own_score = whole["tables"]["longbench_v1"]["official"]["qasper"]
    assert own_score == pytest.approx(100 * task.figures["score,none"], abs=0.005)


def test_another_metric_of_ours_scores_and_is_named(own, tmp_path):
    task = find_task(QASPER)
    gold = benchmark_of(task).load(task, "sample").rows[0]["answers"][0]
    words = f"{gold} and more words, the same {gold}"
    plain = ran(own("", name="plain"), tmp_path / "a", lambda n, p: words, name="plain")
    other = ran(own("metric: rouge_l\n"), tmp_path / "b", lambda n, p: words)
    before, after = signed(plain, "plain"), signed(other)
    assert (before.run["metric"], after.run["metric"]) == (None, "rouge_l")
    assert "rougeL_google,none" in after.figures and "rougeL_google,none" not in before.figures
    assert shown_version(after).startswith("1.2 metric: own data: ")
    assert shown_version(before).startswith("1.2 data: ")
    assert "scored by rouge_l (officially by qa_f1)" in departures(QASPER, after.signature, 1).found
    assert before.figures["score,none"] != after.figures["score,none"]
    report = verify([other])
    assert report.with_status(DIFFERENT) == []
    (tmp_path / "c").mkdir()
    official = scored(other, tmp_path / "c")["tables"]["longbench_v1"]["official"]["qasper"]
    assert official == pytest.approx(100 * after.figures["score,none"], abs=0.005)


def test_an_own_budget_keeps_what_the_file_leaves_out(own, tmp_path):
    """The include is shallow: without `until` the harness stops at the first blank line."""
    run = ran(own("generation_kwargs: {max_gen_toks: 256}\n"), tmp_path, lambda n, p: "a\n\nb")
    task = signed(run)
    assert task.run["generation"] == {
        **{"until": [], "max_gen_toks": 256, "do_sample": False, "temperature": 0.0}
    }
    assert shown_version(task).startswith("1.2 budget: own data: ")
    (log,) = run.rglob("samples_mine_*.jsonl")
    assert json.loads(log.read_text().splitlines()[0])["resps"] == [["a\n\nb"]]
    found = departures(QASPER, task.signature, 1).found
    assert "an output budget of 256 tokens (officially 128)" in found
    assert verify([run]).with_status(DIFFERENT) == []


def test_a_prompt_of_v2_in_either_spelling(own):
    row = load(own("", V2)).eval_docs[0]
    template = load(own("template: '$Q$ or $C_A$?'\n", V2, "marked"), "marked")
    jinja = load(own('doc_to_text: "{{question}} or {{choice_A}}?"\n', V2, "filled"), "filled")
    assert template.doc_to_text(row) == f"{row['question'].strip()} or {row['choice_A'].strip()}?"
    assert jinja.doc_to_text(row) == f"{row['question']} or {row['choice_A']}?"
    assert str(jinja.VERSION).startswith("1.1 prompt: own")


# ---------------------------------------------------------------------- what may not


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("metrik: rouge_l\n", "mine: Unknown key of a task file 'metrik'. Did you mean 'metric'"),
        ("generation_kwarg: {}\n", "Did you mean 'generation_kwargs'"),
        ("metric: rouge\n", "mine: Unknown metric 'rouge'. Did you mean 'rouge_l'"),
        (
            "metric: null\nmetric_list: [{metric: exact_match}]\n",
            "in its metric_list: Unknown figu",
        ),
        ("truncation: ends_decoded_together\n", "mine: 'truncation' cannot be changed"),
        ("description: Well.\n", "mine: 'description' would change the prompt"),
        ("doc_to_target: '{{answers}}'\n", "mine: 'doc_to_target' is not read"),
        ("num_fewshot: 2\n", "mine: num_fewshot must be 0"),
    ],
)
def test_what_is_refused(own, lines, said):
    with pytest.raises(OptionError) as caught:
        load(own(lines))
    assert said in str(caught.value)


def test_a_function_for_a_prompt_is_refused(own, tmp_path):
    folder = own("doc_to_text: !function utils.prompt\n")
    (folder / "utils.py").write_text("def prompt(doc):\n    return doc['input']\n")
    with pytest.raises(OptionError, match="mine: 'doc_to_text' must be a text"):
        load(folder)


def test_a_file_without_a_definition_is_refused(own):
    with pytest.raises(OptionError, match="nothing says how its answers are scored"):
        load(own("definition: null\n"))


def test_a_template_that_jinja_cannot_read(own):
    with pytest.raises(PromptError, match="is no template of Jinja"):
        load(own('doc_to_text: "{{context"\n'))


def test_an_inherited_tag_is_refused_with_the_line_to_write(own):
    folder = own(PROMPT, tag="")
    with pytest.raises(OptionError) as caught:
        load(folder)
    assert f"mine: {folder / 'mine.yaml'} inherits the tag longbench_v1_single_doc_qa" in str(
        caught.value
    )
    assert str(caught.value).endswith("Add this line to the file: tag: []")
    load(own(PROMPT))


def test_a_tag_of_ours_keeps_its_tasks_under_run(own, tmp_path):
    """The harness's own index holds the user's task alone: its folder comes after ours."""
    folder, output = own(PROMPT, tag=""), tmp_path / "out"
    tag, paths = "longbench_v1_single_doc_qa", [str(task_folder()), str(folder)]
    manager = TaskManager(include_path=paths, include_defaults=False)
    assert manager.task_index[tag].tags == {"mine"}
    config = {"model": "longbench-extractive", "include_path": paths, "limit": 1}
    config |= {"metadata": {"longbench": {"data_dir": "sample"}}, "output_path": str(output)}
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps(config), encoding="utf-8")
    kept = run_harness(["--config", str(file), "--tasks", tag])
    assert list(kept.signatures) == [
        f"longbench_v1_{name}"
        for name in ("narrativeqa", "qasper", "multifieldqa_en", "multifieldqa_zh")
    ]


@pytest.mark.parametrize("lines", [PROMPT, "metric: rouge_l\n", "chat_template: false\n"])
def test_our_name_is_ours(own, lines):
    folder = own(lines, name=QASPER)
    error = PromptError if lines is PROMPT else OptionError
    with pytest.raises(error) as caught:
        load(folder, QASPER)
    said = str(caught.value)
    assert QASPER in said and str(folder / f"{QASPER}.yaml") in said
    if lines is PROMPT:
        assert prompt_sha256("{{context}}\n\nQ: {{input}}  \nA:") in said
        assert find_task(QASPER).prompt_sha256 in said
