"""Scored folders read back, and every way in which they can be damaged."""

import json
import random

import pytest
from scored_runs import pro_row, v1_rows, v2_row, write_run

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.reporting.render import render
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import is_scored, read_run, unique_names

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
    assert (pro.facts.repeats, pro.facts.data, pro.facts.embedding_model) == (2, ("local-1",), "m")
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


def test_only_numbers_are_kept(tmp_path):
    """A text of a megabyte in every row leaves nothing in memory."""
    rows = [v2_row(f"q{number}", 1.0, note="x" * 10**6) for number in range(3)]
    table = read_run(write_run(tmp_path / "r", rows)).tables["longbench_v2"].answers
    arrays = [table.keys, table.scores, table.given, table.failed, *table.fields.values()]
    arrays += table.dimensions.values()
    assert all(array.dtype != object for array in arrays)
    assert sum(array.nbytes for array in arrays) < 400


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


def test_ids_that_are_lines_are_noticed(tmp_path):
    lines = [row | {"id": str(row["index"])} for row in V1_ROWS]
    assert (
        read_run(write_run(tmp_path / "lines", lines)).tables["longbench_v1"].answers.ids_are_lines
    )
    assert (
        not read_run(write_run(tmp_path / "ids", V1_ROWS))
        .tables["longbench_v1"]
        .answers.ids_are_lines
    )
    mixed = write_run(tmp_path / "mixed", [*lines[:3], V1_ROWS[3]])
    assert not read_run(mixed).tables["longbench_v1"].answers.ids_are_lines


def test_an_empty_table(tmp_path):
    folder = write_run(tmp_path / "r", V1_ROWS)
    (folder / "samples.jsonl").write_text("")
    report = json.loads((folder / "report.json").read_text())
    counts = dict.fromkeys(report["tables"]["longbench_v1"]["counts"], 0)
    change_table(folder, "longbench_v1", counts=counts, official={}, tasks={})
    table = read_run(folder).tables["longbench_v1"].answers
    assert (len(table.keys), table.scores.shape, table.ids_are_lines) == (0, (0, 1), False)
    report = make_report([read_run(folder)])
    assert {row.figures[0].value for row in report.benchmarks[0].rows} == {None}


BAD_ROWS = {
    "not JSON": ("{", "Expecting property name"),
    "no object": ("[]", "list indices"),
    "a text": ('"x"', "string indices"),
    "another table": (V1_ROWS[1] | {"table": "longbench_v2"}, "'longbench_v2' is no field"),
    "another task": (
        V1_ROWS[1] | {"task": "longbench_v2"},
        "'longbench_v2' is no task of longbench_v1",
    ),
    "no task": (V1_ROWS[1] | {"task": 3}, "3 is no task"),
    "id": (V1_ROWS[1] | {"id": 5}, "'id' must be a text, not 5"),
    "repeat beyond": (V1_ROWS[1] | {"repeat": 2}, "'repeat' must be from 1 to 1, not 2"),
    "repeat 0": (V1_ROWS[1] | {"repeat": 0}, "'repeat' must be from 1 to 1, not 0"),
    "repeat true": (V1_ROWS[1] | {"repeat": True}, "'repeat' must be from 1 to 1, not True"),
    "score above 1": (V1_ROWS[1] | {"score": 1.01}, "'score' must be a number from 0 to 1 or null"),
    "score NaN": (V1_ROWS[1] | {"score": float("nan")}, "not nan"),
    "score true": (V1_ROWS[1] | {"score": True}, "not True"),
    "score text": (V1_ROWS[1] | {"score": "1"}, "not '1'"),
    "failed": (V1_ROWS[1] | {"failed": 1}, "'failed' must be true or false, not 1"),
    "twice": (V1_ROWS[0], "the same question and repeat as on line 1"),
    **{
        f"without {name}": ({k: v for k, v in V1_ROWS[1].items() if k != name}, f"'{name}'")
        for name in ("table", "task", "id", "repeat", "score", "failed")
    },
}


