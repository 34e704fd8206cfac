"""The model's files, limit and budget."""

import pytest

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.model import (
    Lengths,
    budget_lines,
    is_cut,
    lengths,
    limit_lines,
    model_lines,
    tokenizer_lines,
)
from lm_eval_longbench.harness.preflight_facts import FoundTokenizer
from lm_eval_longbench.harness.prompts import Limit

# -------------------------------------------------- The lines on a model's files


ABSENT = FoundTokenizer("owner/model", problem="the tokenizer is not on this machine", absent=True)


@pytest.fixture
def lines(a_run, a_backend):
    def make(kind="local", tokenizer=None, **args):
        backend = a_backend(kind, tokenizer=tokenizer or FoundTokenizer())
        return list(model_lines(a_run(model_args=args), backend))

    return make


def test_a_folder_with_weights(lines, model_folder):
    (line,) = lines(pretrained=model_folder)
    assert line.status == OK
    assert "not loaded" in line.found


def test_a_folder_without(lines, tokenizer_folder):
    (line,) = lines(pretrained=tokenizer_folder)
    assert line.status == WARNING


def test_no_model_is_named(lines):
    (line,) = lines()
    assert line.status == ERROR
    assert "pretrained=" in line.todo


def test_a_model_of_the_hub(lines, hub_file):
    (line,) = lines(pretrained="owner/model")
    assert line.status == ERROR  # the hub may not be asked
    assert line.todo == "hf download owner/model"
    hub_file("owner/model", "model.safetensors.index.json")
    (line,) = lines(pretrained="owner/model")
    assert line.status == OK
    (line,) = lines(pretrained="owner/model", revision="other")
    assert line.status == ERROR


def test_with_network_the_run_would_download_it(lines, empty_caches, monkeypatch):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    (line,) = lines(pretrained="owner/model")
    assert line.status == WARNING
    assert "hf download owner/model" in line.todo


def test_the_tokenizer(lines, found_tokenizer, empty_caches):
    (line,) = lines("text", found_tokenizer)
    assert (line.status, line.topic) == (OK, "tokenizer")
    assert "with a chat template" in line.found
    (line,) = lines("text", ABSENT)
    assert line.status == ERROR
    assert line.todo.startswith("hf download owner/model --include")
    (line,) = lines("text", FoundTokenizer(None, problem="no tokenizer is named"))
    assert line.status == ERROR
    assert "tokenizer=NAME_OR_FOLDER" in line.todo


def test_a_task_that_cannot_be_cut(a_backend, a_task, empty_caches):
    """A chat server needs no tokenizer, and a limit does."""
    backend = a_backend("messages")
    (line,) = tokenizer_lines(backend, a_task(tokenizer=ABSENT))
    assert line.status == ERROR
    unlimited = a_task(tokenizer=ABSENT, limit=Limit(None, None, "unknown"))
    assert list(tokenizer_lines(backend, unlimited)) == []
    # What was said of the backend is not said again.
    backend = a_backend("text", tokenizer=ABSENT)
    assert list(tokenizer_lines(backend, a_task(tokenizer=ABSENT))) == []


# -------------------------------------------------- Lengths of a first prompt, against the tokeniz


def test_without_a_tokenizer_nothing_is_counted(a_task):
    assert lengths(a_task()) == Lengths()


def test_raw_text(a_task, found_tokenizer):
    text = "How long is the ferry?"
    facts = a_task(tokenizer=found_tokenizer, whole=text, sent=text)
    number = len(found_tokenizer.tokenizer(text)["input_ids"])
    assert lengths(facts) == Lengths(number, number, 0)


def test_a_template_that_writes_the_first_token_is_not_counted_twice(a_task, found_tokenizer):
    tokenizer = found_tokenizer.tokenizer
    text, sent = "How long?", "<s><|user|>\nHow long?\n<|assistant|>\n"
    facts = a_task(
        tokenizer=found_tokenizer, whole=text, sent=sent, probe="<s><|user|>\n?\n<|assistant|>\n"
    )
    counted = lengths(facts)
    assert counted.whole == len(tokenizer(text)["input_ids"])
    assert counted.sent == len(tokenizer(sent, add_special_tokens=False)["input_ids"])
    assert counted.template == counted.sent - counted.whole


def test_messages_are_counted_without_the_servers_template(a_task, found_tokenizer):
    facts = a_task(
        tokenizer=found_tokenizer, sent='[{"role": "user", "content": "x"}]', as_messages=True
    )
    counted = lengths(facts)
    assert counted.whole is not None and counted.sent is None and counted.template is None


def test_is_cut(a_task):
    limit = Limit(10, None, "truncate_to=10", official=True)
    assert is_cut(a_task(limit=limit), Lengths(11))
    assert not is_cut(a_task(limit=limit), Lengths(10))
    assert not is_cut(a_task(limit=limit), Lengths())
    assert not is_cut(a_task(limit=None), Lengths(11))
    assert not is_cut(a_task(limit=Limit(None, None, "unknown")), Lengths(11))


