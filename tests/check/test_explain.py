"""Pairs of runs with one known cause each: it is named, and all shares add up to the difference."""

import json
import random
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prediction_rows import (
    STAMP,
    log_row,
    says,
    v1_doc,
    v1_row,
    v2_question,
    v2_row,
    write_lines,
)

from lm_eval_longbench.check.compare import compare_results
from lm_eval_longbench.check.explain import (
    CAUSES,
    CHAT,
    CUT,
    LEFT,
    PROMPT,
    QUESTIONS,
    SCORER,
    STOP,
    explained,
    paired,
)
from lm_eval_longbench.check.sides import read_side

TASK = "longbench_v1_qasper"
GOLD = "Emma Woodhouse of Hartfield"
ANSWERS = (GOLD, f"{GOLD}, I think", "Emma", "Mr. Knightley", "Emma of Highbury, who else")
RUN = {
    "task": TASK,
    "benchmark": "longbench_v1",
    "template_sha256": "a" * 64,
    "truncation": "halves_decoded_apart",
    "limit": 3500,
    "tokenizer": "t",
    "tokenizer_sha256": "b" * 64,
    "chat": "on",
    "chat_sha256": "c" * 64,
    "generation": {"until": [], "max_gen_toks": 128},
}


def explain(theirs, ours):
    return compare_results(theirs, ours).why


def digest(*parts):
    return sha256(repr(parts).encode()).hexdigest()


class Made:
    """One side of a pair: answers, and how they came about."""

    def __init__(self, seed, number=60):
        self.random = random.Random(seed)
        self.run = dict(RUN)
        self.rows = [
            {
                "answer": self.random.choice(ANSWERS),
                "truncated": index % 2 == 0,
                "template": "a" * 64,
                "cut": 3500,
                "chat": "on",
                "budget": 128,
                "stated": None,
            }
            for index in range(number)
        ]

    def worse(self, chosen, **facts):
        """Have some questions answered otherwise, mostly worse, for one reason."""
        for index, row in enumerate(self.rows):
            if chosen(index):
                row |= facts
                row["answer"] = self.random.choice(ANSWERS[2:])

    def write(self, folder, model="org/model"):
        rows = []
        for index, own in enumerate(self.rows):
            doc = v1_doc(TASK, index, GOLD)
            text = digest(index, own["template"], own["cut"] if own["truncated"] else None)
            row = log_row(TASK, doc, own["answer"], truncated=own["truncated"])
            row["doc"]["prompt"] |= {"sha256": text, "template_sha256": own["template"]}
            arguments = {"until": [], "max_gen_toks": own["budget"]}
            row["arguments"] = {"gen_args_0": {"arg_0": text, "arg_1": arguments}}
            if own["stated"] is not None:
                row["score"] = own["stated"]
            rows.append(row)
        write_lines(folder / f"samples_{TASK}_{STAMP}.jsonl", *rows)
        whole = {
            "results": {TASK: {}},
            "configs": {TASK: {"metadata": {"longbench_run": self.run}}},
            "model_name": model,
            "config": {"model": "hf", "model_args": {"pretrained": model}},
        }
        (folder / f"results_{STAMP}.json").write_text(json.dumps(whole))
        return folder


def make(cause, seed):
    """Return two sides that differ for one reason."""
    theirs, ours = Made(seed), Made(seed)
    if cause == QUESTIONS:
        for row in ours.rows[:25]:
            row["answer"] = GOLD
        theirs.rows = [dict(row) for row in ours.rows[25:]]
    elif cause == PROMPT:
        ours.worse(lambda index: index % 3, template="d" * 64)
        for row in ours.rows:
            row["template"] = "d" * 64
        ours.run["template_sha256"] = "d" * 64
    elif cause == CUT:
        ours.run["limit"] = 1500
        for row in ours.rows:
            row["cut"] = 1500
        ours.worse(lambda index: ours.rows[index]["truncated"])
    elif cause == CHAT:
        ours.run |= {"chat": "off", "chat_sha256": "e" * 64}
        ours.worse(lambda index: index % 4, chat="off")
        for row in ours.rows:
            row["chat"] = "off"
    elif cause == STOP:
        ours.run["generation"] = {"until": [], "max_gen_toks": 2}
        for row in ours.rows:
            row["budget"] = 2
            row["answer"] = " ".join(row["answer"].split()[:2])
    elif cause == SCORER:
        for row in theirs.rows:
            row["stated"] = float("Emma" in row["answer"])
    else:
        ours.worse(lambda index: index % 2)
    return theirs, ours


