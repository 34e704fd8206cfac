"""Runs as they are: nothing may be found different, whatever the task, options and backend."""

import shutil
from pathlib import Path

import pytest
from real_runs import AnsweringLM, Files, write_run

from lm_eval_longbench.benchmarks.base import SAMPLES
from lm_eval_longbench.check.verification import DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.check.verify import verify

WRITER = Path(__file__).parent / "ranks_writer.py"
QASPER = "longbench_v1_qasper"
OFFICIAL_EMBEDDINGS = "Qwen/Qwen3-Embedding-8B"


def in_turn(number, prompt):
    texts = ("The harbor opened in spring.", "[Answer]\nB", "", "<think>hm</think>A ledger.")
    return texts[number % 4]


def kinds(report, status):
    return {check.kind for check in report.with_status(status)}


def assert_confirmed(report, not_checkable=(), status=0):
    assert report.with_status(DIFFERENT) == []
    assert report.unreadable == []
    assert kinds(report, NOT_CHECKABLE) == set(not_checkable)
    assert report.exit_status == status


def test_everything_is_confirmed(base_run):
    report = verify([base_run])
    assert_confirmed(report)
    names = {check.name for check in report.checks if check.kind == "figures"}
    assert {"score,none", "score_stderr,none", "score_8k_plus,none", "acc_hard,none"} <= names
    assert {"pass_at_n,none", "acc_stderr,none", "failed,none"} <= names
    groups = {(check.place, check.name) for check in report.checks if check.kind == "groups"}
    group = "own_single_doc_qa"
    assert groups == {(group, "score,none")}
    official = {check.place for check in report.checks if check.kind == "official figures"}
    assert len(official) == 8 and group not in official


def test_every_mode_of_v2(v2_run):
    report = verify([v2_run])
    # Chunks are not in the log.
    assert_confirmed(report, {"prompts"})
    (said,) = [check for check in report.with_status(NOT_CHECKABLE) if check.kind == "prompts"]
    assert said.place == "longbench_v2_rag"
    confirmed = {(check.kind, check.place) for check in report.with_status("confirmed")}
    assert ("prompts", "longbench_v2_cot_answer") in confirmed
    assert ("groups", "longbench_v2_domains") in confirmed


def test_failed_reasoning_needs_no_log_of_pass_one(v2):
    failed = {row["doc"]["_id"] for row in v2.rows("longbench_v2_cot") if row["failed"]}
    answers = v2.rows("longbench_v2_cot_answer")
    answered = [row for row in answers if row["doc"]["_id"] in failed and row["resps"][0][0]]
    assert failed and answered
    v2.log("longbench_v2_cot").unlink()
    report = verify([v2.folder])
    assert report.with_status(DIFFERENT) == []
    said = [c for c in report.with_status(NOT_CHECKABLE) if c.place == "longbench_v2_cot_answer"]
    assert {check.kind for check in said} == {"prompts"}
    assert "Pass one was another run" in said[0].meaning
    # The log is one of a task of this run, whose own figure is without it now.
    assert report.exit_status == 3


@pytest.mark.parametrize(
    "options",
    [
        {"truncate_to": 500},
        {},  # the model's own length: some are cut further, for the chat template
        {"overlength": "skip", "truncate_to": 2000},
        {"truncate_to": 501, "log_prompts": "full"},
    ],
)
def test_cut_prompts(tmp_path, model_folder, options):
    tasks = ["longbench_v1_qasper", "longbench_v1_lcc", "longbench_v2_code_repository"]
    write_run(
        tmp_path,
        "hf",
        tasks,
        options,
        {"pretrained": model_folder, "device": "cpu"},
        gen_kwargs={"max_gen_toks": 2},
        apply_chat_template=True,
        limit=6,
    )
    report = verify([tmp_path])
    skipped = options.get("overlength") == "skip"
    assert_confirmed(report)
    cut = {check.place for check in report.checks if check.kind == "cut prompts"}
    assert bool(cut) is not skipped
    if skipped:  # they are known from the data
        asked = {check.place for check in report.checks if check.name == "asked"}
        assert asked == set(tasks)