# -------------------------------------------------- The limits on the limit and on longer prompts


def truncate_to(tokens):
    return Limit(tokens, None, f"truncate_to={tokens}", official=True)


@pytest.fixture
def limits(a_backend, a_task):
    def make(counted=None, kind="text", **more):
        return list(limit_lines(a_backend(kind), a_task(**more), counted or Lengths(10)))

    return make


@pytest.mark.parametrize(
    ("limit", "status", "words"),
    [
        (truncate_to(31500), OK, "an official limit"),
        (truncate_to(1000), WARNING, "which no official run has"),
        (Limit(8000, 8064, "the model's config"), WARNING, "truncate_to is not set"),
        (Limit(1800, 1919, "default", assumed=True), WARNING, "nobody gave"),
        (Limit(None, None, "unknown"), WARNING, "prompts go out whole"),
    ],
)
def test_where_the_limit_comes_from(limits, limit, status, words):
    (line,) = limits(limit=limit)
    assert line.status == status
    assert words in line.found


def test_the_largest_official_limit_that_fits_is_proposed(limits):
    (line,) = limits(limit=Limit(16000, 16064, "the model's config"))
    assert "--truncate-to 15500" in line.todo
    (line,) = limits(limit=Limit(1000, 1064, "the model's config"))
    assert "None of the official limits" in line.todo


@pytest.mark.parametrize(
    ("task", "tokens"),
    [
        ("longbench_v1_qasper", 3500),
        ("longbench_v2", 120_000),
        ("longbench_v2", 200_000),
        ("longbench_pro_t1_1", 224_000),
    ],
)
def test_official_limits_of_each_benchmark(limits, task, tokens):
    (line,) = limits(task=task, limit=truncate_to(tokens))
    assert line.status == OK


def test_a_model_that_is_not_here_has_no_length_yet(limits):
    (line,) = limits(kind="local", limit=Limit(None, None, "unknown"))
    assert "config" in line.found


def test_no_limit_no_line(limits):
    assert limits(limit=None) == []


@pytest.mark.parametrize(
    ("overlength", "tokens", "status", "words"),
    [
        ("fail", 101, ERROR, "the run would stop"),
        ("fail", 100, OK, "short enough"),
        ("skip", 101, WARNING, "the first is one of them"),
        ("skip", 100, WARNING, "longer prompts are not asked"),
    ],
)
def test_overlength(limits, overlength, tokens, status, words):
    _, line = limits(Lengths(tokens), overlength=overlength, limit=truncate_to(100))
    assert (line.topic, line.status) == ("overlength", status)
    assert words in line.found


def test_overlength_without_a_limit_has_no_effect(limits):
    _, line = limits(overlength="skip", limit=Limit(None, None, "unknown"))
    assert line.status == WARNING
    assert "no effect" in line.found


def test_what_stops_the_run_is_said_once(limits):
    """The task's own problem says it already."""
    found = limits(Lengths(101), overlength="fail", limit=truncate_to(100), problem="too long")
    assert [line.topic for line in found] == ["limit"]


# -------------------------------------------------- The budgets on the output budget


@pytest.fixture
def budgets(a_task):
    def make(budget=128, official=128, template=None, **more):
        facts = a_task(
            generation={"max_gen_toks": budget},
            official_generation={"max_gen_toks": official},
            **more,
        )
        return list(budget_lines(facts, Lengths(10, 10, template)))

    return make


def test_the_official_number(budgets):
    (line,) = budgets()
    assert (line.status, "official number" in line.found) == (OK, True)


@pytest.mark.parametrize("budget", [127, 129])
def test_any_other_is_no_longer_official(budgets, budget):
    (line,) = budgets(budget)
    assert line.status == WARNING
    assert "no longer the official protocol" in line.found


def test_pro_has_published_budgets_of_several_models(budgets):
    assert budgets(32768, 8192, task="longbench_pro_t1_1")[0].status == OK
    assert budgets(999, 8192, task="longbench_pro_t1_1")[0].status == WARNING


def test_the_models_length_is_told(budgets):
    (line,) = budgets(limit=Limit(1856, 1920, "the model's config"))
    assert "1,920 of the model's length" in line.found


@pytest.mark.parametrize(("template", "status"), [(5, [OK]), (6, [OK, ERROR])])
def test_an_official_limit_must_fit_with_the_template(budgets, template, status):
    limit = Limit(3500, 3505, "truncate_to=3500", official=True)
    found = budgets(limit=limit, template=template)
    assert [line.status for line in found] == status


def test_a_refused_budget_is_the_tasks_problem(budgets):
    assert budgets("many", limit=None) == []
