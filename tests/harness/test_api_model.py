"""The model longbench-api behind the harness, against a real server on loopback."""

import asyncio
import json

import pytest
from asked import prompts_of
from departing import departures
from fault_server import FaultServer, asked_text, counting, refuses, status
from harness_requests import generation_request

from lm_eval_longbench.errors import Interrupted, OptionError
from lm_eval_longbench.harness.api_model import LongBenchAPI
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.records.answer import ANSWERED, FAILED, answer_of

MODEL = "longbench-api"
SHORT = "longbench_v1_qasper"


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def server():
    with FaultServer() as own:
        yield own


def args(server, endpoint="chat", **more):
    return {"model": "tiny", "base_url": server.base, "endpoint": endpoint, **more}


def instances(model, texts, **generation):
    def sent(text):
        chat = model.server.endpoint == "chat"
        return model.apply_chat_template([{"role": "user", "content": text}]) if chat else text

    own = {"until": [], "max_gen_toks": 9, **generation}
    return [generation_request(sent(text), own) for text in texts]


# ---------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"num_concurrent": 0}, "num_concurrent"),
        ({"tries": "many"}, "tries"),
        ({"patience": -1}, "patience"),
        ({"max_failed": 1.5}, "max_failed must be a number from 0 to 1"),
        ({"timeout": "nan"}, "timeout"),
        ({"extra_body": "{"}, "extra_body is no JSON"),
        ({"extra_body": {"model": "other"}}, "extra_body: model is sent anyway"),
        ({"extra_body": {"a": 1, "temperature": 1.0}}, "in gen_kwargs, temperature=..., so that"),
        ({"extra_body": {"stop": ["x"]}}, "gen_kwargs, until="),
        ({"extra_body": '{"max_completion_tokens": 9}'}, "gen_kwargs, max_gen_toks="),
        ({"header": "[1]"}, "header must be a JSON object"),
        ({"max_length": "long"}, "max_length"),
        ({"endpoint": None}, "endpoint=chat"),
        ({"base_url": None}, "needs base_url"),
        ({"model": None}, "needs model"),
    ],
)
def test_impossible_arguments(server, more, words):
    with pytest.raises(OptionError, match=words):
        LongBenchAPI(**{**args(server), **more})


def test_arguments_from_the_command_line_are_texts(server):
    given = (
        f"model=tiny,base_url={server.base}/chat/completions,num_concurrent=3,patience=7,"
        'max_failed=0.5,verify_certificate=False,extra_body={"user": 5}'
    )
    model = LongBenchAPI.create_from_arg_string(given, {"batch_size": "auto", "device": None})
    assert (model.server.endpoint, model.server.verify) == ("chat", False)
    assert (model.manners.num_concurrent, model.manners.patience) == (3, 7.0)
    assert model.server.extra == {"user": 5}


