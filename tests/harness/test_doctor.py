"""The report of `doctor`: on this machine, and on runs as users write them."""

import hashlib
import io
import json
import shutil
from collections import namedtuple

import datasets
import huggingface_hub.constants
import lm_eval.models.api_models  # noqa: F401  before a test hides what it imports
import pytest
from json_server import JsonServer, serving
from models_server import ModelsServer
from rich.console import Console

from lm_eval_longbench.benchmarks.base import SAMPLES
from lm_eval_longbench.benchmarks.registry import families
from lm_eval_longbench.catalog.model import Source
from lm_eval_longbench.data.open import DAMAGED, Stored
from lm_eval_longbench.harness import doctor, doctor_lines
from lm_eval_longbench.harness.doctor import examine, package_line
from lm_eval_longbench.harness.doctor_report import (
    ERROR,
    OK,
    RESERVE,
    WARNING,
    Line,
    absent_line,
    as_json,
    as_table,
    cache_lines,
    output_line,
    space_line,
    summary,
)
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL

QASPER = "longbench_v1_qasper"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch, own_tasks_only):
    """No key of the developer's reaches a test, and no proxy stands before loopback."""
    for variable in ("LONGBENCH_EMBEDDING_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def empty_caches(tmp_path, monkeypatch):
    """A machine that has no data and no models, and may not ask the hub."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "datasets"))
    return tmp_path


# ---------------------------------------------------------------------- the report

LINES = [
    Line(OK, "first prompt", "head [bold]tail[/bold] \\n", "", ("a", "b", "c", "d")),
    Line(ERROR, "server", "silent", "Start it."),
]


def test_the_table_the_json_and_the_sum():
    console = Console(file=io.StringIO(), width=120)
    console.print(as_table(LINES))
    text = console.file.getvalue()
    assert "a, b, c and 1 more: head [bold]tail[/bold] \\n" in text
    assert "-> Start it." in text
    report = json.loads(as_json(LINES))
    assert report["counts"] == {OK: 1, WARNING: 0, ERROR: 1}
    assert report["lines"][0]["tasks"] == ["a", "b", "c", "d"]
    assert report["lines"][1]["todo"] == "Start it."
    assert summary(LINES).startswith("1 error, 0 warnings")
    assert summary(LINES[:1]) == "No errors, 0 warnings."


# ---------------------------------------------------------------------- this machine


def test_without_arguments_versions_data_and_disk(empty_caches):
    lines = examine([])
    assert list(dict.fromkeys(line.topic for line in lines)) == ["versions", "data", "disk"]
    assert ERROR not in [line.status for line in lines]
    assert [line.todo.split()[2] for line in lines if line.topic == "data"] == ["v1", "v2", "pro"]
    assert not (empty_caches / "hub").exists()


def test_a_package_is_held_to_the_range_of_the_metadata():
    assert package_line("jieba", "0.42.1").status == OK
    for found in ("0.42", None):
        line = package_line("jieba", found)
        assert (line.status, line.todo) == (ERROR, 'pip install "jieba==0.42.1"')
    assert package_line("lm_eval", "0.4.12").status == ERROR
    assert package_line("lm_eval", "0.5.0").status == ERROR


def test_a_harness_of_another_version_is_not_imported(monkeypatch):
    monkeypatch.setattr(doctor, "installed", lambda name: "0.5.0" if name == "lm_eval" else "9")
    monkeypatch.setattr(doctor_lines, "run_lines", None)
    assert {line.topic for line in examine(["--model", "hf"])} == {"versions"}


Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    ("more", "status"), [(-1, ERROR), (0, WARNING), (RESERVE - 1, WARNING), (RESERVE, OK)]
)
def test_space(monkeypatch, tmp_path, more, status):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, 5_000_000_000 + more))
    line = space_line("results", tmp_path / "new" / "er", 5_000_000_000)
    assert line.status == status and "5.0 GB needed" in line.found


def test_caches_need_what_is_not_there(empty_caches):
    sources = [families()[name][0].source for name in ("v1", "pro")]
    converted, downloads = cache_lines(["v1", "pro"])
    assert f"{sum(one.converted for one in sources) / 1e9:.1f} GB needed" in converted.found
    assert f"{sum(one.size for one in sources) / 1e9:.1f} GB needed" in downloads.found


def test_where_results_go(tmp_path):
    new = str(tmp_path / "new")
    assert "goes on where it was" in output_line(None, log_samples=False).todo
    assert output_line(new, log_samples=False).status == WARNING
    assert output_line(new, log_samples=True).status == OK
    (tmp_path / "file").write_text("")
    assert output_line(str(tmp_path / "file" / "out"), log_samples=True).status == ERROR
    assert not (tmp_path / "new").exists()


# ---------------------------------------------------------------------- runs as users write them


def metadata(**options):
    return json.dumps({"longbench": {"data_dir": "sample", **options}})


def of(lines, topic, task=None):
    return [line for line in lines if line.topic == topic and (task is None or task in line.tasks)]


SAMPLE = metadata()


@pytest.fixture
def report():
    """The report on a run on the sample."""

    def run(*arguments, metadata=SAMPLE, **more):
        given = [*arguments, *(("--metadata", metadata) if metadata else ())]
        return examine([str(one) for one in given], **more)

    return run


@pytest.fixture
def hf(report, model_folder):
    def run(*arguments, tasks=f"{QASPER},longbench_v1_trec", **more):
        model = ("--model", "hf", "--model_args", f"pretrained={model_folder}")
        return report(*model, "--tasks", tasks, *arguments, **more)

    return run


def test_hf_without_weights_in_memory(hf, monkeypatch, caplog):
    import transformers

    def refuse(*arguments, **keywords):
        raise AssertionError("weights were loaded")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", refuse)
    lines = hf("--apply_chat_template", "--output_path", "out", "--log_samples")
    assert ERROR not in [line.status for line in lines]
    assert caplog.records == []
    assert [line.status for line in of(lines, "data")] == [WARNING]
    (wrapped,) = of(lines, "chat template", QASPER)
    (raw,) = of(lines, "chat template", "longbench_v1_trec")
    assert wrapped.found.startswith("on") and raw.found.startswith("raw")
    (prompt,) = of(lines, "first prompt", QASPER)
    assert '"<|user|>\\nYou are given a scientific article' in prompt.found
    (limit,) = of(lines, "limit", QASPER)
    assert "the model's config - 128 for the answer" in limit.found
    (generation,) = of(lines, "generation", QASPER)
    assert generation.found.startswith("at most 128 tokens, greedy, 1 answer to a question")
    (bill,) = of(lines, "bill")
    assert bill.found.startswith("9 requests; prompts: at most ")


def test_a_cut_prompt_and_the_official_limits(hf):
    lines = hf(tasks=QASPER, metadata=metadata(truncate_to=300))
    (prompt,) = of(lines, "first prompt")
    assert "cut in the middle from 903 to 300 tokens" in prompt.found
    (limit,) = of(lines, "limit")
    assert limit.status == WARNING and "(officially cut at 3500, 7500" in limit.found
    lines = hf("--gen_kwargs", "max_gen_toks=1", metadata=metadata(truncate_to=3500))
    assert of(lines, "limit", QASPER)[0].found.endswith("an official limit")
    # With the template it does not fit the model.
    assert [line.status for line in of(lines, "limit", QASPER)] == [OK, ERROR]


def test_changed_generation_arguments(hf):
    lines = hf("--gen_kwargs", "max_gen_toks=99,until=X", tasks=QASPER)
    (line,) = of(lines, "generation")
    assert line.status == WARNING
    assert "an output budget of 99 tokens (officially 128)" in line.found
    assert "stop strings (officially none)" in line.found


def test_what_stops_the_run_is_one_error(hf):
    (line,) = of(hf(tasks=QASPER, metadata=metadata(repeats=3)), "task")
    assert line.status == ERROR and "3 times the same" in line.found
    lines = hf(tasks=QASPER, metadata=metadata(truncate_to=10, overlength="fail"))
    assert "are longer than 10 tokens" in of(lines, "task")[0].found
    assert of(hf(tasks=QASPER, metadata=metadata(overlength="skip")), "overlength")


def test_only_the_first_tasks_are_looked_at_unless_all_are_asked_for(hf):
    lines = hf(tasks="longbench_v1_synthetic", first=2)
    assert len(of(lines, "first prompt")) == 2
    assert of(lines, "tasks")[0].found.startswith("1 of 3 tasks")
    lines = hf(tasks="longbench_v1_synthetic", first=None)
    assert len(of(lines, "first prompt")) == 3 and of(lines, "tasks") == []


def test_the_bill_and_the_log_of_chosen_questions(hf, tmp_path):
    more = ("--output_path", tmp_path, "--log_samples")
    lines = hf("--limit", "2", *more, tasks=QASPER, metadata=metadata(truncate_to=3500))
    (bill,) = of(lines, "bill")
    assert bill.found == ("2 requests; prompts: at most 7,000 tokens; answers: at most 256 tokens")
    assert of(lines, "questions")[0].found.startswith("2 of ")
    lines = hf("--samples", json.dumps({QASPER: [0]}), *more, tasks=QASPER)
    assert of(lines, "bill")[0].found.startswith("1 requests")


# ---------------------------------------------------------------------- data


def test_missing_data_is_an_error_and_the_sample_stands_for_it(hf, empty_caches):
    lines = hf("--limit", "0.5", metadata=None)
    (line,) = of(lines, "data")
    assert line.status == ERROR and line.tasks == (QASPER, "longbench_v1_trec")
    assert line.todo.startswith("lm-eval-longbench prepare v1,")
    assert len(of(lines, "first prompt")) == 2
    assert of(lines, "bill")[0].found.startswith("200 requests")  # of the official data
    assert not (empty_caches / "hub").exists()


def test_with_network_the_run_would_fetch_it(hf, empty_caches, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    (line,) = of(hf(tasks=QASPER, metadata=None), "data")
    assert line.status == WARNING and "lm-eval-longbench prepare v1 fetches it" in line.todo
    assert not (empty_caches / "hub").exists()


def test_damaged_data_names_both_hashes(empty_caches, monkeypatch, hf):
    digest = hashlib.sha256(b"the data").hexdigest()
    source = Source("owner/name", "a" * 40, "data.json", digest)
    for one in families()["v2"]:
        monkeypatch.setattr(one, "source", source)
    file = empty_caches / "hub" / "datasets--owner--name" / "snapshots" / ("a" * 40) / "data.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"other data")
    (line,) = of(hf(tasks="longbench_v2", metadata=None), "data")
    assert line.status == ERROR and file.is_file()
    assert digest in line.found and hashlib.sha256(b"other data").hexdigest() in line.found
    assert absent_line("v1", Stored(DAMAGED, file, "0" * 64)).status == ERROR


def test_a_local_copy_is_a_warning_and_what_it_lacks_an_error(hf, tmp_path):
    shutil.copy(SAMPLES / "longbench_v1" / "trec.jsonl", tmp_path)
    error, warning = of(hf(metadata=metadata(data_dir=str(tmp_path))), "data")
    assert (error.status, error.tasks) == (ERROR, (QASPER,))
    assert "qasper.jsonl" in error.found
    assert warning.status == WARNING and "not the pinned official data" in warning.found


# ---------------------------------------------------------------------- models of this machine


def test_a_model_that_is_not_here(report, empty_caches, monkeypatch):
    model = ("--model", "hf", "--model_args", "pretrained=owner/model")
    lines = report(*model, "--tasks", QASPER, "--apply_chat_template")
    (line,) = of(lines, "model")
    assert (line.status, line.todo) == (ERROR, "hf download owner/model")
    (line,) = of(lines, "tokenizer")
    assert line.status == ERROR and line.todo.startswith("hf download owner/model --include")
    (prompt,) = of(lines, "first prompt")
    assert "not as sent" in prompt.found
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    (line,) = of(report(*model, "--tasks", QASPER), "model")
    assert line.status == WARNING


def test_no_model_and_no_weights(report, tokenizer_folder):
    (line,) = of(report("--model", "hf", "--tasks", QASPER), "model")
    assert line.status == ERROR and "pretrained=" in line.todo
    given = f"pretrained={tokenizer_folder}"
    (line,) = of(report("--model", "hf", "--model_args", given, "--tasks", QASPER), "model")
    assert line.status == WARNING and "no weights" in line.found


def test_a_tokenizer_without_a_template(report, tokenizer_folder, tmp_path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    tokenizer.chat_template = tokenizer.eos_token = None
    tokenizer.save_pretrained(tmp_path)
    model = ("--model", "hf", "--model_args", f"pretrained={tmp_path}")
    lines = report(*model, "--tasks", QASPER, "--apply_chat_template")
    (line,) = of(lines, "chat template")
    assert line.status == ERROR and "cannot be applied" in line.found
    (line,) = of(lines, "tokenizer")
    assert line.status == WARNING and "without an end-of-text token" in line.found
    (line,) = of(report(*model, "--tasks", QASPER), "chat template")
    assert (line.status, line.found) == (OK, "off, as for a base model")


def test_a_template_that_is_not_asked_for(hf):
    (line,) = of(hf(tasks=QASPER), "chat template")
    assert (line.status, line.found) == (WARNING, "chat template off (officially on)")
    assert line.todo == "Add --apply_chat_template unless this is a base model."
    lines = hf("--apply_chat_template", "--system_instruction", "Be short.", tasks=QASPER)
    assert "a system instruction (officially none)" in of(lines, "chat template")[0].found


@pytest.mark.parametrize(
    ("model", "module", "todo"),
    [
        ("hf", "torch", 'pip install "lm-eval-longbench[hf]"'),
        ("local-completions", "aiohttp", 'pip install "lm-eval-longbench[api]"'),
        ("vllm", "vllm", 'pip install "lm-eval[vllm]"'),
    ],
)
def test_a_missing_package_comes_with_what_installs_it(report, monkeypatch, model, module, todo):
    find = doctor_lines.importlib.util.find_spec
    monkeypatch.setattr(
        doctor_lines.importlib.util, "find_spec", lambda one: None if one == module else find(one)
    )
    given = "pretrained=none,base_url=http://127.0.0.1:9/v1/completions"
    (line,) = of(report("--model", model, "--model_args", given, "--tasks", QASPER), "packages")
    assert (line.status, line.todo) == (ERROR, todo)
    assert line.found.endswith(f"not installed: {module}")


# ---------------------------------------------------------------------- servers


@pytest.fixture
def server():
    with serving(ModelsServer()) as one:
        yield one


@pytest.fixture
def chat(report, server):
    """A run on the chat server."""

    def run(tasks, *arguments, path="/v1/chat/completions", model="model=tiny,", **more):
        base_url = server.url(path) if path.startswith("/") else path
        return report(
            *("--model", "local-chat-completions"),
            *("--model_args", f"{model}base_url={base_url}"),
            *("--tasks", tasks, *arguments, "--apply_chat_template"),
            **more,
        )

    return run


def test_a_server_sees_one_get_and_one_embedding_and_no_generation(chat, server):
    lines = chat(
        "longbench_pro_t3_2,longbench_pro_t4_1,longbench_v2_cot",
        metadata=metadata(embedding_model=OFFICIAL_MODEL, embedding_url=server.url("/v1")),
        first=None,
    )
    assert server.asked == [("GET", "/v1/models"), ("POST", "/v1/embeddings")]
    assert ERROR not in [line.status for line in lines]
    assert [line.status for line in of(lines, "embeddings")] == [OK]
    assert len(of(lines, "first prompt")) == 4  # pass two of chain of thought is among them
    assert "40,960 tokens" in of(lines, "server")[1].found
    assert {line.status for line in of(lines, "server")} == {OK, WARNING}


def test_a_completions_server_is_not_asked_for_its_tokenizer(report, server, tokenizer_folder):
    given = f"model=tiny,base_url={server.url('/v1/completions')},tokenizer={tokenizer_folder}"
    lines = report("--model", "local-completions", "--model_args", given, "--tasks", QASPER)
    assert server.asked == [("GET", "/v1/models")]
    assert of(lines, "tokenizer")[0].status == OK
    (limit,) = of(lines, "limit")
    assert "2048" in limit.found and limit.status == WARNING


def test_our_own_client(report, server):
    given = f"model=tiny,base_url={server.url('/v1')},endpoint=chat"
    lines = report("--model", "longbench-api", "--model_args", given, "--tasks", "longbench_v2")
    assert server.asked == [("GET", "/v1/models")]
    assert of(lines, "server")[0].status == OK
    (line,) = of(lines, "chat template")
    assert line.status == ERROR and "Add --apply_chat_template" in line.todo


def test_the_server_refuses_what_does_not_fit(chat, tokenizer_folder):
    more = metadata(truncate_to=120000, tokenizer=tokenizer_folder)
    line = of(chat("longbench_v2", metadata=more), "server", "longbench_v2")[-1]
    assert line.status == ERROR and "40,960" in line.found
    assert "max_length=40960" in line.todo


def test_nobody_there(chat):
    with JsonServer(None) as one:
        address = one.url("/v1/chat/completions")
    (line,) = of(chat("longbench_v2", path=address), "server")
    assert line.status == ERROR and "does not answer (ConnectionError)" in line.found


@pytest.mark.parametrize("status", [401, 404])
def test_a_server_that_refuses_the_list(chat, server, monkeypatch, status):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    server.status = status
    (line,) = of(chat("longbench_v2"), "server")
    assert line.status == (ERROR if status == 401 else WARNING)
    assert f"status {status}" in line.found and "secret" not in str(line)
    assert status != 401 or "OPENAI_API_KEY" in line.todo


def test_a_key_that_is_missing(report):
    given = ("--model", "anthropic-chat", "--model_args", "model=x", "--tasks", "longbench_v2")
    (line,) = of(report(*given, "--apply_chat_template"), "server")
    assert line.status == ERROR and "ANTHROPIC_API_KEY" in line.found


def test_a_model_that_the_server_does_not_have(chat, server):
    server.models = [{"id": "tiny-2"}, {"id": "other"}]
    _, line = of(chat("longbench_v2"), "server")
    assert line.status == WARNING and "Did you mean 'tiny-2'" in line.found
    _, line = of(chat("longbench_v2", model=""), "server")
    assert line.status == ERROR


@pytest.mark.parametrize(("path", "status"), [("/v1/completions", ERROR), ("/v1", WARNING)])
def test_an_address_that_the_model_cannot_post_to(chat, path, status):
    first, *_ = of(chat("longbench_v2", path=path), "server")
    assert first.status == status and "/v1/chat/completions" in first.todo


@pytest.mark.parametrize("length", [{}, {"context_length": 8192}, {"max_model_len": True}])
def test_servers_tell_the_length_under_several_names(chat, server, length):
    server.models = [{"id": "tiny", **length}]
    told = of(chat("longbench_v2"), "server")[1].found
    assert ("8,192" in told) if "context_length" in length else ("does not tell" in told)


# ---------------------------------------------------------------------- embeddings


def test_summaries_need_embeddings(report, model_folder, empty_caches):
    def said(**options):
        lines = report(
            *("--model", "longbench-extractive", "--tasks", "longbench_pro_t4_1"),
            metadata=metadata(**options),
        )
        return of(lines, "embeddings")

    (line,) = said()
    assert line.status == WARNING and "lm-eval-longbench score" in line.todo
    other, here = said(embedding_model=str(model_folder))
    assert (other.status, here.status) == (WARNING, OK)
    assert OFFICIAL_MODEL in other.found
    (line,) = said(embedding_model=OFFICIAL_MODEL)
    assert (line.status, line.todo) == (ERROR, f"hf download {OFFICIAL_MODEL}")
    (line,) = said(embedding_model=OFFICIAL_MODEL, embedding_url="http://127.0.0.1:9/v1")
    assert line.status == ERROR and "cannot be reached" in line.found


# ---------------------------------------------------------------------- arguments and names


def test_what_run_refuses_is_said_as_run_says_it(report):
    for arguments, words in (
        (("--model", "hff", "--tasks", QASPER), "Did you mean 'hf'?"),
        (("--tasks", QASPER, "--truncate-to", "1"), "at least 2"),
    ):
        line = report(*arguments)[-1]
        assert (line.status, line.topic) == (ERROR, "arguments")
        assert words in line.found


def test_tasks_of_others_are_named_and_left_alone(report, tmp_path):
    (tmp_path / "own.yaml").write_text(
        "task: my_own\ndataset_path: nobody/nothing\noutput_type: generate_until\n"
    )
    lines = report(
        *("--model", "longbench-extractive", "--include_path", tmp_path),
        *("--tasks", "my_own,longbench_v1_lcc"),
    )
    (line,) = of(lines, "tasks")
    assert (line.status, line.tasks) == (OK, ("my_own",))
    assert len(of(lines, "first prompt")) == 1


def test_retrieval_of_this_package_is_not_official(report):
    lines = report("--model", "longbench-extractive", "--tasks", "longbench_v2_rag")
    (line,) = of(lines, "protocol")
    assert line.status == WARNING and "chosen by this package" in line.found