PAIRS = [(cause, number) for number, cause in enumerate(CAUSES)]


@pytest.mark.parametrize(("cause", "seed"), PAIRS)
def test_the_one_cause_of_a_made_pair_is_named(tmp_path, cause, seed):
    theirs, ours = make(cause, seed)
    if cause == QUESTIONS:
        # Their ids are those of ours behind the first 25.
        shifted = Made(seed, 0)
        shifted.rows = theirs.rows
        place = shifted.write(tmp_path / "theirs")
        log = place / f"samples_{TASK}_{STAMP}.jsonl"
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        for index, row in enumerate(rows, start=25):
            row["doc"] |= {"_id": f"id-{index}", "index": index}
            row["doc_id"] = index
            own = shifted.rows[index - 25]
            cut = own["cut"] if own["truncated"] else None
            row["doc"]["prompt"]["sha256"] = digest(index, own["template"], cut)
        write_lines(log, *rows)
    else:
        theirs.write(tmp_path / "theirs")
    ours.write(tmp_path / "ours", "org/other" if cause == LEFT else "org/model")
    found = explain(tmp_path / "theirs", tmp_path / "ours")
    assert abs(found.gap) > 1
    assert found.largest.cause == cause
    assert sum(share.points for share in found.shares) == pytest.approx(found.gap, abs=1e-9)
    assert found.largest.points == pytest.approx(found.gap, abs=1e-9)  # there is no other
    assert found.largest.low <= found.largest.points <= found.largest.high
    assert ("models: org/model and org/other" in found.notes) == (cause == LEFT)
    assert not any("cannot be told" in note for note in found.notes)
    # The other way round it is the same cause with the other sign.
    back = explain(tmp_path / "ours", tmp_path / "theirs")
    assert back.largest.cause == cause
    assert back.gap == pytest.approx(-found.gap, abs=1e-9)


def test_what_official_files_do_not_tell_is_said(tmp_path):
    ours = Made(3)
    ours.write(tmp_path / "ours")
    rows = [v1_row("Emma" if at % 2 else "no", GOLD, length=1) for at in range(60)]
    write_lines(tmp_path / "pred" / "m" / "qasper.jsonl", *rows)
    found = explain(tmp_path / "pred", tmp_path / "ours")
    assert found.counts == (60, 60, 60)  # by their places
    untold = [note for note in found.notes if "cannot be told for 60 of 60" in note]
    assert [note.partition(":")[0] for note in untold] == [PROMPT, CUT, CHAT, STOP]
    assert any("states no scores: it is scored as officially" in note for note in found.notes)
    assert sum(share.points for share in found.shares) == pytest.approx(found.gap, abs=1e-9)


def test_another_policy_for_reasoning_is_the_scorer(tmp_path):
    """Each side's answers are scored with both scorers."""
    ours = Made(4)
    for row in ours.rows:
        row["answer"] = f"<think>{GOLD}, or Bo?</think>{GOLD}"
    ours.write(tmp_path / "ours")
    rows = [v1_row(row["answer"], GOLD) for row in ours.rows]
    write_lines(tmp_path / "pred" / "m" / "qasper.jsonl", *rows)
    found = explain(tmp_path / "pred", tmp_path / "ours")
    assert found.largest.cause == SCORER
    assert found.largest.points == pytest.approx(found.gap)
    assert found.ours == 100.0


# ---------------------------------------------------------------------- pairs