# ---------------------------------------------------------------------- what is sent


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_a_request_of_the_harness_is_sent_as_it_stands(server, endpoint):
    model = LongBenchAPI(
        **args(server, endpoint, extra_body={"a": 1}, chat_template_kwargs='{"b": 2}')
    )
    (answer,) = model.generate_until(
        instances(model, ["why?"], temperature=0.5, until="END", do_sample=True, top_p=0.9, seed=3)
    )
    (body,) = server.bodies
    assert asked_text(body) == "why?"
    sent = {name: body[name] for name in ("max_tokens", "temperature", "top_p", "stop", "seed")}
    assert sent == {"max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "stop": ["END"], "seed": 3}
    assert (body["a"], body["chat_template_kwargs"]) == (1, {"b": 2})
    assert not {"until", "do_sample", "max_gen_toks", REPEAT} & set(body)
    assert answer_of(answer).state == ANSWERED
    assert answer_of(answer).finish_reason == "stop"


def test_where_the_task_says_nothing_the_harness_s_own_holds(server):
    model = LongBenchAPI(**args(server, "completions"))
    model.generate_until([generation_request("why?", {})])
    (body,) = server.bodies
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (256, 0, 1234)
    assert "stop" not in body


def test_a_seed_of_null_is_not_sent(server):
    model = LongBenchAPI(**args(server, "completions"))
    model.generate_until(instances(model, ["why?"], seed=None, **{REPEAT: 2}))
    assert not {"seed", REPEAT} & set(server.bodies[0])


def test_text_to_a_chat_endpoint_and_messages_to_the_other_are_refused(server):
    chat, text = (LongBenchAPI(**args(server, one)) for one in ("chat", "completions"))
    with pytest.raises(OptionError, match="give apply_chat_template"):
        chat.generate_until(instances(text, ["why?"]))
    with pytest.raises(OptionError, match="takes text"):
        text.generate_until(instances(chat, ["why?"]))
    with pytest.raises(OptionError, match="tokenizer=NAME_OR_FOLDER"):
        text.apply_chat_template([{"role": "user", "content": "why?"}])
    assert server.bodies == []


def test_the_tokenizers_template_without_the_token_that_servers_add(
    server, tokenizer_folder, tmp_path
):
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    tokenizer.bos_token = tokenizer.eos_token
    tokenizer.chat_template = "{{ bos_token }}{{ messages[0]['content'] }}|{{ level }}"
    for adds in (False, True):
        if adds:
            tokenizer._tokenizer.post_processor = TemplateProcessing(
                single=f"{tokenizer.bos_token} $0",
                special_tokens=[(tokenizer.bos_token, tokenizer.bos_token_id)],
            )
        folder = tmp_path / str(adds)
        tokenizer.save_pretrained(folder)
        own = args(server, "completions", tokenizer=str(folder), chat_template_kwargs={"level": 3})
        text = LongBenchAPI(**own).apply_chat_template([{"role": "user", "content": "why?"}])
        assert text == ("" if adds else tokenizer.bos_token) + "why?|3"


# ---------------------------------------------------------------------- in the harness


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_plain_harness_evaluates_a_task(evaluate, server, endpoint):
    result = evaluate(
        MODEL,
        [SHORT],
        model_args=args(server, endpoint),
        apply_chat_template=endpoint == "chat",
        log_samples=True,
    )
    assert sorted(map(asked_text, server.bodies)) == sorted(prompts_of(SHORT))
    run = result["configs"][SHORT]["metadata"]["longbench_run"]
    assert run["answered"] == len(server.bodies) and "left_out" not in run


def test_what_arguments_add_to_requests_is_in_the_signature(evaluate, server):
    """Runs with and without had one line, and both were called official."""
    settings = {"eos_string": "END", "extra_body": '{"grammar": "root"}'}
    lines = []
    for more in ({}, settings):
        given = args(server, "completions", **more)
        result = evaluate(MODEL, [SHORT], model_args=given, limit=1)
        run = result["configs"][SHORT]["metadata"]["longbench_run"]
        found = departures(run["task"], run, 1).found
        lines.append((run["signature"], "stop strings (officially none)" in found))
    assert run["model_settings"] == {"eos_string": "END", "extra_body": {"grammar": "root"}}
    assert "the field grammar beside prompts (officially left out)" in found
    assert [own for _, own in lines] == [False, True]
    assert lines[0][0] != lines[1][0]
    assert [body.get("grammar") for body in server.bodies] == [None, "root"]


def pro_tasks():
    from lm_eval_longbench.benchmarks.registry import benchmarks

    return [name for name in benchmarks()["longbench_pro"].tasks if "summ" not in name][:1]


def test_repeats_are_asked_with_n_and_a_refused_seed_is_marked(evaluate, server):
    server.plan = refuses("seed")
    (task,) = pro_tasks()
    result = evaluate(MODEL, [task], model_args=args(server), apply_chat_template=True)
    run = result["configs"][task]["metadata"]["longbench_run"]
    assert run["left_out"] == ["seed"]
    assert run["seeds"] == [None] * run["repeats"]
    good = [body for body in server.bodies if "seed" not in body and asked_text(body) != "?"]
    assert {body["n"] for body in good} == {run["repeats"]}
    assert len(good) == run["answered"]


def test_generate_answers_keeps_and_stops(server):
    model = LongBenchAPI(**args(server, num_concurrent=1))
    kept = {}
    with pytest.raises(Interrupted):
        model.generate_answers(
            instances(model, ["a", "b", "c"]), kept.__setitem__, lambda: len(kept) == 2
        )
    assert sorted(kept) == [0, 1]
    server.plan = lambda number, body: status(413)
    answers = model.generate_answers(instances(model, ["d"]), kept.__setitem__, lambda: False)
    assert [answer.state for answer in answers] == [FAILED]


def test_it_answers_beside_a_running_loop(server):
    async def in_a_notebook():
        model = LongBenchAPI(**args(server))
        return model.generate_until(instances(model, ["a"]))

    assert len(asyncio.run(in_a_notebook())) == 1


@pytest.mark.slow
def test_a_refused_question_is_one_failed_answer_and_asked_again(processes, server, tmp_path):
    """429 with a wait of a day for one, counts that no file can hold for the others."""
    bad, *others = prompts_of(SHORT)
    held = status(429, "not today", [("Retry-After", "86400")])
    odd = counting(prompt_tokens=10**30, completion_tokens=2**63)
    server.plan = lambda number, body: held if bad in asked_text(body) else odd
    command = (
        *("lm-eval-longbench", "run", "--model", MODEL),
        *("--model_args", json.dumps({**args(server), "patience": 20}), "--tasks", SHORT),
        *("--log_samples", "--output_path", "out", "--apply_chat_template"),
        *("--metadata", '{"longbench": {"data_dir": "sample"}}'),
    )
    done = processes.run(*command, cwd=tmp_path)
    assert done.returncode == 0 and "failed=1" in done.stderr, done.stderr
    assert "HTTP 429: not today" in done.stderr
    answered = [asked_text(body) for body in server.bodies if bad not in asked_text(body)]
    assert sorted(text for text in answered if text != "?") == sorted(others)
    server.plan = lambda number, body: None
    server.bodies.clear()
    done = processes.run(*command, cwd=tmp_path)
    assert done.returncode == 0 and "failed=0" in done.stderr, done.stderr
    assert [asked_text(body) for body in server.bodies] == [bad]
