"""The whole preflight."""

import json
import logging

import pytest

from lm_eval_longbench.doctor import checkup
from lm_eval_longbench.doctor.checkup import answers, examine, overheard, warning_lines
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.semantic.embedder import OFFICIAL_MODEL

# -------------------------------------------------- Warnings of the package become lines


def test_warnings_are_kept_and_not_shown(caplog):
    ours = logging.getLogger("lm_eval_longbench.harness.longbench_v2_rag")
    with overheard() as records:
        ours.warning("chunks are our own")
        ours.info("nothing")
        logging.getLogger("elsewhere").warning("theirs")
    assert [record.getMessage() for record in records] == ["chunks are our own"]
    assert [record.getMessage() for record in caplog.records] == ["theirs"]
    ours.warning("after")
    assert caplog.records[-1].getMessage() == "after"


def test_what_the_report_says_itself_is_not_said_twice():
    with overheard() as records:
        logging.getLogger("lm_eval_longbench.harness.task").warning("no limit")
        logging.getLogger("lm_eval_longbench.data.load_array").warning("not official")
        logging.getLogger("lm_eval_longbench.harness.longbench_v2_rag").warning("own chunks")
    (line,) = warning_lines(records, "longbench_v2_rag")
    assert (line.status, line.found) == (WARNING, "own chunks")
    assert line.tasks == ("longbench_v2_rag",)


# -------------------------------------------------- The preflight of a run as a whole: hf, servers


def of(lines, topic, task=None):
    return [line for line in lines if line.topic == topic and (task is None or task in line.tasks)]


def metadata(**options):
    return json.dumps({"longbench": {"data_dir": "sample", **options}})


@pytest.fixture
def hf(report, model_folder):
    def run(*arguments, tasks="longbench_v1_qasper,longbench_v1_trec", **more):
        model = ("--model", "hf", "--model_args", f"pretrained={model_folder}")
        return report(*model, "--tasks", tasks, *arguments, **more)

    return run


@pytest.fixture
def chat(report, models_server):
    """A run on the chat server."""

    def run(tasks, *arguments, args="", **more):
        base_url = models_server.url("/v1/chat/completions")
        return report(
            *("--model", "local-chat-completions"),
            *("--model_args", f"model=tiny,base_url={base_url}{args}"),
            *("--tasks", tasks, "--apply_chat_template"),
            *arguments,
            **more,
        )

    return run


def test_hf_without_weights_in_memory(hf, monkeypatch):
    import transformers

    def refuse(*arguments, **keywords):
        raise AssertionError("weights were loaded")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", refuse)
    lines = hf("--apply_chat_template", "--output_path", "out", "--log_samples")
    assert ERROR not in [line.status for line in lines]
    assert [line.status for line in of(lines, "data")] == [WARNING]
    (wrapped,) = of(lines, "chat template", "longbench_v1_qasper")
    (raw,) = of(lines, "chat template", "longbench_v1_trec")
    assert wrapped.found.startswith("on") and raw.found.startswith("raw")
    (prompt,) = of(lines, "first prompt", "longbench_v1_qasper")
    assert '"<|user|>\\nYou are given a scientific article' in prompt.found
    (limit,) = of(lines, "limit", "longbench_v1_qasper")
    assert "the model's config - 128 for the answer" in limit.found
    (stops,) = of(lines, "stops", "longbench_v1_qasper")
    assert stops.tasks == ("longbench_v1_qasper", "longbench_v1_trec")


def test_a_cut_prompt_is_told(hf):
    lines = hf(tasks="longbench_v1_qasper", metadata=metadata(truncate_to=300))
    (prompt,) = of(lines, "first prompt")
    assert "cut in the middle from 903 to 300 tokens" in prompt.found
    (limit,) = of(lines, "limit")
    assert limit.status == WARNING and "no official run" in limit.found


def test_changed_budget_and_stops(hf):
    lines = hf("--gen_kwargs", "max_gen_toks=99,until=X", tasks="longbench_v1_qasper")
    assert [line.status for line in of(lines, "output budget")] == [WARNING]
    (line,) = of(lines, "stops", "longbench_v1_qasper")
    assert "until='X', from --gen_kwargs" in line.found


