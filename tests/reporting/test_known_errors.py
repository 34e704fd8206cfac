"""Figures without the questions that are publicly known to be wrong: beside the headline."""

import pytest
from prediction_rows import v2_row, write_lines

from lm_eval_longbench import report
from lm_eval_longbench.benchmarks.registry import tables
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.scoring.score import score_paths

(WRONG,) = tables()["longbench_v2"].known_errors


@pytest.fixture(scope="module", params=[True, False], ids=["with one", "with none"])
def folder(tmp_path_factory, request):
    """Four answers, three of them right; the wrong one is to a question that is known as wrong."""
    folder = tmp_path_factory.mktemp("run")
    ids = [WRONG if request.param else "0", "1", "2", "3"]
    rows = [v2_row(name, "B" if number else "A") for number, name in enumerate(ids)]
    score_paths([write_lines(folder / "results" / "m.jsonl", *rows)], folder / "scored", workers=1)
    return folder / "scored", request.param


def values(folder, **options):
    (benchmark,) = make_report([read_run(folder)], **options).benchmarks
    return {(row.section, row.name): row.figures[0].value for row in benchmark.rows}


def test_the_headline_is_of_all_questions_and_the_other_stands_beside_it(folder):
    path, has_one = folder
    whole, more = values(path), values(path, without_errors=True)
    assert whole["official", "overall"] == more["official", "overall"] == 0.75
    beside = {place: more[place] for place in more.keys() - whole.keys()}
    if has_one:
        assert beside["official, without known errors", "overall"] == 1.0
        assert more.keys() - beside.keys() == whole.keys()
    else:
        assert beside == {}


def test_the_report_shows_it_on_request(folder):
    path, has_one = folder
    assert "known errors" not in report(path)
    assert ("known errors" in report(path, without_known_errors=True)) == has_one


def test_each_is_said_in_public():
    page = {table.name: dict(table.known_errors) for table in tables().values()}
    assert len(page["longbench_v1"]) == 3
    said = [address for own in page.values() for address in own.values()]
    assert all(one.startswith("https://github.com/") for one in said)
