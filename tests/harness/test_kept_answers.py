"""Answers are kept as they arrive, and none that is there is asked for again."""

import json
import sqlite3
from collections import Counter
from types import SimpleNamespace

import pytest
from answering_model import AnsweringModel
from asked import rows_of
from harness_requests import generation_request, image_request
from kept_answers import read_all

from lm_eval_longbench.errors import OptionError, RunStopped
from lm_eval_longbench.harness.evaluate import evaluated
from lm_eval_longbench.harness.interrupt import Stopped, Stopping
from lm_eval_longbench.harness.kept_answers import KeptAnswers, engine_piece
from lm_eval_longbench.records.answer import ANSWERED, EMPTY, FAILED, Answer, answer_of
from lm_eval_longbench.records.identity import model_identity
from lm_eval_longbench.records.store import AnswerStore
from lm_eval_longbench.records.summary import summary

IDENTITY = model_identity("tiny", {})
TREC = "longbench_v1_trec"
PRO = "longbench_pro_t3_2"
BOTH = ["longbench_v2_cot", "longbench_v2_cot_answer"]


@pytest.fixture
def kept(tmp_path, evaluate):
    """Evaluate as `run` does, with the file of answers in `tmp_path`; returns results and lines."""

    def run(model, tasks, options=None, *, keep_empty=False, stopping=None, **arguments):
        said = []
        store = AnswerStore(tmp_path, "answers_tiny_00000000", IDENTITY)
        keeping = KeptAnswers(store, stopping or Stopping(), said.append, keep_empty=keep_empty)
        try:
            with evaluated(keeping):
                result = evaluate(model, tasks, options, log_samples=True, **arguments)
        finally:
            store.close()
        return result, said

    return run


def texts(result, task):
    return [sample["resps"] for sample in result["samples"][task]]


def test_a_finished_run_asks_nothing_again(kept, recording_lm, tmp_path):
    recording_lm.answer = lambda number, prompt, generation: f"answer {number}"
    first, said = kept(recording_lm, [TREC])
    assert said == [
        f"0 of 5 answers are in {tmp_path}/answers_tiny_00000000.sqlite already, 5 to ask."
    ]
    again, said = kept(recording_lm, [TREC])
    assert len(recording_lm.requests) == 5
    assert "5 of 5 answers" in said[0]
    assert texts(first, TREC) == texts(again, TREC)
    assert first["results"] == again["results"]
    assert [answer_of(own[0][0]).state for own in texts(again, TREC)] == [ANSWERED] * 5


def test_empty_answers_are_asked_again(kept, recording_lm):
    recording_lm.answer = lambda number, *_: "" if number % 2 else "said"
    result, _ = kept(recording_lm, [TREC])
    states = [answer_of(own[0][0]).state for own in texts(result, TREC)]
    assert states.count(EMPTY) == 2
    kept(recording_lm, [TREC], keep_empty=True)
    assert len(recording_lm.requests) == 5
    recording_lm.answer = "now"
    result, _ = kept(recording_lm, [TREC])
    assert len(recording_lm.requests) == 7
    assert Counter(own[0][0] for own in texts(result, TREC)) == {"said": 3, "now": 2}


def test_repeats_are_kept_one_by_one(kept, recording_lm, tmp_path):
    recording_lm.answer = lambda number, *_: f"[Answer]\n{number}"
    options = {"repeats": 3}
    sampled = {"gen_kwargs": {"temperature": 1.0}}
    first, _ = kept(recording_lm, [PRO], options, **sampled)
    number = len(recording_lm.requests)
    rows = list(read_all(tmp_path / "answers_tiny_00000000.sqlite"))
    assert len(rows) == number == len({(row.request, row.repeat) for row in rows})
    assert {row.repeat for row in rows} == {0, 1, 2}
    again, _ = kept(recording_lm, [PRO], options, **sampled)
    assert texts(again, PRO) == texts(first, PRO)
    kept(recording_lm, [PRO], {"repeats": 4}, **sampled)
    assert len(recording_lm.requests) == number + number // 3


def test_equal_requests_share_an_answer(kept, recording_lm):
    """A domain of LongBench v2 asks questions that the whole task has asked."""
    kept(recording_lm, ["longbench_v2", "longbench_v2_single_document_qa"])
    assert len(recording_lm.requests) == len(rows_of("longbench_v2"))


