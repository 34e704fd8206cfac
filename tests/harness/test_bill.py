"""What a run would ask, counted before, against what the server counts after."""

import json

import pytest
from json_server import JsonHandler, JsonServer, serving
from typer.testing import CliRunner

from lm_eval_longbench.api.run import Run, report
from lm_eval_longbench.cli.main import app
from lm_eval_longbench.errors import NothingSent, OptionError
from lm_eval_longbench.harness import unsent
from lm_eval_longbench.harness.arguments import Beside
from lm_eval_longbench.harness.run import run_harness
from lm_eval_longbench.prompts.tokenizer import load_tokenizer
from lm_eval_longbench.records.summary import TaskAnswers, with_sum
from lm_eval_longbench.reporting.cost import Price, read_price

TASKS = "longbench_v1_qasper,longbench_v2,longbench_pro_t3_1"


class Handler(JsonHandler):
    """Counts tokens as a server does, with the chat template."""

    def do_POST(self):
        body = self.body()
        text = self.server.tokenizer.apply_chat_template(
            body["messages"], tokenize=False, add_generation_prompt=True
        )
        number = len(self.server.tokenizer(text, add_special_tokens=False)["input_ids"])
        message = {"role": "assistant", "content": "The correct answer is (A)"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": number, "completion_tokens": 7}
        self.server.usage.append(number)
        self.reply(200, {"model": "m", "choices": [choice], "usage": usage})


@pytest.fixture(scope="module")
def server(model_folder):
    with serving(JsonServer(Handler)) as own:
        own.usage, own.tokenizer = [], load_tokenizer(model_folder, {})
        yield own


@pytest.fixture
def arguments(server, tmp_path, model_folder):
    server.usage.clear()
    given = ["--model", "longbench-api", "--tasks", TASKS, "--data-dir", "sample"]
    given += ["--model_args", f"model=m,base_url={server.url('/v1')},endpoint=chat"]
    given += ["--tokenizer", model_folder, "--truncate-to", "900", "--apply_chat_template"]
    return [*given, "--log_samples", "--output_path", str(tmp_path / "results")]


def bill_of(arguments):
    found = []

    def count(parsed, answers, wanted):
        found.extend(unsent.bill_of(parsed, wanted))
        raise NothingSent

    with pytest.raises(NothingSent):
        run_harness(arguments, Beside(instead=count), quiet=True)
    tasks, tokenizer = found
    return with_sum(tasks), tokenizer


def test_the_bill_before_is_what_the_server_counts_after(server, arguments, tmp_path):
    tasks, _ = bill_of(arguments)
    assert not server.usage
    assert list(tasks) == [*TASKS.split(","), "all"]
    pro, total = tasks["longbench_pro_t3_1"], tasks["all"]
    assert pro.answered == 6
    assert pro.cached_tokens == 2 * pro.prompt_tokens // 3  # three answers to each
    run = Run(run_harness(arguments, quiet=True), "this")
    # The probe for several answers to one request is tiny.
    asked = sorted(server.usage)[-total.answered :]
    assert total.prompt_tokens == pytest.approx(sum(asked), rel=0.01)
    assert total.completion_tokens >= 7 * total.answered
    shown = CliRunner().invoke(
        app, ["report", str(tmp_path / "results"), "--price", "2,10,1"], env={"COLUMNS": "200"}
    )
    assert shown.exit_code == 0, shown.output
    (line,) = (one for one in shown.output.splitlines() if "LongBench v2" in one and "18" in one)
    prompt = tasks["longbench_v2"].prompt_tokens
    assert line.partition(",")[2] in report(run, price="2,10,1")
    assert f"{prompt:,}" in line and f"{(2 * prompt + 10 * 7 * 18) / 1e6:,.4g}" in line


def test_without_a_tokenizer_it_is_an_estimate(arguments):
    place = arguments.index("--tokenizer")
    tasks, tokenizer = bill_of(arguments[:place] + arguments[place + 4 :])
    assert tokenizer is None and tasks["all"].prompt_tokens > 1000


def test_what_is_kept_is_not_asked_for(server, arguments):
    run_harness(arguments, quiet=True)
    more = [own.replace(TASKS, f"{TASKS},longbench_v1_trec") for own in arguments]
    assert set(bill_of(more)[0]) == {"longbench_v1_trec", "all"}


def test_a_model_of_this_process_is_not_loaded(model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("lm_eval.models.huggingface.HFLM.__init__", None)
    given = ["--model", "hf", "--tasks", TASKS, "--data-dir", "sample", "--apply_chat_template"]
    given += ["--model_args", f"pretrained={model_folder}", "--output_path", str(tmp_path)]
    assert bill_of(given)[0]["all"].answered > 20


def test_the_command_prints_tasks_and_cost(arguments):
    result = CliRunner().invoke(
        app, ["run", *arguments, "--dry-run", "--price", "2.5,10"], env={"COLUMNS": "200"}
    )
    assert result.exit_code == 0, result.output
    assert "longbench_pro_t3_1" in result.output and "cost at most" in result.output
    assert result.output.rstrip().endswith("Nothing was sent.")


def test_the_price_of_a_batch_is_in_its_manifest(arguments, tmp_path):
    out = tmp_path / "out"
    result = CliRunner().invoke(
        app, ["run", *arguments, "--write-requests", str(out), "--price", "2,10"]
    )
    assert result.exit_code == 0, result.output
    bill = json.loads((out / "manifest.json").read_text())["bill"]
    cost = 2 * bill["prompt_tokens"] + 10 * bill["answer_tokens_at_most"]
    assert bill["cost_at_most"] == pytest.approx(cost / 1e6)


def test_money():
    assert read_price("2,10,1") == Price(2, 10, 1)
    tokens = TaskAnswers(1, prompt_tokens=100, cached_tokens=40, completion_tokens=10)
    assert Price(2, 10, 1).of(tokens) * 1e6 == 60 * 2 + 40 * 1 + 100
    assert Price(2, 10).of(tokens) * 1e6 == 300


def test_answers_are_counted_in_place():
    """With a copy of all reasons for each of n answers, n * n reasons would be copied."""
    total, other = (TaskAnswers(reasons={"a": number}) for number in (1, 2))
    reasons = total.reasons
    assert (total + other).reasons == {"a": 3} and reasons == {"a": 1}
    total += other
    assert total.reasons is reasons == {"a": 3}


@pytest.mark.parametrize("text", ["", "2", "2,x", "2,3,4,5", "-1,2", "nan,1"])
def test_a_price_that_is_none_is_one_line(text):
    with pytest.raises(OptionError, match="--price is in,out") as error:
        read_price(text)
    assert "\n" not in str(error.value)
