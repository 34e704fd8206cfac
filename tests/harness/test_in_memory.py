"""Models in memory, as models of the harness, and what is known of them."""

import pytest
from harness_requests import generation_request

from lm_eval_longbench import evaluate
from lm_eval_longbench.errors import OptionError, TokenizerError
from lm_eval_longbench.harness.api_model import LongBenchAPI
from lm_eval_longbench.harness.in_memory import (
    CallableModel,
    as_model,
    known_of,
    lent_tokenizer,
    tokenizer_of,
)
from lm_eval_longbench.prompts.tokenizer import load_tokenizer

TASK = "longbench_v1_qasper"


def request(prompt, place=None, **generation):
    doc = {"prompt": {"question_at": place}} if place is not None else {}
    return generation_request(prompt, generation, doc)


def test_a_function_that_cannot_be_looked_into_gets_prompts_alone():
    model = CallableModel(list, None)  # written in C
    assert model.generate_until([request("one"), request("two")]) == ["one", "two"]


def test_a_function_of_any_parameters_gets_what_it_names():
    def answer(prompts, *, question_at, more=1):
        return [f"{prompt}{place}" for prompt, place in zip(prompts, question_at, strict=True)]

    model = CallableModel(answer, 2)
    asked = [request("a", 3), request("b"), request("c", 0)]
    assert model.generate_until(asked) == ["a3", "bNone", "c0"]


def test_a_bare_transformers_model_lacks_its_tokenizer(model_folder):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(model_folder)
    with pytest.raises(OptionError, match=r"\(model, tokenizer\)"):
        as_model(model, None, None, None)
    with pytest.raises(OptionError, match=r"type tuple cannot be evaluated"):
        as_model((model,), None, None, None)


def test_a_tokenizer_in_memory_has_its_own_name_where_its_files_give_the_same(tokenizer_folder):
    tokenizer = load_tokenizer(tokenizer_folder, {})
    with lent_tokenizer(tokenizer) as name:
        assert name == tokenizer_folder
    with lent_tokenizer("given") as name:
        assert name == "given"
    from transformers import AutoTokenizer

    changed = AutoTokenizer.from_pretrained(tokenizer_folder)
    changed.add_tokens(["unheard-of"])
    with lent_tokenizer(changed) as name:
        assert name == f"{tokenizer_folder} in memory"
        assert load_tokenizer(name, {}) is changed
    with pytest.raises(TokenizerError):
        load_tokenizer(name, {})


def questions_of(server):
    """What was asked but for the tiny "?", which tells once a server whether it takes `n`."""
    return [body for body in server.payloads if "'content': '?'" not in str(body)]


def test_a_client_in_memory_is_known_by_its_server(api_server, tokenizer_folder):
    """Its requests and their seeds are those of the same model by its name."""
    given = {"model": "served", "base_url": api_server.url("/v1"), "endpoint": "chat"}
    model = LongBenchAPI(**given)
    assert known_of(model) == {key: given[key] for key in ("model", "base_url")}
    assert tokenizer_of(model) is None
    more = {"data_dir": "sample", "apply_chat_template": True, "limit": 1, "repeats": 2}
    more |= {"gen_kwargs": {"temperature": 0.5, "do_sample": True}}
    sent = []
    for one, arguments in ((model, None), ("longbench-api", given)):
        api_server.payloads.clear()
        run = evaluate(one, TASK, model_args=arguments, **more)
        sent.append((run.signature, sorted(map(str, questions_of(api_server)))))
    assert sent[0] == sent[1]
    assert len(sent[0][1]) == 2 and "'seed': 1235" in sent[0][1][1]