def test_what_was_reported_before_a_failure_is_kept(kept, tmp_path):
    model = AnsweringModel(lambda number, prompt: f"answer {number}", fails_at=3)
    with pytest.raises(ConnectionError):
        kept(model, [TREC])
    assert len(list(read_all(tmp_path / "answers_tiny_00000000.sqlite"))) == 3
    model.fails_at = None
    kept(model, [TREC])
    assert model.asked == 5


class Answering(AnsweringModel):
    """A model that gives whole answers."""

    def generate_answers(self, requests, keep, stopping):
        found = []
        for number, request in enumerate(requests):
            if stopping():
                raise RunStopped("told to stop")
            answer = self.answer(self.asked, request.args[0])
            self.asked += 1
            keep(number, answer)
            found.append(answer)
        return found


def test_a_model_that_gives_whole_answers(kept, tmp_path):
    def answer(number, prompt):
        if number == 1:
            return Answer("", FAILED, "HTTP 400: too long")
        return Answer("said", completion_tokens=7, cached_tokens=2, finish_reason="length")

    model = Answering(answer)
    result, _ = kept(model, [TREC])
    answers = [answer_of(own[0][0]) for own in texts(result, TREC)]
    assert Counter(one.state for one in answers) == {ANSWERED: 4, FAILED: 1}
    assert all(one.at for one in answers)
    (own,) = summary(tmp_path / "answers_tiny_00000000.sqlite").tasks.values()
    assert (own.answered, own.failed, own.completion_tokens, own.prompt_tokens) == (4, 1, 28, None)
    assert own.reasons == {"HTTP 400: too long": 1}
    # The failed one is asked again.
    kept(model, [TREC])
    assert model.asked == 6


def test_requests_with_images_go_by(tmp_path):
    """They are of another package's tasks; what they are answered is in its place."""
    model = AnsweringModel(lambda number, prompt: f"{prompt}: {number}")
    store = AnswerStore(tmp_path, "answers_tiny_00000000", IDENTITY)
    asked = [generation_request("a", {}), image_request("b", {}), generation_request("c", {})]
    keeping = KeptAnswers(store, Stopping())
    with keeping.around(model):
        assert model.generate_until(asked) == ["a: 1", "b: 0", "c: 2"]
    store.close()
    assert len(list(read_all(store.path))) == keeping.done == 2


def test_a_run_that_is_to_stop_asks_nothing_new(kept, tmp_path):
    stopping = Stopping()

    def answer(number, prompt):
        if number == 2:
            stopping.stop(RunStopped("the disk is full"))
        return Answer(f"answer {number}")

    model = Answering(answer)
    with pytest.raises(RunStopped, match="the disk is full"):
        kept(model, [TREC], stopping=stopping)
    assert model.asked == 3
    assert len(list(read_all(tmp_path / "answers_tiny_00000000.sqlite"))) == 3


def test_a_signal_in_pass_two_keeps_the_answers_of_pass_one(kept, recording_lm, tmp_path):
    stopping = Stopping()

    def answer(number, prompt, generation):
        if generation["max_gen_toks"] == 128:
            stopping.signal = 2
        return "The correct answer is (A)"

    recording_lm.answer = answer
    with pytest.raises(Stopped):
        kept(recording_lm, BOTH, stopping=stopping)
    assert len(list(read_all(tmp_path / "answers_tiny_00000000.sqlite"))) == 36


class VLLM(AnsweringModel):
    """Named as the engine: it reports nothing before its call has ended."""

    reports = False

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.model_args = {"max_num_seqs": 1}
        self.calls = []

    def generate_until(self, requests, disable_tqdm=False):
        self.calls.append([len(request.args[0]) for request in requests])
        return super().generate_until(requests)