@pytest.mark.parametrize(("row", "message"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_bad_rows_are_named_with_file_and_line(tmp_path, row, message):
    folder = write_run(tmp_path / "r", V1_ROWS)
    lines = [json.dumps(line) for line in V1_ROWS]
    lines[1] = row if isinstance(row, str) else json.dumps(row)
    (folder / "samples.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as caught:
        read_run(folder)
    assert f"{folder / 'samples.jsonl'}, line 2: " in str(caught.value)
    assert message in str(caught.value)


E_ROW = v1_rows({"trec": [(100, 1.0)]}, "longbench_v1_e")[0]
BAD_DIMENSIONS = {
    "E length": (E_ROW | {"length": 10.5}, "'length' must be a whole number, not 10.5"),
    "E no length": ({k: v for k, v in E_ROW.items() if k != "length"}, "'length'"),
    "v2 difficulty": (
        v2_row("a", 1.0, difficulty="Easy"),
        "'difficulty' must be one of easy, hard",
    ),
    "v2 no difficulty": (v2_row("a", 1.0, difficulty=None), "not None"),
    "v2 domain": (v2_row("a", 1.0, domain=["x"]), "'domain' must be one of Single-Document QA"),
    "v2 compensated": (v2_row("a", 1.0, compensated=2), "'compensated' must be a number"),
    "Pro length": (pro_row("a", 1.0, token_length="9k"), "'token_length' must be one of 8k, 16k"),
}


@pytest.mark.parametrize(("row", "message"), BAD_DIMENSIONS.values(), ids=BAD_DIMENSIONS.keys())
def test_values_that_no_question_has(tmp_path, row, message):
    good = {"longbench_v1_e": E_ROW, "longbench_v2": v2_row("b", 1.0)}
    folder = write_run(tmp_path / "r", [good.get(row["table"], pro_row("b", 1.0))])
    (folder / "samples.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match="line 1: ") as caught:
        read_run(folder)
    assert message in str(caught.value)


def test_a_question_has_one_value_of_a_dimension(tmp_path):
    rows = [pro_row("z", 1.0), pro_row("a", 1.0), pro_row("a", 1.0, repeat=2, language="Chinese")]
    folder = write_run(tmp_path / "r", [row | {"language": "English"} for row in rows])
    lines = [json.dumps(row) for row in rows]
    (folder / "samples.jsonl").write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"line 3: the question has another language .* line 2"):
        read_run(folder)


def test_the_same_id_in_two_tasks_is_two_questions(tmp_path):
    rows = v1_rows({"qasper": [1.0], "qmsum": [0.0]})
    assert len(read_run(write_run(tmp_path / "r", rows)).tables["longbench_v1"].answers.keys) == 2


BAD_REPORTS = {
    "not JSON": (lambda folder: (folder / "report.json").write_text("{"), "cannot be read as JSON"),
    "a list": (lambda folder: (folder / "report.json").write_text("[]"), 'no "format": 1'),
    "another format": (lambda folder: change(folder, format=2), 'no "format": 1'),
    "no tables": (lambda folder: change(folder, tables=[]), "needs the objects 'tables'"),
    "an unknown table": (lambda folder: change(folder, tables={"x": {}}), "'x' is no table"),
    "no facts": (
        lambda folder: change(folder, tables={"longbench_v1": {}}),
        "'tables.longbench_v1' has no 'repeats'",
    ),
    "no repeats": (
        lambda folder: change_table(folder, "longbench_v1", repeats=0),
        "repeats' is 0: input should be greater than or equal to 1",
    ),
    "repeats beyond all measure": (
        lambda folder: change_table(folder, "longbench_v1", repeats=10**9),
        "repeats' is 1000000000: input should be less than or equal to 256",
    ),
    "a count that is none": (
        lambda folder: change_table(folder, "longbench_v1", counts={"samples": 4, "failed": "x"}),
        "'tables.longbench_v1.counts.failed' is 'x': input should be a valid integer",
    ),
    "a label that is none": (
        lambda folder: change_table(folder, "longbench_v1", data=[1.5]),
        "'tables.longbench_v1.data[0]' is 1.5: input should be a valid string",
    ),
    "a number of problems that is none": (
        lambda folder: change(folder, problems={"malformed": [{}], "malformed_total": "x"}),
        "'malformed_total' is 'x': input should be a valid integer",
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


@pytest.mark.parametrize("name", ["report.json", "samples.jsonl"])
def test_a_folder_that_is_none(tmp_path, name):
    folder = write_run(tmp_path / "r", V1_ROWS)
    assert is_scored(folder)
    (folder / name).unlink()
    assert not is_scored(folder)
    with pytest.raises(DataError, match="is not a folder with report"):
        read_run(folder)


def test_names_are_as_short_as_they_can_be(tmp_path):
    paths = [tmp_path / "a" / "out", tmp_path / "b" / "out", tmp_path / "c"]
    assert unique_names(paths[1:]) == ["out", "c"]
    root = tmp_path.name
    assert unique_names(paths) == ["a/out", "b/out", f"{root}/c"]
    assert unique_names([tmp_path / "a" / ".." / "x"]) == ["x"]
    (tmp_path / "link").symlink_to(tmp_path / "out")
    assert unique_names([tmp_path / "link"]) == ["link"]


@pytest.mark.parametrize("value", [101, "x", True, [1], {"a": 1}])
def test_a_figure_that_none_can_be(tmp_path, value):
    folder = write_run(tmp_path / "r", V1_ROWS)
    report = json.loads((folder / "report.json").read_text())
    official = report["tables"]["longbench_v1"]["official"] | {"qasper": value}
    change_table(folder, "longbench_v1", official=official)
    with pytest.raises(DataError, match=r"report.json has .* as dataset qasper, and samples"):
        make_report([read_run(folder)])


def test_keys_are_distinct(tmp_path):
    rows = v1_rows({"qasper": [0.0] * 500})
    keys = read_run(write_run(tmp_path / "r", rows)).tables["longbench_v1"].answers.keys
    assert len(keys) == 500
    assert len(set(keys.tolist())) == 500
