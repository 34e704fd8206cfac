"""The official figures of each benchmark, from questions as they pass."""

import json
from pathlib import Path

import numpy as np
import pytest

from lm_eval_longbench.aggregation.longbench_pro import summarize
from lm_eval_longbench.benchmarks.longbench_pro import DIMENSIONS
from lm_eval_longbench.offline.figures_pro import ProFigures
from lm_eval_longbench.offline.figures_v1 import EFigures, V1Figures
from lm_eval_longbench.offline.figures_v2 import V2Figures
from MISSING:offline.score_tables import TABLES

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_pro"
V1, E, V2, PRO = (
    TABLES[name] for name in ("longbench_v1", "longbench_v1_e", "longbench_v2", "longbench_pro")
)


def test_v1_means_repeats_then_questions():
    figures = V1Figures(V1, 2)
    figures.expect("longbench_v1_lcc")
    assert figures.add("longbench_v1_qasper", [{"score": 1.0}, {"score": 0.0}]) == 0.5
    assert figures.add("longbench_v1_qasper", [{"score": 0.25}]) == 0.25
    figures.add("longbench_v1_narrativeqa", [{"score": 1 / 3}])
    assert list(figures.official().items()) == [
        ("narrativeqa", 33.33),
        ("qasper", 37.5),
        ("lcc", None),
    ]


def test_e_means_by_bucket():
    figures = EFigures(E, 1)
    figures.expect("longbench_v1_e_lcc")
    scores = np.random.default_rng(1).random(500)
    for number, score in enumerate(scores):
        length = 3999 if number % 3 else 4000
        figures.add("longbench_v1_e_trec", [{"score": float(score), "length": length}])
    own = np.arange(500) % 3 != 0
    assert figures.official() == {
        "trec": {
            "0-4k": round(100 * np.mean(list(scores[own])), 2),
            "4-8k": round(100 * np.mean(list(scores[~own])), 2),
            "8k+": None,
        },
        "lcc": {"0-4k": None, "4-8k": None, "8k+": None},
    }


def v2_line(score, difficulty="easy", length="short", failed=False, unparsed=False, dropped=False):
    return {
        "score": score,
        "difficulty": difficulty,
        "length": length,
        "failed": failed,
        "unparsed": unparsed,
        "compensated": 0.25 if unparsed else score,
        "dropped": dropped,
    }


def test_v2_counts_in_four_ways():
    figures = V2Figures(V2, 1)
    assert figures.add("longbench_v2", [v2_line(1.0)]) == 1.0
    figures.add("longbench_v2", [v2_line(0.0, "hard", "medium")])
    figures.add("longbench_v2", [v2_line(0.0, "hard", unparsed=True)])
    failed = v2_line(0.0, "hard", unparsed=True, failed=True, dropped=True)
    figures.add("longbench_v2", [failed])
    # The official scripts write no line for a failed call.
    assert figures.official() == {
        "overall": 33.3,
        "easy": 100.0,
        "hard": 0.0,
        "short": 50.0,
        "medium": 0.0,
        "long": None,
        "compensated": {
            "overall": 41.7,
            "easy": 100.0,
            "hard": 12.5,
            "short": 62.5,
            "medium": 0.0,
            "long": None,
        },
        "n": 3,
        "unparsed": 2,
        "failed": 1,
    }
    given = figures.accuracy()
    assert [given[name] for name in ("overall", "hard", "short", "n")] == [25.0, 0.0, 33.3, 4]
    strict = figures.strict()
    assert (strict["overall"], strict["easy"], strict["n"]) == (0.2, 0.5, 503)  # 1/503, 1/192
    assert (strict["long"], strict["short"]) == (0.0, 0.6)  # 0/108, 1/180
    assert figures.parts()["short"] == {
        "questions": 3,
        "samples": 3,
        "failed": 1,
        "unparsed": 2,
        "dropped": 1,
        "official_questions": 180,
    }


def test_v2_repeats():
    figures = V2Figures(V2, 2)
    assert (
        figures.add("longbench_v2", [v2_line(1.0), v2_line(0.0, failed=True, dropped=True)]) == 0.5
    )
    figures.add("longbench_v2", [v2_line(1.0)])
    official = figures.official()
    assert (official["overall"], official["n"], official["failed"]) == (100.0, 2, 1)
    assert (figures.accuracy()["overall"], figures.accuracy()["n"]) == (75.0, 3)
    strict = figures.strict()
    # A repeat that is not there is wrong: (1/2 + 1/2) of 192 easy questions.
    assert (strict["easy"], strict["n"]) == (round(100 / 192, 1), 1006)


def test_v2_strict_needs_official_questions():
    figures = V2Figures(V2, 1)
    for _ in range(192):
        figures.add("longbench_v2", [v2_line(1.0)])
    assert figures.strict() is None  # more than 180 short ones


def pro_lines(row, *scores, failed=0):
    return [
        {**row, "repeat": repeat, "score": score, "failed": repeat <= failed}
        for repeat, score in enumerate(scores, 1)
    ]


def test_pro_is_the_official_summary():
    row = {name: values[0] for name, values in DIMENSIONS.items()}
    figures = ProFigures(PRO, 3)
    figures.expect("longbench_pro_t1_1")
    assert figures.add("longbench_pro_t1_1", pro_lines(row, 1.0, 0.0, 0.5)) == 0.5
    assert figures.add("longbench_pro_t1_1", pro_lines(row, 0.0, failed=1)) == 0.0
    rows = [
        {**row, "id": id, "bon_idx": run, "metric": score, "failed": failed}
        for id, run, score, failed in (
            ("a", 1, 1.0, False),
            ("a", 2, 0.0, False),
            ("a", 3, 0.5, False),
            ("b", 1, 0.0, True),
        )
    ]
    assert figures.official() == summarize(rows)
    assert figures.add("longbench_pro_t4_1", pro_lines(row, 1.0, None)) is None
    assert figures.official()["unscored_samples_num"] == 1


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
def test_the_golden_summary():
    by_id = {}
    for line in (GOLDEN / "summary_rows.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        own = by_id.setdefault(row["id"], [])
        own.append({**row, "repeat": row["bon_idx"], "score": row["metric"], "failed": False})
    figures = ProFigures(PRO, 3)
    for lines in by_id.values():
        figures.add("longbench_pro_t1_1", lines)
    golden = json.loads((GOLDEN / "summary.json").read_text(encoding="utf-8"))
    found = figures.official()
    assert found.pop("fail_samples_num") == 0
    assert list(found) == list(golden)
    for key, value in golden.items():
        assert found[key] == (pytest.approx(value, abs=1e-9) if flat(value) else near(value)), key


def flat(value):
    return not isinstance(value, dict) or not any(isinstance(own, dict) for own in value.values())


def near(value):
    return {key: pytest.approx(own, abs=1e-9) for key, own in value.items()}