def test_engines_are_asked_in_pieces(kept, tmp_path):
    model = VLLM(lambda number, prompt: f"answer {len(prompt)}", fails_at=16)
    assert engine_piece(model) == 16
    with pytest.raises(ConnectionError):
        kept(model, ["longbench_v2"])
    assert [len(call) for call in model.calls] == [16, 2]
    lengths = [length for call in model.calls for length in call]
    assert lengths == sorted(lengths, reverse=True)
    assert len(list(read_all(tmp_path / "answers_tiny_00000000.sqlite"))) == 16
    model.fails_at = None
    result, _ = kept(model, ["longbench_v2"])
    assert len(model.calls[-1]) == 2
    assert engine_piece(AnsweringModel(None)) is None
    cache = SimpleNamespace(num_gpu_blocks=1000, block_size=16)
    config = SimpleNamespace(cache_config=cache, scheduler_config=SimpleNamespace(max_num_seqs=64))
    model.model_args = {}
    model.model = SimpleNamespace(llm_engine=SimpleNamespace(vllm_config=config))
    # 16,000 tokens fit: 64 requests of 200, 4 of 4,000, and no two of 12,000.
    assert [engine_piece(model, tokens) for tokens in (200, 4000, 12000, 50000)] == [
        16 * number for number in (64, 4, 1, 1)
    ]
    for sample in result["samples"]["longbench_v2"]:
        assert sample["resps"][0][0].startswith("answer ")


def test_hf_says_which_answers_ended_at_their_budget(kept, model_folder, tmp_path, capsys):
    """Answers of three tokens from the real tiny model, two at a time; there is one bar."""
    kept(
        "hf",
        [TREC],
        model_args={"pretrained": model_folder, "device": "cpu"},
        gen_kwargs={"max_gen_toks": 3},
        batch_size=2,
    )
    err = capsys.readouterr().err
    # With its colon it is the harness's bar; without, a log line that any handler may print.
    assert "Running generate_until requests:" not in err
    assert "answers: 100%" in err and "5/5" in err
    assert "capped=5, failed=" in err or "failed=0, capped=5" in err
    (own,) = summary(tmp_path / "answers_tiny_00000000.sqlite").tasks.values()
    assert own.answered + own.empty == 5
    assert own.completion_tokens == 15
    assert own.prompt_tokens > 5 * 50
    store = AnswerStore(tmp_path, "answers_tiny_00000000", IDENTITY)
    names = [(row.request, row.repeat) for row in read_all(store.path)]
    assert [store.find(*name).finish_reason for name in names] == ["length"] * 5
    store.close()


def test_hf_samples_alike_in_a_run_that_was_interrupted(kept, model_folder, tmp_path):
    """One request at a time: what is asked again begins where it would have begun."""
    arguments = {
        "model_args": {"pretrained": model_folder, "device": "cpu"},
        "gen_kwargs": {"max_gen_toks": 6, "do_sample": True, "temperature": 1.0},
        "batch_size": 1,
    }
    whole, _ = kept("hf", [TREC], {"repeats": 2}, **arguments)
    store = tmp_path / "answers_tiny_00000000.sqlite"
    # The longest prompts are asked first: of four kept answers one is half of a question's.
    with sqlite3.connect(store) as database:
        database.execute("DELETE FROM answers WHERE rowid IN (2, 3, 5, 6, 7, 9)")
        assert database.execute("SELECT count(*) FROM answers").fetchone() == (4,)
    again, said = kept("hf", [TREC], {"repeats": 2}, **arguments)
    assert "4 of 10 answers" in said[0]
    assert texts(again, TREC) == texts(whole, TREC)
    for ((one, other),) in texts(whole, TREC):
        assert one != other
    store.unlink()
    elsewhere, _ = kept("hf", [TREC], {"repeats": 2}, **arguments, torch_random_seed=5)
    assert texts(elsewhere, TREC) != texts(whole, TREC)


def test_fewer_questions_than_ranks_are_refused(evaluate, recording_lm, monkeypatch):
    monkeypatch.setattr(type(recording_lm), "world_size", 3)
    with pytest.raises(OptionError, match="2 questions for 3 ranks"):
        evaluate(recording_lm, [TREC], limit=2)
    assert recording_lm.requests == []


def test_what_a_key_holds_of_other_tasks(recording_lm):
    """A prompt of another task may be cut in the model: then what cuts it counts."""
    keeping = KeptAnswers(None, Stopping(), cuts={"max_length": 9})
    other = KeptAnswers(None, Stopping(), cuts={"max_length": 10})
    ours = {"prompt": {"document_sha256": "x"}}
    for doc, same in ((ours, True), ({}, False)):
        request = generation_request("p", {}, doc)
        assert (keeping._key(request) == other._key(request)) is same
    assert json.loads(keeping.requests([request, request])[1].kept(Answer("")).generation) == {}
