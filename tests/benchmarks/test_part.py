"""The options `only` and `shard`: which questions of each benchmark a run asks."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from lm_eval_longbench.api.documents import load
from lm_eval_longbench.benchmarks.part import NothingAsked, sampled, shards
from lm_eval_longbench.benchmarks.registry import tables, tasks
from lm_eval_longbench.errors import OptionError, UnknownNameError

TABLES = [name for name in tables() if not name.startswith("longbench_v1_")] + ["longbench_v1_e"]


def asked(task, **options):
    """Return the questions that are asked; [] if none is left."""
    try:
        return list(load(task, data_dir="sample", **options))
    except NothingAsked:
        return []


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("number", [1, 3, 8])
def test_shards_are_disjoint_and_together_all_of_it(table, number):
    loads, documents = Counter(), {}
    for task in tables()[table].tasks:
        found = []
        for piece in range(1, number + 1):
            own = asked(task, shard=f"{piece}/{number}")
            found += [one.index for one in own]
            for one in own:
                loads[piece] += len(one.row["context"].encode())
                # A document stays in one piece with all its questions, whichever task asks them.
                assert documents.setdefault(one.document_sha256, piece) == piece
        assert sorted(found) == list(range(len(load(task, data_dir="sample"))))
    longest = max(
        len(one.row["context"].encode())
        for task in tables()[table].tasks
        for one in load(task, data_dir="sample")
    )
    questions = max(
        Counter(
            one.document_sha256
            for task in tables()[table].tasks
            for one in load(task, data_dir="sample")
        ).values()
    )
    assert max(loads.values()) - min(loads.values()) <= (longest + 1) * questions


def test_pieces_do_not_depend_on_the_order_of_the_questions():
    rng = random.Random(1)
    questions = [
        ("t", f"q{n}", f"d{rng.randrange(700)}", rng.randrange(9, 9000)) for n in range(1500)
    ]
    found = shards(questions, 8)
    rng.shuffle(questions)
    assert shards(questions, 8) == found
    loads = Counter()
    for _, _, document, size in questions:
        loads[found[document]] += size
    assert max(loads.values()) < 1.01 * min(loads.values())


def test_a_sample_has_the_share_of_each_group():
    rng = random.Random(2)
    questions = [
        ((task, f"q{number}", "d", 1), (task, group, rng.random()))
        for task, size in (("a", 300), ("b", 150), ("c", 50))
        for number in range(size)
        for group in [rng.choice("xyz")]
    ]
    groups = {own: key[:2] for own, key in questions}
    found = sampled(questions, 100)
    assert len(set(found)) == 100
    for counted in (Counter(groups.values()), Counter(key[0] for key in groups.values())):
        whole = len(next(iter(counted)))
        own = Counter(groups[one] if whole == 2 else one[0] for one in found)
        for group, number in counted.items():
            assert abs(own[group] - number / 5) < 1
    rng.shuffle(questions)
    assert sampled(questions, 100) == found
    assert len(sampled(questions, 900)) == 500


@pytest.mark.parametrize(
    "table", ["longbench_v1", "longbench_v1_e", "longbench_v2", "longbench_pro"]
)
def test_a_sample_is_of_the_whole_table(table):
    found = [one for task in tables()[table].tasks for one in asked(task, only={"sample": 10})]
    assert len(found) == 10
    # A task alone has the questions that it has in a run of all.
    task = found[0].task
    own = [one.id for one in found if one.task == task]
    assert [one.id for one in asked(task, only={"sample": 10})] == own
    label = load(task, data_dir="sample", only={"sample": 10}).label
    assert label.startswith("sample-") and label.endswith(" (only sample: 10)")


@pytest.mark.parametrize(
    ("task", "only", "keeps"),
    [
        ("longbench_v1_qasper", {"length": [0, 400]}, lambda row: row["length"] <= 400),
        ("longbench_v1_lcc", {"language": "code"}, lambda row: True),
        ("longbench_v1_trec", {"dataset": ["trec", "lcc"]}, lambda row: True),
        ("longbench_v1_e_trec", {"bucket": "0-4k"}, lambda row: row["length"] < 4000),
        (
            "longbench_v1_e_trec",
            {"length": [4000, 9000]},
            lambda row: 4000 <= row["length"] <= 9000,
        ),
        ("longbench_v2", {"length": ["short", "long"]}, lambda row: row["length"] != "medium"),
        ("longbench_v2_rag", {"difficulty": "hard"}, lambda row: row["difficulty"] == "hard"),
        ("longbench_pro_t3_1", {"length": "8k"}, lambda row: row["token_length"] == "8k"),
        (
            "longbench_pro_thinking_t3_1",
            {"language": "English", "token_length": ["8k", "64k", "128k"]},
            lambda row: row["language"] == "English",
        ),
    ],
)
def test_dimensions_and_lengths(task, only, keeps):
    whole = load(task, data_dir="sample")
    wanted = [one.index for one in whole if keeps(one.row)]
    # A question keeps its place in the data, by which v1 knows it.
    assert [one.index for one in asked(task, only=only)] == wanted
    assert wanted or task == "longbench_pro_t3_1"


def test_ids():
    whole = load("longbench_v2", data_dir="sample")
    chosen = [whole[3].id, whole[7].id]
    found = load("longbench_v2", data_dir="sample", only={"ids": chosen[::-1]})
    assert [one.id for one in found] == chosen
    assert not found.official


def test_a_shard_of_official_questions_is_official(monkeypatch):
    whole = replace(load("longbench_v2", data_dir="sample")._stored, official=True)
    monkeypatch.setattr("lm_eval_longbench.benchmarks.base.load", lambda *given: whole)
    assert load("longbench_v2", shard="2/3").official


def test_a_shard_of_a_part():
    only = {"only": {"difficulty": "hard", "sample": 8}}
    whole = [one.id for one in asked("longbench_v2", **only)]
    assert len(whole) == 8
    pieces = [[one.id for one in asked("longbench_v2", **only, shard=f"{n}/3")] for n in (1, 2, 3)]
    assert sorted(name for piece in pieces for name in piece) == sorted(whole)


@pytest.mark.parametrize(
    ("task", "options", "error", "text"),
    [
        ("longbench_v2", {"only": {"token_length": "8k"}}, UnknownNameError, "Did you mean"),
        ("longbench_v2", {"only": {"length": "shrt"}}, UnknownNameError, "Did you mean 'short'?"),
        ("longbench_v2", {"only": {"length": [0, 9]}}, OptionError, "by name: give one of short"),
        (
            "longbench_v1_trec",
            {"only": {"length": "8k"}},
            OptionError,
            'give {"length": [0, 8000]}',
        ),
        ("longbench_v1_trec", {"only": {"language": "English"}}, UnknownNameError, "LongBench v1"),
        ("longbench_pro_t3_1", {"only": {"language": "en"}}, UnknownNameError, "'English'"),
        ("longbench_v2", {"only": {"tokens": [9, 3]}}, OptionError, "the least and the most"),
        ("longbench_v2", {"only": {"tokens": "8k"}}, OptionError, "the least and the most"),
        ("longbench_v2", {"only": {"sample": 0}}, OptionError, "a number above 0"),
        ("longbench_v2", {"only": {"ids": []}}, OptionError, "a text or a list of texts"),
        ("longbench_v2", {"only": {"ids": "nobody"}}, NothingAsked, "no question is left by only"),
        ("longbench_v2", {"shard": "9/8"}, OptionError, "such as \"3/8\", not '9/8'"),
        ("longbench_v2", {"shard": "0/8"}, OptionError, "not '0/8'"),
        ("longbench_v2", {"shard": "x"}, OptionError, "not 'x'"),
        ("longbench_v1_trec", {"shard": "80/85"}, NothingAsked, "is left by shard 80/85"),
    ],
)
def test_what_cannot_be_asked_is_told_in_a_line(task, options, error, text):
    with pytest.raises(error) as told:
        load(task, data_dir="sample", **options)
    assert text in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("options", [{"only": {"sample": 5}}, {"shard": "2/3"}])
def test_modes_and_domains_ask_the_same_questions(options):
    whole = {one.id: one.row["domain"] for one in asked("longbench_v2", **options)}
    for mode in ("_no_context", "_cot", "_cot_answer", "_rag"):
        assert [one.id for one in asked(f"longbench_v2{mode}", **options)] == list(whole)
    domains = [name for name, task in tasks().items() if task.counted == "longbench_v2" != name]
    assert len(domains) == 6
    found = [one.id for name in domains for one in asked(name, **options)]
    assert sorted(found) == sorted(whole)


def test_both_passes_of_chain_of_thought_ask_a_window_of_tokens(tokenizer_folder):
    only = {"tokens": [1, 900]}
    options = {"tokenizer": tokenizer_folder, "only": only}
    first = [one.id for one in asked("longbench_v2_cot", **options)]
    assert 0 < len(first) < 18
    assert [one.id for one in asked("longbench_v2_cot_answer", **options)] == first