def test_greedy_repeats_stop_the_run(hf):
    lines = hf(tasks="longbench_v1_qasper", metadata=metadata(repeats=3))
    (line,) = of(lines, "task")
    assert line.status == ERROR
    assert "3 times the same" in line.found
    assert of(lines, "sampling") == []


def test_only_the_first_tasks_are_looked_at_unless_all_are_asked_for(hf):
    lines = hf(tasks="longbench_v1_synthetic", first=2)
    assert len(of(lines, "first prompt")) == 2
    (line,) = of(lines, "tasks")
    assert line.found.startswith("1 of 3 tasks")
    lines = hf(tasks="longbench_v1_synthetic", first=None)
    assert len(of(lines, "first prompt")) == 3
    assert of(lines, "tasks") == []


def test_missing_data_is_an_error_and_nothing_is_downloaded(hf, empty_caches):
    lines = hf(metadata=None)
    (line,) = of(lines, "data")
    assert line.status == ERROR
    assert "lm-eval-longbench prepare v1" in line.todo
    assert of(lines, "first prompt") == []
    assert not (empty_caches / "hub").exists()


def test_a_missing_tokenizer_leaves_the_uncut_prompt(report, empty_caches):
    lines = report(
        *("--model", "hf", "--model_args", "pretrained=owner/model"),
        *("--tasks", "longbench_v1_qasper", "--apply_chat_template"),
    )
    assert [line.status for line in of(lines, "tokenizer")] == [ERROR]
    (prompt,) = of(lines, "first prompt")
    assert "not as sent" in prompt.found