def v2_side(folder, numbers, answers, *, official):
    """Write answers to some questions of v2, as a log or as an official file."""
    rows = []
    for number, answer in zip(numbers, answers, strict=True):
        question = {"id": f"q{number}", "answer": "ABCD"[number % 4]}
        if official:
            rows.append(v2_row(letter=answer, **question))
        else:
            rows.append(log_row("longbench_v2", v2_question(**question), says(answer)))
    name = "m.jsonl" if official else f"samples_longbench_v2_{STAMP}.jsonl"
    write_lines(folder / name, *rows)
    return folder


@pytest.mark.parametrize("official", [(True, False), (False, True), (True, True)])
def test_questions_of_v2_are_paired_by_their_ids(tmp_path, official):
    """All have the place 0 and one of four letters: 22 of these pairs once beat the right ones."""
    numbers = list(range(18))
    answers = ["ABCD"[number % 3] for number in numbers]
    one = v2_side(tmp_path / "a", numbers, answers, official=official[0])
    other = v2_side(tmp_path / "b", numbers[::-1], answers[::-1], official=official[1])
    found = explain(one, other)
    assert found.counts == (18, 18, 18)
    assert [(share.points, share.questions) for share in found.shares] == [(0, 0)] * len(CAUSES)


def test_lines_of_official_files_are_paired_by_place_only_if_all_gold_answers_agree(tmp_path):
    """A line is left out of one file: what comes after it is at other places."""
    golds = [f"Emma of Highbury {number}" for number in range(30)]
    for name, left_out in (("a", ()), ("b", (4,))):
        rows = [v1_row(gold, gold) for at, gold in enumerate(golds) if at not in left_out]
        write_lines(tmp_path / name / "pred" / "m" / "qasper.jsonl", *rows)
    found = explain(tmp_path / "a", tmp_path / "b")
    assert found.counts == (30, 29, 29)
    # Of golds that stand twice nothing tells which is which.
    for name, left_out in (("c", ()), ("d", (0,))):
        rows = [
            v1_row("x", "yes" if at % 2 else f"no {at}") for at in range(9) if at not in left_out
        ]
        write_lines(tmp_path / name / "pred" / "m" / "qasper.jsonl", *rows)
    assert explain(tmp_path / "c", tmp_path / "d").counts == (9, 8, 4)


ANSWER = st.sampled_from([GOLD, "Emma", "Mr. Knightley", "", "<think>Emma</think>Bo"])


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_parts_add_up_whatever_the_sides_hold(tmp_path_factory, data):
    """Logs and official files, questions that one side lacks, ids and golds that stand twice."""
    sides = []
    for name in "AB":
        number = data.draw(st.integers(1, 8))
        folder = tmp_path_factory.mktemp("side")
        rows = []
        for _ in range(number):
            answer, gold = data.draw(ANSWER), data.draw(st.sampled_from([GOLD, "Bo", "yes"]))
            rows.append((answer, gold, data.draw(st.integers(0, 9))))
        if data.draw(st.booleans()):
            own = [v1_row(answer, gold) for answer, gold, _ in rows]
            write_lines(folder / "pred" / "m" / "qasper.jsonl", *own)
        else:
            own = [
                {
                    **log_row(TASK, {**v1_doc(TASK, at, gold), "_id": f"id-{own_id}"}, answer),
                    "score": data.draw(st.sampled_from([0.0, 0.5, 1.0])),
                }
                for at, (answer, gold, own_id) in enumerate(rows)
            ]
            write_lines(folder / f"samples_{TASK}_{STAMP}.jsonl", *own)
        sides.append(read_side(folder, folder / "scored", name))
    pairs = paired(*sides)
    assert len({id(one) for one, _ in pairs}) == len({id(own) for _, own in pairs}) == len(pairs)
    assert all(one.golds == own.golds for one, own in pairs)
    if pairs:
        found = explained(*sides)
        assert sum(share.points for share in found.shares) == pytest.approx(found.gap, abs=1e-6)
