"""The official evaluation's summaries: the published leaderboard, rebuilt from 80 of them."""

import json
from pathlib import Path

import pytest

from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.page.data import page_data
from lm_eval_longbench.page.entries import read_summaries
from lm_eval_longbench.reporting.published import published_rows
from lm_eval_longbench.statistics.answers import Columns

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_pro"


def paths():
    """Where the official schema has each figure."""
    figures = PRO.figures(Columns(PRO, PRO.tables["longbench_pro"], 3).finish())
    return {figure.place: figure.path[1:] for figure in figures if figure.path}


def summary_of(row):
    """A published row in the official schema."""
    whole = {"inference_iterations": 3, "total_samples_num": 4500}
    whole["fail_samples_num"] = int(row.facts["failed"])
    for place, path in paths().items():
        if place in row.values:
            own = whole
            for name in path[:-1]:
                own = own.setdefault(name, {})
            own[path[-1]] = row.values[place]
    return whole


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("official") / "output"
    for row in published_rows("longbench_pro"):
        name = f"{row.model}_{row.mode}_context-{row.facts['truncated_to']}_bon-3_summary.json"
        (folder / row.mode).mkdir(parents=True, exist_ok=True)
        (folder / row.mode / name).write_text(json.dumps(summary_of(row)))
    (folder / "thinking" / "other.json").write_text("[]")
    return folder


def test_the_published_leaderboard_is_rebuilt(folder):
    summaries, others = read_summaries([folder])
    assert (len(summaries), others) == (80, [])
    (benchmark,) = page_data([], summaries=summaries)["benchmarks"]
    (published,) = page_data([], published=True, only={"longbench_pro"})["benchmarks"]
    found, expected = (
        {(entry["model"], entry["mode"]): entry["values"] for entry in own["entries"]}
        for own in (benchmark, published)
    )
    assert found == expected
    assert len(found) == 80
    assert {entry["official"] for entry in benchmark["entries"]} == {"unknown"}


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
def test_a_real_summary():
    ((_, summary),), _ = read_summaries([GOLDEN / "summary.json"])
    whole = json.loads((GOLDEN / "summary.json").read_text())
    assert summary.values["overall", "overall"] == whole["average_overall_metric"]
    assert summary.values["token_length", "256k"] == whole["average_token_length_metric"]["256k"]
    assert len(summary.values) > 100


def test_other_paths_are_left_to_others(folder, folders, tmp_path):
    broken = tmp_path / "broken" / "a_summary.json"
    broken.parent.mkdir()
    broken.write_text("{")
    with pytest.raises(PredictionError, match="a_summary"):
        read_summaries([broken.parent])
    _, others = read_summaries([folders[0], folder, tmp_path / "none"])
    assert others == [folders[0], tmp_path / "none"]
