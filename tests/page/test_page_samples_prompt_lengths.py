"""How long prompts are, as logs tell it, and the effective length of it in the page."""

import json

import pytest
from prediction_rows import log_row, says, v2_question, write_lines

from lm_eval_longbench.page.data import page_data
from lm_eval_longbench.page.samples import lengths_of
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.scoring.score import score_paths

TASK, MOMENT = "longbench_v2", "2025-03-04T05-06-07.123456"
LIMIT = 60_000
TOKENS = (9_000, 17_000, 40_000, 90_000)


def logged(folder, tokens_of, limit=LIMIT, questions=80):
    """A run whose long prompts are cut; right but for the longest half of its questions."""
    rows = []
    for number in range(questions):
        tokens = TOKENS[number % 4]
        cut = limit is not None and tokens > limit
        letter = "B" if number % 4 < 3 or number % 8 == 3 else "C"
        doc = v2_question(f"q{number}") | {"index": number} | tokens_of(tokens, cut)
        prompt = doc.pop("prompt", {})
        row = log_row(TASK, doc, says(letter), truncated=cut)
        row["doc"]["prompt"] |= prompt
        rows.append(row)
    write_lines(folder / f"samples_{TASK}_{MOMENT}.jsonl", *rows)
    run = {"task": TASK, "limit": limit}
    whole = {"results": {}, "configs": {TASK: {"metadata": {"longbench_run": run}}}}
    (folder / f"results_{MOMENT}.json").write_text(json.dumps(whole), encoding="utf-8")
    return folder


def replied(tokens, cut):
    """As of servers and models here: tokens as sent, what was cut is not counted whole."""
    return {"replies": [{"prompt_tokens": LIMIT if cut else tokens}]}


def counted(tokens, cut):
    return {"prompt": {"tokens_before_cut": tokens}}


def entry_of(folder, tmp_path):
    score_paths(folder, tmp_path / "scored")
    run = read_run(tmp_path / "scored", "own")
    (benchmark,) = page_data([run], lengths={"own": lengths_of([folder])})["benchmarks"]
    (entry,) = benchmark["entries"]
    places = [tuple(place) for place in benchmark["places"]]
    charts = {chart["name"]: chart["title"] for chart in benchmark["charts"]}
    return entry, dict(zip(places, entry["values"], strict=True)), charts


@pytest.mark.parametrize(("told", "longest"), [(replied, LIMIT), (counted, 90_000)])
def test_a_run_has_its_effective_length_by_measured_tokens(told, longest, tmp_path):
    entry, values, charts = entry_of(logged(tmp_path / "run", told), tmp_path)
    position = values["effective", "tokens"][0]
    # It falls to a half from 40,000 tokens to the longest: a fifth of the way keeps 90 %.
    assert 8192 * 2**position == pytest.approx(40_000 * (longest / 40_000) ** 0.2, rel=1e-5)
    assert 8192 * 2 ** entry["longest"] == pytest.approx(longest, rel=1e-5)
    assert "measured prompt tokens" in charts["effective-tokens"][0]


@pytest.mark.parametrize(
    ("told", "limit"),
    [
        (lambda tokens, cut: {}, LIMIT),
        (replied, None),
        (lambda tokens, cut: {} if tokens == 9_000 else replied(tokens, cut), LIMIT),
        (lambda tokens, cut: {"replies": [{"prompt_tokens": "9"}]}, LIMIT),
    ],
)
def test_else_the_official_ranges_stand_alone(told, limit, tmp_path):
    folder = logged(tmp_path / "run", told, limit)
    if limit is None:  # cut, and the limit is not known
        path = folder / f"samples_{TASK}_{MOMENT}.jsonl"
        path.write_text(path.read_text().replace('"truncated": false', '"truncated": true'))
    entry, values, charts = entry_of(folder, tmp_path)
    assert values["effective", "tokens"] is None
    assert "longest" not in entry and "effective-tokens" not in charts