def test_a_tokenizer_without_a_template_in_a_chat_run(report, tokenizer_folder, tmp_path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    tokenizer.chat_template = None
    tokenizer.save_pretrained(tmp_path)
    model = ("--model", "hf", "--model_args", f"pretrained={tmp_path}")
    lines = report(*model, "--tasks", "longbench_v1_qasper", "--apply_chat_template")
    (line,) = of(lines, "chat template")
    assert line.status == ERROR
    assert "cannot be applied" in line.found
    (line,) = of(report(*model, "--tasks", "longbench_v1_qasper"), "chat template")
    assert (line.status, line.found) == (OK, "off, as for a base model")


# ---------------------------------------------------------------------- servers


def test_a_server_sees_one_get_and_one_embedding_and_no_generation(chat, models_server):
    lines = chat(
        "longbench_pro_t3_2,longbench_pro_t4_1,longbench_v2_cot",
        metadata=metadata(embedding_model=OFFICIAL_MODEL, embedding_url=models_server.url("/v1")),
        first=None,
    )
    assert models_server.asked == [("GET", "/v1/models"), ("POST", "/v1/embeddings")]
    assert ERROR not in [line.status for line in lines]
    assert [line.status for line in of(lines, "embeddings")] == [OK, OK]
    assert len(of(lines, "first prompt")) == 4  # pass two of chain of thought is among them
    assert {line.status for line in of(lines, "server")} == {OK, WARNING}


def test_a_completions_server_is_not_asked_for_its_tokenizer(
    report, models_server, tokenizer_folder
):
    base_url = models_server.url("/v1/completions")
    lines = report(
        *("--model", "local-completions"),
        *("--model_args", f"model=tiny,base_url={base_url},tokenizer={tokenizer_folder}"),
        *("--tasks", "longbench_v1_qasper"),
    )
    assert models_server.asked == [("GET", "/v1/models")]
    (line,) = of(lines, "tokenizer")
    assert "the harness would ask the server for one first" in line.found
    (limit,) = of(lines, "limit")
    assert "2048" in limit.found and limit.status == WARNING


def test_messages_make_six_datasets_incomparable(chat):
    lines = chat("longbench_v1_trec,longbench_v1_qasper")
    (line,) = of(lines, "chat template", "longbench_v1_trec")
    assert line.status == WARNING
    (line,) = of(lines, "chat template", "longbench_v1_qasper")
    assert line.status == OK


def test_the_cache_of_the_harness_is_refused(chat, tmp_path):
    assert [line.status for line in of(chat("longbench_v2"), "cache")] == []
    lines = chat("longbench_v2", "--use_cache", str(tmp_path / "cache"))
    assert [line.status for line in of(lines, "cache")] == [ERROR]


def test_the_server_refuses_what_does_not_fit(chat, tokenizer_folder):
    lines = chat(
        "longbench_v2",
        metadata=metadata(truncate_to=120000, tokenizer=tokenizer_folder),
    )
    error = of(lines, "server", "longbench_v2")[-1]
    assert error.status == ERROR
    assert "40,960" in error.found


# ---------------------------------------------------------------------- tasks


def test_no_tasks_and_unknown_tasks(report):
    model = ("--model", "longbench-extractive")
    (line,) = of(report(*model), "tasks")
    assert line.status == ERROR and "--tasks" in line.todo
    (line,) = of(report(*model, "--tasks", "longbench_v1_qaspar"), "tasks")
    assert line.status == ERROR
    assert "Did you mean 'longbench_v1_qasper'?" in line.found


def test_tasks_of_others_are_named_and_left_alone(report, tmp_path):
    (tmp_path / "own.yaml").write_text(
        "task: my_own\ndataset_path: nobody/nothing\noutput_type: generate_until\n"
    )
    lines = report(
        *("--model", "longbench-extractive", "--include_path", str(tmp_path)),
        *("--tasks", "my_own,longbench_v1_lcc"),
    )
    (line,) = of(lines, "tasks")
    assert (line.status, line.tasks) == (OK, ("my_own",))
    assert len(of(lines, "first prompt")) == 1


def test_own_retrieval_is_warned_of(report):
    lines = report("--model", "longbench-extractive", "--tasks", "longbench_v2_rag")
    (line,) = of(lines, "warning")
    assert "not comparable with official RAG" in line.found


@pytest.mark.parametrize(
    ("more", "number"),
    [
        ({}, 4 + 3 * 60),
        ({"limit": 2.0}, 2 + 3 * 2),
        ({"limit": 0.1}, 1 + 3 * 6),
        ({"limit": 1000.0}, 4 + 3 * 60),
        ({"samples": {"a": [0, 3]}}, 2 + 3 * 60),
    ],
)
def test_answers_are_counted_for_the_disk(a_run, a_leaf, more, number):
    leaves = [a_leaf("a"), a_leaf("b", "longbench_pro_t1_1", repeats=3)]
    assert answers(a_run(**more), leaves, {"a": 4, "b": 60}) == number


def test_the_option_repeats_counts(a_run, a_leaf):
    leaf = a_leaf("b", "longbench_pro_t1_1", metadata={"longbench": {"repeats": 5}}, repeats=3)
    assert answers(a_run(), [leaf], {"b": 60}) == 300


# -------------------------------------------------- The whole preflight without a run, and with ar


def test_without_arguments_versions_data_and_disk(empty_caches):
    lines = examine([])
    assert list(dict.fromkeys(line.topic for line in lines)) == ["versions", "data", "disk"]
    assert ERROR not in [line.status for line in lines]
    assert [line.status for line in lines if line.topic == "data"] == [WARNING] * 3


def test_arguments_that_do_not_go_together_are_an_error(report, statuses):
    lines = report("--model", "hf", "--tasks", "longbench_v1_lcc", "--log_samples")
    (line,) = [line for line in lines if line.topic == "arguments"]
    assert line.status == ERROR
    assert "--output_path" in line.found


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ('{"longbench": {"truncate": 5}}', "Did you mean 'truncate_to'?"),
        ('{"longbench": {"truncate_to": 1}}', "at least 2"),
    ],
)
def test_a_wrong_option_is_an_error(report, metadata, words):
    lines = report("--tasks", "longbench_v1_lcc", metadata=metadata)
    (line,) = [line for line in lines if line.topic == "arguments"]
    assert line.status == ERROR
    assert words in line.found


def test_an_unknown_model_is_an_error(report):
    lines = report("--model", "hff", "--tasks", "longbench_v1_lcc")
    assert "Did you mean 'hf'?" in lines[-1].found


def test_a_presets_settings_are_told(report):
    lines = report(
        *("--model", "longbench-extractive", "--tasks", "longbench_pro_t3_2"),
        preset="Gemma-3-27B-It",
    )
    (line,) = [line for line in lines if line.topic == "preset"]
    assert "truncate_to=120000" in line.found


def test_without_the_harness_only_versions_are_looked_at(monkeypatch):
    monkeypatch.setattr(checkup, "installed", lambda name: None)
    assert {line.topic for line in examine(["--model", "hf"])} == {"versions"}
