"""The Task subclass under the harness's own evaluator, with a model that records its requests."""

import hashlib
import json
import logging

import pytest
from asked import prompts_of, rows_of

from lm_eval_longbench.benchmarks.base import SAMPLES
from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.prompts.truncation import halves_decoded_apart

TASKS = {**V1.tasks, **E.tasks}


def cut_one_by_one(prompt, tokenizer, limit):
    ids = tokenizer(prompt, truncation=False)["input_ids"]
    if len(ids) <= limit:
        return prompt
    return halves_decoded_apart(ids, limit, lambda part: tokenizer.decode(part, True))


def load_fast(folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def test_every_task_sends_official_prompts_greedily(evaluate, recording_lm):
    results = evaluate(recording_lm, ["longbench_v1", "longbench_v1_e"])
    assert set(results["configs"]) == set(TASKS)
    sent = {}
    for prompt, arguments in recording_lm.requests:
        sent.setdefault(prompt, []).append(arguments)
    for task in TASKS.values():
        for prompt in prompts_of(task.name):
            assert {
                "until": [],
                "max_gen_toks": task.budget,
                "do_sample": False,
                "temperature": 0.0,
            } in sent[prompt]
    assert len(recording_lm.requests) == sum(len(prompts_of(task)) for task in TASKS)


def test_truncation_is_the_official_rule_with_the_named_tokenizer(
    evaluate, recording_lm, tokenizer_folder
):
    task, limit = "longbench_v1_multifieldqa_zh", 101
    tokenizer = load_fast(tokenizer_folder)
    options = {"truncate_to": limit, "tokenizer": tokenizer_folder}
    result = evaluate(recording_lm, [task], options)
    expected = [cut_one_by_one(prompt, tokenizer, limit) for prompt in prompts_of(task)]
    assert recording_lm.prompts == expected
    assert result["results"][task]["truncated,none"] == 1.0
    run = result["configs"][task]["metadata"]["longbench_run"]
    assert (run["limit"], run["limit_source"]) == (limit, "truncate_to=101")


def test_without_a_known_limit_prompts_go_out_whole_with_one_warning(
    evaluate, recording_lm, caplog
):
    tasks = ["longbench_v1_qasper", "longbench_v1_hotpotqa"]
    with caplog.at_level(logging.WARNING):
        result = evaluate(recording_lm, tasks)
    assert recording_lm.prompts == [p for task in tasks for p in prompts_of(task)]
    said = [record.message for record in caplog.records if "length limit" in record.message]
    assert len(said) == 1
    assert "truncate_to" in said[0] and "max_length" in said[0]
    assert result["results"]["longbench_v1_qasper"]["truncated,none"] == 0.0


def test_overlength_skip_drops_documents_and_shows_the_kept_count(
    evaluate, recording_lm, tokenizer_folder, caplog
):
    task = "longbench_v1_qasper"
    tokenizer = load_fast(tokenizer_folder)
    lengths = [len(tokenizer(prompt)["input_ids"]) for prompt in prompts_of(task)]
    limit = sorted(lengths)[1]  # two documents fit
    options = {"truncate_to": limit, "tokenizer": tokenizer_folder, "overlength": "skip"}
    with caplog.at_level(logging.WARNING):
        result = evaluate(recording_lm, [task], options, log_samples=True)
    kept = [
        prompt for prompt, length in zip(prompts_of(task), lengths, strict=True) if length <= limit
    ]
    assert len(kept) == 2
    assert recording_lm.prompts == kept
    assert result["n-samples"][task] == {"original": len(lengths), "effective": 2}
    assert len(result["samples"][task]) == 2
    assert result["results"][task]["truncated,none"] == 0.0
    assert f"kept 2 of {len(lengths)} documents" in caplog.text


def test_chat_policy_wraps_all_but_six(evaluate, recording_lm):
    tasks = ["longbench_v1", "longbench_v1_e"]
    evaluate(recording_lm, tasks, apply_chat_template=True)
    wrapped = {f"<|user|>\n{p}\n<|assistant|>\n" for task in TASKS for p in prompts_of(task)}
    raw = {p for task in TASKS.values() if not task.chat for p in prompts_of(task.name)}
    assert sum(not task.chat for task in V1.tasks.values()) == 6
    for prompt in recording_lm.prompts:
        assert (prompt in raw) != (prompt in wrapped)
    assert {p for p in recording_lm.prompts if p in raw} == raw
    assert any(p in wrapped for p in recording_lm.prompts)


def test_the_chat_template_never_pushes_a_prompt_over_the_models_length(
    evaluate, recording_lm, tokenizer_folder
):
    task = "longbench_v1_narrativeqa"
    tokenizer = load_fast(tokenizer_folder)
    # 100 tokens of system text are more than the reserve.
    system = "word " * 100
    evaluate(
        recording_lm,
        [task],
        model_args={"pretrained": tokenizer_folder, "max_length": 600},
        apply_chat_template=True,
        system_instruction=system,
    )
    lengths = [len(tokenizer(prompt)["input_ids"]) for prompt in recording_lm.prompts]
    assert max(lengths) <= 600 - 128
    assert max(lengths) > 600 - 128 - 40  # cut by what is too much, not by more
    for prompt in recording_lm.prompts:
        assert prompt.startswith(f"<|system|>\n{system}")  # nothing was cut on the left


def test_sample_logs_are_short(evaluate, recording_lm):
    task = "longbench_v1_e_hotpotqa"
    result = evaluate(recording_lm, [task], log_samples=True)
    prompts = prompts_of(task)
    for sample, prompt in zip(result["samples"][task], prompts, strict=True):
        logged, arguments = sample["arguments"][0]
        digest = hashlib.sha256(prompt.encode()).hexdigest()
        assert logged == {
            "sha256": digest,
            "characters": len(prompt),
            "head": prompt[:256],
            "tail": prompt[-256:],
        }
        assert arguments["max_gen_toks"] == 32
        assert sample["prompt_hash"] == digest
        assert sample["doc"]["prompt"]["sha256"] == digest
        assert "context" not in sample["doc"]
        assert len(json.dumps(sample)) < 4000 < len(prompt)


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("longbench_v1_hotpotqa", {}),
        ("longbench_v2_code_repository", {}),
        ("longbench_v2_no_context", {}),
        ("longbench_pro_t1_1", {"only": {"language": "Chinese"}, "repeats": 2}),
    ],
)
def test_sample_logs_know_the_document(evaluate, recording_lm, task, options):
    """Whichever questions are chosen, and whether the prompt shows the document or not."""
    found = evaluate(recording_lm, [task], options, log_samples=True)["samples"][task]
    documents = {}
    for file in ("longbench_v1/hotpotqa.jsonl", "longbench_v2/data.json", "longbench_pro"):
        path = SAMPLES / file
        path = path / "longbench_pro.json" if path.is_dir() else path
        text = path.read_text(encoding="utf-8")
        rows = json.loads(text) if path.suffix == ".json" else map(json.loads, text.splitlines())
        documents |= {row.get("_id", row.get("id")): row["context"] for row in rows}
    assert found
    for sample in found:
        context = documents[sample["doc"].get("_id", sample["doc"].get("id"))]
        expected = hashlib.sha256(context.encode()).hexdigest()
        assert sample["doc"]["prompt"]["document_sha256"] == expected


