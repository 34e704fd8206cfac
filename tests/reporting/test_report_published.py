"""The published figures: all there, and consistent with themselves."""

import csv
import hashlib
from pathlib import Path
from statistics import fmean

import pytest
from longbench_pro_facts import COUNTS as PRO_COUNTS
from longbench_pro_facts import DIMENSIONS
from longbench_v1_facts import CATEGORIES, datasets_of
from longbench_v2_facts import COUNTS

from lm_eval_longbench.benchmarks.v2 import OFFICIAL
from lm_eval_longbench.reporting import published
from lm_eval_longbench.reporting.published import published_rows

SHARED = Path(__file__).resolve().parents[3] / "shared" / "published"
OURS = Path(published.__file__).parent / "published"
SHA256 = {
    "longbench_v1.csv": "08926d38d42f3004681d815dbb687a8e4af38af50896d61014b976c68041ce04",
    "longbench_pro.csv": "584beca26d908f2e5556bf0272d8c6ed320dac3b16c56cdf9e5e7b4bc166b9f3",
}


@pytest.mark.parametrize("name", SHA256)
def test_the_files_have_not_changed(name):
    raw = (OURS / name).read_bytes().replace(b"\r\n", b"\n")
    assert hashlib.sha256(raw).hexdigest() == SHA256[name]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published figures are not at hand")
@pytest.mark.parametrize("name", SHA256)
def test_the_files_are_those_of_their_source(name):
    assert (OURS / name).read_bytes() == (SHARED / name).read_bytes().replace(b"\r\n", b"\n")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published figures are not at hand")
def test_version_2_has_the_figures_of_its_source():
    names = ("cot", "overall", "easy", "hard", "short", "medium", "long", "source")

    def figures(path, model):
        with path.open(encoding="utf-8", newline="") as handle:
            return [(model(row), *(row[name] for name in names)) for row in csv.DictReader(handle)]

    ours = figures(OURS / "longbench_v2.csv", lambda row: row["model"].partition(" (20")[0])
    theirs = figures(SHARED / "longbench_v2_leaderboard.csv", lambda row: row["model"])
    assert len(theirs) == 65
    assert ours[:65] == theirs
    others = figures(SHARED / "longbench_v2.csv", lambda row: row["model"])
    assert {row[:-1] for row in ours[65:]} <= {row[:-1] for row in others}


def of_longbench(*, papers=False):
    """The rows of LongBench's own tables, or those of papers on KV caches."""
    return [row for row in published_rows("longbench_v1") if bool(row.caveat) == papers]


def test_rows_of_papers_are_from_them_and_do_not_count():
    rows = {row.model: row for row in of_longbench(papers=True)}
    assert len(rows) == 4 + 3
    mistral = rows["Mistral-7B-Instruct-v0.2 (FullKV, SnapKV)"]
    assert "FasterDecoding/SnapKV at e216ddc" in mistral.source
    assert mistral.facts["truncated_to"] == "31500"
    llama = rows["Llama-3-8B-Instruct (FullKV, longctx_bench)"]
    assert ("English", "synthetic") not in llama.values
    for row in rows.values():
        if "SnapKV" in row.source:
            means = []
            for category in CATEGORIES:
                own = datasets_of("en", category)
                means.append(fmean(row.values["dataset", name] for name in own))
                assert row.values["English", category] == pytest.approx(means[-1], abs=0.0051)
            assert row.values["headline", "English"] == pytest.approx(fmean(means), abs=0.0051)


# ---------------------------------------------------------------------- LongBench v1

