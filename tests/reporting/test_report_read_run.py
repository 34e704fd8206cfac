"""Scored folders read back, and every way in which they can be damaged."""

import json
import random

import pytest
from scored_runs import pro_row, v1_rows, v2_row, write_run

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run, unique_names

V1_ROWS = v1_rows({"qasper": [0.5, 1.0, 0.0], "repobench-p": [0.25]})


def change(folder, **changes):
    """Change what report.json says."""
    file = folder / "report.json"
    report = json.loads(file.read_text())
    file.write_text(json.dumps(report | changes))


def change_table(folder, table, **changes):
    report = json.loads((folder / "report.json").read_text())
    report["tables"][table] |= changes
    (folder / "report.json").write_text(json.dumps(report))


def test_what_is_read(tmp_path):
    rows = [
        pro_row("b", 0.5, repeat=2, failed=True),
        pro_row("a", None, primary_task="T4. Summarization & Synthesis", language="Chinese"),
        pro_row("b", 1.0),
        v2_row("x", 1.0, domain=None),
    ]
    problems = {"malformed": [{"file": "f", "line": 1, "reason": "r"}], "malformed_total": 205}
    folder = write_run(tmp_path / "mine", rows, embedding_model="m", problems=problems)
    run = read_run(folder)
    assert (run.name, run.folder, list(run.tables)) == (
        "mine",
        folder,
        ["longbench_v2", "longbench_pro"],
    )
    assert run.problems == {"malformed": 205}
    pro = run.tables["longbench_pro"]
    assert (pro.facts.repeats, pro.facts.data, pro.facts.embedding_model) == (2, ["local-1"], "m")
    assert not pro.facts.is_official
    pro = pro.answers
    a, b = (0, 1) if pro.given[0].sum() == 1 else (1, 0)
    assert pro.given[[a, b]].tolist() == [[True, False], [True, True]]
    assert pro.failed[[a, b]].tolist() == [[False, False], [False, True]]
    assert pro.unscored[[a, b]].tolist() == [[True, False], [False, False]]
    assert pro.scores[b].tolist() == [1.0, 0.5]
    assert pro.has("language", "Chinese")[[a, b]].tolist() == [True, False]
    assert pro.has("secondary_task", "T4.1 Global-Coverage Constrained Summary")[a]
    v2 = run.tables["longbench_v2"].answers
    assert v2.dimensions["domain"].tolist() == [-1]
    assert v2.fields["compensated"].tolist() == [[1.0]]


def test_any_order_of_rows_gives_the_same_report(tmp_path):
    generator = random.Random(3)
    rows = v1_rows({"qasper": [generator.random() for _ in range(40)], "lcc": [0.1, 0.7, 0.4]})
    rows += [v2_row(f"q{n}", float(n % 3 == 0), difficulty="hard") for n in range(30)]
    rows += [pro_row(f"q{n % 10}", generator.random(), repeat=n // 10 + 1) for n in range(30)]
    texts = set()
    for order in range(3):
        folder = write_run(tmp_path / str(order) / "run", rows)
        texts.add(render(make_report([read_run(folder)]), "json"))
        generator.shuffle(rows)
    assert len(texts) == 1


BAD_ROWS = {
    "not JSON": ("{", "Expecting property name"),
    "no object": ("[]", "list indices"),
    "another table": (V1_ROWS[1] | {"table": "longbench_v2"}, "'longbench_v2' is no field"),
    "score above 1": (V1_ROWS[1] | {"score": 1.01}, "'score' must be a number from 0 to 1 or null"),
    "twice": (V1_ROWS[0], "the same question and repeat as on line 1"),
    "without a task": ({k: v for k, v in V1_ROWS[1].items() if k != "task"}, "'task'"),
}


@pytest.mark.parametrize(("row", "message"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_bad_rows_are_named_with_file_and_line(tmp_path, row, message):
    folder = write_run(tmp_path / "r", V1_ROWS)
    lines = [json.dumps(line) for line in V1_ROWS]
    lines[1] = row if isinstance(row, str) else json.dumps(row)
    (folder / "samples.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as caught:
        read_run(folder)
    assert f"{folder / 'samples.jsonl'}, line 2" in str(caught.value)
    assert message in str(caught.value)


BAD_REPORTS = {
    "not JSON": (lambda folder: (folder / "report.json").write_text("{"), "is not JSON: "),
    "a list": (lambda folder: (folder / "report.json").write_text("[]"), 'no "format": 1'),
    "an unknown table": (lambda folder: change(folder, tables={"x": {}}), "'x' is no table"),
    "no repeats": (
        lambda folder: change_table(folder, "longbench_v1", repeats=0),
        "repeats' is 0: input should be greater than or equal to 1",
    ),
    "another number of samples": (
        lambda folder: change_table(folder, "longbench_v1", counts={"samples": 5}),
        "has 4 lines of longbench_v1, and report.json counts 5",
    ),
}


@pytest.mark.parametrize(("damage", "message"), BAD_REPORTS.values(), ids=BAD_REPORTS.keys())
def test_bad_reports(tmp_path, damage, message):
    folder = write_run(tmp_path / "r", V1_ROWS)
    damage(folder)
    with pytest.raises(DataError) as caught:
        read_run(folder)
    assert str(folder) in str(caught.value)
    assert message in str(caught.value)


def test_names_are_as_short_as_they_can_be(tmp_path):
    paths = [tmp_path / "a" / "out", tmp_path / "b" / "out", tmp_path / "c"]
    assert unique_names(paths[1:]) == ["out", "c"]
    root = tmp_path.name
    assert unique_names(paths) == ["a/out", "b/out", f"{root}/c"]
    assert unique_names([tmp_path / "a" / ".." / "x"]) == ["x"]
    (tmp_path / "link").symlink_to(tmp_path / "out")
    assert unique_names([tmp_path / "link"]) == ["link"]


@pytest.mark.parametrize("value", [3.01, 101, "x", True])
def test_a_figure_that_none_can_be(tmp_path, value):
    folder = write_run(tmp_path / "r", V1_ROWS)
    report = json.loads((folder / "report.json").read_text())
    official = report["tables"]["longbench_v1"]["official"] | {"qasper": value}
    change_table(folder, "longbench_v1", official=official)
    with pytest.raises(DataError, match=r"report.json has .* as dataset qasper, and samples"):
        make_report([read_run(folder)])