def test_prompts_cut_further_than_the_limit(tmp_path, model_folder):
    """A long system instruction takes more room than is in reserve for a chat template."""
    model = {"pretrained": model_folder, "device": "cpu", "max_length": 700}
    system = "Answer shortly and truly. "
    prompts = []
    for name, times in (("plain", 0), ("system", 12), ("long", 40)):
        write_run(
            tmp_path / name,
            "hf",
            [QASPER],
            {},
            model,
            gen_kwargs={"max_gen_toks": 2},
            limit=2,
            apply_chat_template=bool(times),
            system_instruction=system * times or None,
        )
        rows = Files(tmp_path / name).rows(QASPER)
        assert all(row["doc"]["prompt"]["truncated"] for row in rows)
        prompts.append({row["doc"]["prompt"]["sha256"] for row in rows})
    assert not (prompts[0] & prompts[1]) | (prompts[1] & prompts[2])
    assert_confirmed(verify([tmp_path / "plain"]))
    report = verify([tmp_path / "system"])
    assert_confirmed(report)
    # Further than is tried: nothing is said against the run.
    report = verify([tmp_path / "long"])
    assert_confirmed(report, {"cut prompts"})
    said = {check.kind: check.meaning for check in report.with_status(NOT_CHECKABLE)}
    assert "long system instruction" in said["cut prompts"]


def test_another_tokenizer_cannot_check_cuts(tmp_path, model_folder, tokenizer_folder):
    arguments = {"pretrained": model_folder, "device": "cpu"}
    task = "longbench_v1_qasper"
    options = {"truncate_to": 300}
    write_run(tmp_path, "hf", [task], options, arguments, gen_kwargs={"max_gen_toks": 2}, limit=2)
    files = Files(tmp_path)
    files.edit_run(task, tokenizer="/no/such/folder")

    def cuts(tokenizer=None):
        return next(
            c for c in verify([tmp_path], None, tokenizer).checks if c.kind == "cut prompts"
        )

    assert cuts().status == NOT_CHECKABLE
    assert "not on this machine: name it with the option tokenizer" in cuts().meaning
    assert cuts(model_folder).status == "confirmed"
    files.edit_run(task, tokenizer_sha256="0" * 64)
    assert "another than the one that cut" in cuts(tokenizer_folder).meaning


def test_an_edited_cut_prompt(tmp_path, model_folder):
    model = {"pretrained": model_folder, "device": "cpu"}
    options = {"truncate_to": 300}
    write_run(tmp_path, "hf", [QASPER], options, model, gen_kwargs={"max_gen_toks": 2}, limit=2)
    files = Files(tmp_path)
    files.edit_log(QASPER, lambda rows: rows[1]["doc"]["prompt"].update(sha256="0" * 64))
    (found,) = [c for c in verify([tmp_path]).with_status(DIFFERENT) if c.kind == "cut prompts"]
    assert found.found.startswith("1 of 2: line 2 (")
    # Another version of the library may tokenize otherwise.
    files.edit_run(QASPER, packages={**files.run(QASPER)["packages"], "tokenizers": "0.1"})
    (check,) = [c for c in verify([tmp_path]).checks if c.kind == "cut prompts"]
    assert check.status == NOT_CHECKABLE and "instead of 0.1" in check.meaning


@pytest.mark.parametrize(
    ("model", "repeats"), [(OFFICIAL_EMBEDDINGS, 3), ("another-model", 1), (None, 3)]
)
def test_summaries(tmp_path, server_url, model, repeats):
    options = {"repeats": repeats}
    if model is not None:
        options |= {"embedding_model": model, "embedding_url": server_url}
    write_run(tmp_path, AnsweringLM(in_turn), ["longbench_pro_t4_1"], options)
    report = verify([tmp_path])
    assert report.with_status(DIFFERENT) == []
    figures = [check for check in report.checks if check.kind == "figures"]
    taken = {check.name for check in figures if check.status == NOT_CHECKABLE}
    expected = set() if model is None else {"semantic_similarity,none"}
    if model == OFFICIAL_EMBEDDINGS:  # they rest on the logged similarity
        expected |= {"score,none", "best_of_n,none", "pass_at_n,none"}
    assert taken == expected
    assert {check.name for check in figures} > {"rouge_l,none"}
    score = next(check for check in figures if check.name == "score,none")
    assert (score.found == score.found) is (model == OFFICIAL_EMBEDDINGS)  # else NaN
    assert report.exit_status == 3
    (official,) = [check for check in report.checks if check.kind == "official figures"]
    assert ("NaN" in official.meaning) is (model != OFFICIAL_EMBEDDINGS)


def test_predictions_only(tmp_path):
    write_run(tmp_path, AnsweringLM(in_turn), ["longbench_v1_qasper"], predict_only=True)
    report = verify([tmp_path])
    assert_confirmed(report, {"sample scores", "counts", "official figures"}, status=3)
    (said,) = [check for check in report.checks if check.kind == "sample scores"]
    assert "predict_only" in said.meaning