# Cells that are not the rounded mean of the published one-decimal dataset scores, and by how much
# they are above it. They were computed from unrounded scores: half a unit in each dataset moves a
# mean by up to 0.05, and its rounding by one unit.
OTHERWISE_ROUNDED = {
    ("GPT-3.5-Turbo-16k", "English", "single_doc_qa"): 0.1,  # 39.73 -> 39.8
    ("GPT-3.5-Turbo-16k", "English", "few_shot"): 0.1,  # 67.03 -> 67.1
    ("Llama2-7B-chat-4k", "English", "multi_doc_qa"): 0.1,  # 22.53 -> 22.6
    ("Llama2-7B-chat-4k", "English", "summarization"): 0.1,  # 24.63 -> 24.7
    ("LongChat-v1.5-7B-32k", "English", "summarization"): 0.1,  # 26.63 -> 26.7
    ("ChatGLM2-6B-32k", "English", "few_shot"): -0.1,  # 59.17 -> 59.1
}
# Means of two scores that end in 5, published as the lower or the upper neighbour: (mean, cell).
TIES = {
    ("GPT-3.5-Turbo-16k", "English", "code"): (54.15, 54.1),
    ("GPT-3.5-Turbo-16k", "Chinese", "code"): (54.15, 54.1),
    ("Llama2-7B-chat-4k", "English", "synthetic"): (5.95, 5.9),
    ("InternLM-7B-8k", "English", "code"): (36.45, 36.4),
    ("InternLM-7B-8k", "Chinese", "code"): (36.45, 36.4),
    ("ChatGLM2-6B-32k", "English", "code"): (52.75, 52.7),
    ("ChatGLM2-6B-32k", "Chinese", "code"): (52.75, 52.7),
    ("Vicuna-v1.5-7B-16k", "English", "code"): (47.25, 47.3),
    ("Vicuna-v1.5-7B-16k", "Chinese", "code"): (47.25, 47.3),
}


def recomputed():
    """Every published category mean and headline with the mean of its own dataset columns."""
    for row in of_longbench():
        for language, code in (("English", "en"), ("Chinese", "zh")):
            means = []
            for category in CATEGORIES:
                own = datasets_of(code, category)
                means.append(fmean(row.values["dataset", name] for name in own))
                yield (row.model, language, category), means[-1], row.values[language, category]
            headline = row.values["headline", language]
            yield (row.model, language, "headline"), fmean(means), headline


def test_category_means_and_headlines_are_recomputed_from_the_dataset_columns():
    found = {place: (mean, cell) for place, mean, cell in recomputed()}
    assert len(found) == 8 * 2 * 7
    otherwise = {}
    for place, (mean, cell) in found.items():
        if place in TIES:
            assert (pytest.approx(mean, abs=1e-9), cell) == TIES[place]
        elif abs(round(mean, 1) - cell) > 1e-9:
            otherwise[place] = round(cell - round(mean, 1), 1)
    assert otherwise == OTHERWISE_ROUNDED
    # Every headline is the mean of its six category means, to the digit.
    headlines = [place for place in found if place[2] == "headline"]
    assert len(headlines) == 16
    assert not set(headlines) & (set(TIES) | set(otherwise))


# ---------------------------------------------------------------------- LongBench v2 and Pro


# Rows that are of no model.
OTHER = ("Human", "Random")
# Sub-scores and overall score are each rounded to a tenth, or cut there.
ROUNDED = 0.15


def test_a_caveat_is_where_sub_scores_do_not_add_up_to_the_overall_score():
    checked = 0
    for row in published_rows("longbench_v2"):
        off = []
        for dimension in ("difficulty", "length"):
            counts = COUNTS[dimension]
            if (OFFICIAL, next(iter(counts))) in row.values:
                total = sum(number * row.values[OFFICIAL, name] for name, number in counts.items())
                off.append(abs(total / 503 - row.values[OFFICIAL, "overall"]))
                checked += 1
        adds_up = row.model not in OTHER and all(gap < ROUNDED for gap in off)
        assert bool(row.caveat) != adds_up, row.model
    assert checked == 2 * 69
    assert sum(bool(row.caveat) for row in published_rows("longbench_v2")) == 4 + 4


# The one published breakdown whose weighted mean is not the overall score, and what it lies above.
NOT_ADDING_UP = {("difficulty", "Kimi-K2-Instruct-0905", "nonthinking"): 0.002023}


def test_pro_dimensions_add_up_to_the_overall_score():
    found = {}
    for dimension in DIMENSIONS:
        counts = PRO_COUNTS[dimension]
        for row in published_rows("longbench_pro"):
            total = sum(number * row.values[dimension, name] for name, number in counts.items())
            gap = total / 1500 - row.values["overall", "overall"]
            if abs(gap) > 1.1e-6:  # six published decimals
                found[dimension, row.model, row.mode] = round(gap, 6)
    assert found == NOT_ADDING_UP