def test_request_cache_is_not_used(evaluate, recording_lm, tokenizer_folder, caplog):
    """Its key knows nothing of truncate_to: two limits in a row must give two sets of prompts."""
    task = "longbench_v1_qasper"
    for limit in (60, 80):
        options = {"truncate_to": limit, "tokenizer": tokenizer_folder}
        with caplog.at_level(logging.WARNING):
            evaluate(recording_lm, [task], options, cache_requests=True)
    number = len(prompts_of(task))
    assert recording_lm.prompts[:number] != recording_lm.prompts[number:]
    assert caplog.text.count("cache_requests is not used") == 1


def test_local_data_is_marked_in_every_result(evaluate, recording_lm, tmp_path):
    task = "longbench_v1_qasper"
    row = rows_of(task)[0]
    file = tmp_path / "qasper.jsonl"
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    result = evaluate(recording_lm, [task], {"data_dir": str(tmp_path)})
    label = f"local-{hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"
    assert result["versions"][task] == f"1.2 data: {label}"
    assert result["configs"][task]["metadata"]["longbench_run"]["data"] == label


def load_overridden(**overrides):
    from lm_eval.tasks import TaskManager

    from lm_eval_longbench.task_folder import task_folder

    manager = TaskManager(
        include_path=str(task_folder()),
        include_defaults=False,
        metadata={"longbench": {"data_dir": "sample"}},
    )
    return manager.load({"group": "mine", "task": [{"task": "longbench_v1_qasper", **overrides}]})


def test_a_users_own_filters_stay(recording_lm):
    from lm_eval import evaluate

    recording_lm.answer = "<answer>yes</answer>"
    filters = [
        {
            "name": "inside",
            "filter": [
                {"function": "regex", "regex_pattern": "<answer>(.*)</answer>"},
                {"function": "take_first"},
            ],
        }
    ]
    result = evaluate(recording_lm, load_overridden(filter_list=filters), bootstrap_iters=0)
    (sample, *_) = result["samples"]["longbench_v1_qasper"]
    assert sample["filtered_resps"] == ["yes"]
    assert "score,inside" in result["results"]["longbench_v1_qasper"]
    config = result["configs"]["longbench_v1_qasper"]
    assert config["filter_list"] == config["metadata"]["longbench_run"]["filters"] == filters


def test_only_the_harnesss_own_means_have_a_standard_error(evaluate, recording_lm, capfd):
    recording_lm.answer = "The correct answer is (A)"
    found = evaluate(recording_lm, ["longbench_v2"], bootstrap_iters=100)["results"]["longbench_v2"]
    assert found["acc_stderr,none"] > 0
    assert found["acc_hard_stderr,none"] == "N/A"  # it would draw samples in processes
    assert "Bootstrapping" not in capfd.readouterr().out


def test_chosen_questions_have_their_place_among_them(evaluate, recording_lm):
    task = "longbench_v1_qasper"
    found = evaluate(recording_lm, [task], samples={task: [1, 3]}, log_samples=True)
    logged = found["samples"][task]
    assert [row["doc"]["index"] for row in logged] == [1, 3]
    assert len({row["doc_id"] for row in logged}) == 2
