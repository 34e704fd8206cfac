"""What a run prints last."""

import json
import shlex

import pytest
from scored_runs import v1_rows, write_run

from lm_eval_longbench.api.run import counted, signatures_of_tables
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.cli.run import next_command
from lm_eval_longbench.harness.evaluate import Captured
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.run_end import (
    Asked,
    Files,
    block,
    categories,
    headlines,
    is_official,
    notes,
    official_protocol,
    opening,
)
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.scoring.score import score_rows
from lm_eval_longbench.signature.ingredients import INGREDIENTS

V1 = benchmarks()["longbench_v1"]
FILES = Files("hf org/model", "results/org__model", "results/run.log", "lm-eval-longbench run x")
OFFICIAL = {
    "data": V1.source.label,
    "data_sha256": V1.source.sha256,
    "truncation": V1.rule.__name__,
    "limit": 31500,
    "overlength": "truncate",
    "chat": "on",
    "filters": None,
}


def rows_of(scores, data, length=9):
    """Sample log rows of datasets, and the signatures of their tasks."""
    rows, signatures = {}, {}
    for dataset, own in scores.items():
        task = f"longbench_v1_{dataset}"
        rows[task] = []
        for number, sample in enumerate(v1_rows({dataset: own})):
            text = "yes" if own[number] else "no"
            doc = {"_id": sample["id"], "index": number, "answers": ["yes"], "all_classes": None}
            doc |= {"dataset": dataset, "task": task, "data": data, "length": length + number}
            texts = [[text]]
            rows[task].append(
                {"doc": doc, "resps": texts, "filtered_resps": texts[0], "filter": "none"}
            )
        generation = {"max_gen_toks": 128, "until": [], "do_sample": False, "temperature": 0.0}
        signatures[task] = {
            **dict.fromkeys(INGREDIENTS),
            **OFFICIAL,
            **{"task": task, "data": data, "generation": generation},
        }
    return rows, signatures


@pytest.fixture
def made(tmp_path):
    def make(scores, data=OFFICIAL["data"], **changed):
        rows, signatures = rows_of(scores, data)
        for own in signatures.values():
            own.update(changed)
        score_rows(rows, tmp_path, signatures=list(signatures.values()))
        return make_report([read_run(tmp_path, "this run")]), signatures

    return make


def test_one_dataset_prints_no_row_without_a_value(made):
    report, signatures = made({"qasper": [1.0, 0.0] * 100})
    assert categories(report) == "dataset  qasper 50.00\n"
    assert notes(report) == (
        "this run: 20 of 21 tasks are not in it, so that these have no value: English, Chinese.\n"
    )
    first, verdict, answers = opening(report, Asked()).splitlines()
    assert first.startswith("LongBench v1       qasper 50.00 [")
    assert verdict == "official protocol  yes"
    assert answers.startswith("answers            200: failed 0 (0.0%), truncated")
    assert is_official(report, Asked())
    lines = block(signatures_of_tables(counted(signatures)), FILES).splitlines()
    assert [line.split()[0] for line in lines] == ["model", "results", "log", "signature", "next"]
    assert lines[0] == "model      hf org/model"


def test_figures_of_a_part_of_e_say_of_which_lengths(tmp_path):
    rows = v1_rows({"qasper": [(100, 1.0), (5000, 0.5)], "lcc": [(9000, 0.5)]}, "longbench_v1_e")
    whole = make_report([read_run(write_run(tmp_path / "w", rows), "this run")])
    assert headlines(whole)[0] == "LongBench-E: all lengths: qasper 75.00, lcc 50.00"
    assert categories(whole).splitlines() == [
        "all lengths  qasper 75.00, lcc 50.00",
        "0-4k         qasper 100.00",
        "4-8k         qasper 50.00",
        "8k+          lcc 50.00",
    ]


def test_an_official_run_says_yes_and_any_other_why_not(made):
    scores = {"qasper": [1.0, 0.0] * 100}
    for changed, expected in (
        ({}, ""),
        ({"limit": None}, "no limit of prompts (officially cut at 3500"),
        ({"chat": "off"}, "chat template off (officially on)"),
        ({"generation": {"max_gen_toks": 8}}, "an output budget of 8 tokens (officially 128)"),
        ({"data_sha256": "0" * 64}, "other data than"),
    ):
        report, _ = made(scores, **changed)
        (column,) = report.benchmarks[0].columns
        departs, unknown = official_protocol([column])
        assert unknown == ""
        assert (expected in departs) if expected else departs == ""
    report, _ = made({"qasper": [1.0] * 50})
    asked = Asked("--limit 50", {"longbench_v1_qasper": (50, 200)})
    verdict = opening(report, asked).splitlines()[1]
    assert verdict.startswith(
        "official protocol  no, because: 50 of 200 questions were asked (--limit 50); it is "
        "incomplete: longbench_v1_qasper has 50 of 200 questions"
    )
    # A limit that leaves out nothing is none.
    report, _ = made(scores)
    assert is_official(report, Asked("--limit 900", {"longbench_v1_qasper": (200, 200)}))


# ---------------------------------------------------------------------- the next command


@pytest.fixture
def next_words(monkeypatch):
    """Return the words of the command that follows a run of qasper, told as arguments."""

    def made(*arguments, options=None, model="hf org/model", **changed):
        monkeypatch.setattr("sys.argv", ["/bin/lm-eval-longbench", "run", *arguments])
        monkeypatch.setattr(Captured, "folder", "out")
        _, signatures = rows_of({"qasper": [1.0]}, "local-0123")
        (own,) = signatures.values()
        own.update({"repeats": 1, **changed})
        kept = Captured(signatures=signatures, model=model)
        kept.options = {task: options or {} for task in signatures}
        kept.logged = True
        return shlex.split(next_command(kept))

    return made


OWN = ("--model", "hf", "--model_args", "pretrained=org/model", "--tasks", "longbench_v1_qasper")
TEMPLATE = "--apply_chat_template"


def test_the_next_command_is_the_own_one_without_what_is_not_official(next_words):
    start = ["lm-eval-longbench", "run", *OWN]
    assert next_words(*OWN, TEMPLATE, "--limit", "5") == [*start, TEMPLATE]
    assert next_words(*OWN, "-L", "5", "--system_instruction=be brief", chat="off") == (
        [*start, TEMPLATE]
    )
    # What the official runs leave open stays.
    given = ("--gen_kwargs", "seed=5")
    assert next_words(*OWN, TEMPLATE, *given, "--limit=5") == [*start, TEMPLATE, *given]
    short = {"max_gen_toks": 8, "temperature": 0.0, "do_sample": False, "until": []}
    given = ("--gen_kwargs", "max_gen_toks=8")
    assert next_words(*OWN, TEMPLATE, *given, generation=short) == [*start, TEMPLATE]


@pytest.mark.parametrize(
    ("limit", "given", "grown"), [(None, None, 31500), (500, 500, 3500), (9000, 9000, 7500)]
)
def test_the_next_command_has_the_nearest_official_limit(next_words, limit, given, grown):
    options = {"data_dir": "sample", "tokenizer": "t"} | ({"truncate_to": given} if given else {})
    metadata = json.dumps({"longbench": options})
    words = next_words(
        *OWN, "--metadata", metadata, options=options, limit=limit, data_sha256="0" * 64
    )
    assert words[words.index("--truncate-to") + 1] == str(grown)
    assert json.loads(words[words.index("--metadata") + 1]) == {"longbench": {"tokenizer": "t"}}