def test_a_users_own_task_with_filters_and_group(tmp_path):
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "mine.yaml").write_text(
        "task: mine\n"
        "class: !function lm_eval_longbench.harness.task.LongBenchTask\n"
        "dataset_path: x\ndataset_name: qasper\ndefinition: longbench_v1_qasper\n"
        "test_split: test\noutput_type: generate_until\n"
        "metadata:\n  version: 7\n"
        "metric_list:\n"
        "  - metric: score\n    aggregation: mean\n    higher_is_better: true\n"
        "  - metric: failed\n    aggregation: median\n    higher_is_better: false\n"
        "filter_list:\n"
        "  - name: plain\n    filter:\n      - function: take_first\n"
        "  - name: lower\n    filter:\n      - function: lowercase\n      - function: take_first\n",
        encoding="utf-8",
    )
    (folder / "ours.yaml").write_text(
        "group: both\ntask: [mine, longbench_v1_narrativeqa]\n"
        "aggregate_metric_list:\n"
        "  - metric: score\n    weight_by_size: true\n    filter_list: [plain]\n"
        "metadata:\n  version: 1\n",
        encoding="utf-8",
    )
    run = tmp_path / "run"
    write_run(run, AnsweringLM(in_turn), ["both"], include_path=[str(folder)])
    report = verify([run])
    assert report.with_status(DIFFERENT) == []
    figures = {
        check.name: check.status
        for check in report.checks
        if check.kind == "figures" and check.place == "mine"
    }
    assert figures["score,plain"] == figures["score,lower"] == "confirmed"
    assert figures["failed,plain"] == NOT_CHECKABLE  # a median
    said = {check.kind: check.meaning for check in report.with_status(NOT_CHECKABLE)}
    assert "put together by 'median', officially by 'mean'" in said["figures"]
    assert report.exit_status == 0


def test_several_ranks(tmp_path, processes):
    """Rows come rank by rank, and the rank with fewer questions asks its last one again."""
    ranks = [processes.start(WRITER, tmp_path / "store", rank, 2, tmp_path) for rank in range(2)]
    for rank in ranks:
        done = rank.wait()
        assert done.returncode == 0, done.stdout + done.stderr
    files = Files(tmp_path)
    order = [row["doc"]["index"] for row in files.rows("longbench_v1_trec")]
    assert order == [0, 2, 4, 1, 3]
    report = verify([tmp_path])
    assert_confirmed(report)


def test_own_filters_with_repeats_over_an_api(tmp_path, server_url):
    """Each repeat is a request of its own, and the filter makes a list of each (A3)."""
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "mine.yaml").write_text(
        "group: mine\ntask:\n  - task: longbench_pro_t3_1\n    filter_list:\n"
        "      - name: two\n        filter:\n"
        "          - {function: take_first_k, k: 1}\n"
        "      - name: lower\n        filter:\n"
        "          - {function: lowercase}\n          - {function: take_first}\n",
        encoding="utf-8",
    )
    arguments = {"base_url": f"{server_url}/chat/completions", "model": "tiny"}
    run = tmp_path / "run"
    write_run(
        run,
        "local-chat-completions",
        ["mine"],
        {"repeats": 3},
        arguments,
        apply_chat_template=True,
        include_path=[str(tmp_path / "tasks")],
    )
    row = Files(run).rows("longbench_pro_t3_1")[0]
    assert len(row["filtered_resps"]) == len(row["resps"]) == 3
    report = verify([run])
    assert_confirmed(report)
    figures = {check.name for check in report.checks if check.kind == "figures"}
    assert {"score,two", "score,lower"} <= figures


def test_skipped_questions_without_the_data(tmp_path, tokenizer_folder):
    """Of how many questions some were left out cannot be told: the figure is not confirmed."""
    options = {"overlength": "skip", "truncate_to": 2000, "tokenizer": tokenizer_folder}
    task = "longbench_v2_code_repository"
    files = Files(write_run(tmp_path, AnsweringLM(in_turn), [task], options))
    run = files.run(task)
    assert run["kept"] < run["asked"]
    report = verify([tmp_path])
    assert_confirmed(report)
    shutil.copy(SAMPLES / "longbench_v2" / "data.json", tmp_path / "data.json")
    shutil.rmtree(files.results.parent)
    options["data_dir"] = str(tmp_path / "data.json")
    files = Files(write_run(tmp_path / "local", AnsweringLM(in_turn), [task], options))
    run = files.run(task)
    report = verify([tmp_path])
    assert report.exit_status == 3
    found = {check.name: check for check in report.checks if check.kind == "counts"}
    assert found["asked"].status == NOT_CHECKABLE
    (official,) = [c for c in report.checks if c.kind == "official figures"]
    assert "Skipped questions are not in the log" in official.meaning
