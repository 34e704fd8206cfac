"""Results and logs edited by hand: each edit is found, and the report says what it is."""

import hashlib
import json
from pathlib import Path

import pytest
from real_runs import Files

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.logs.sample_log import doc_sha256
from lm_eval_longbench.signature.signature import completed, line
from lm_eval_longbench.verify.check import CONFIRMED, DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.verify.verify import verify

QASPER, TREC, V2 = "longbench_v1_qasper", "longbench_v1_e_trec", "longbench_v2"
PRO, GROUP = "longbench_pro_t3_1", "own_single_doc_qa"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def different(report):
    """What differs, by kind and place."""
    found = {}
    for check in report.with_status(DIFFERENT):
        found.setdefault((check.kind, check.place), []).append(check)
    return found


def verified(files):
    report = verify([files.folder])
    assert report.exit_status == 1
    return report, different(report)


# ---------------------------------------------------------------------- the results file


@pytest.mark.parametrize(
    ("task", "figure"),
    [
        (QASPER, "score,none"),
        (QASPER, "score_stderr,none"),
        (QASPER, "failed,none"),
        (TREC, "score_0_4k,none"),
        (V2, "acc_hard,none"),
        (V2, "acc_compensated,none"),
        (PRO, "pass_at_n,none"),
    ],
)
def test_a_figure(base, task, figure):
    def edit(whole):
        whole["results"][task][figure] += 0.001

    base.edit_results(edit)
    _, found = verified(base)
    (check,) = found.pop(("figures", task))
    assert check.name == figure
    assert check.found == pytest.approx(check.expected + 0.001)
    assert "do not follow from the answers" in check.meaning
    assert set(found) <= {("groups", GROUP)}


def test_a_figure_taken_out(base):
    base.edit_results(lambda whole: whole["results"][V2].pop("acc_easy,none"))
    _, found = verified(base)
    ((check,),) = found.values()
    assert (check.name, check.found) == ("acc_easy,none", None)
    assert "taken out" in check.meaning


def test_a_figure_that_was_added(base):
    base.edit_results(lambda whole: whole["results"][V2].update({"acc_bogus,none": 0.99}))
    _, found = verified(base)
    ((check,),) = found.values()
    assert (check.name, check.found) == ("acc_bogus,none", 0.99)
    assert "it was added" in check.meaning


@pytest.mark.parametrize("parts", [["results"], ["groups"], ["results", "groups"]])
def test_a_groups_figure(base, parts):
    def edit(whole):
        for part in parts:
            whole[part][GROUP]["score,none"] += 0.001

    base.edit_results(edit)
    _, found = verified(base)
    assert set(found) == {("groups", GROUP)}
    said = {check.name: check.meaning for check in found["groups", GROUP]}
    assert ("score,none" in said) is ("results" in parts)
    assert ("copy of score,none" in said) is (len(parts) == 1)
    if "results" in parts:
        assert "no mean of its tasks' figures" in said["score,none"]


def test_figures_edited_with_their_group(base):
    """A group that fits the edited figures of its tasks does not fit the answers."""

    def edit(whole):
        for name in whole["group_subtasks"][GROUP]:
            whole["results"][name]["score,none"] += 0.001
        for part in ("results", "groups"):
            whole[part][GROUP]["score,none"] += 0.001

    base.edit_results(edit)
    _, found = verified(base)
    assert ("groups", GROUP) in found
    assert len(found) == 5


def test_the_signature_line(base):
    run = base.run(QASPER)
    base.edit_run(QASPER, signature=run["signature"].replace("n:4/4", "n:200/200"))
    _, found = verified(base)
    assert set(found) == {("signature", QASPER)}
    assert "one of them was edited" in found["signature", QASPER][0].meaning


EDITED = {
    "task": "longbench_v1_musique",
    "version": "2.0",
    "data": "zai-org/LongBench@5e628be",
    "data_sha256": "0" * 64,
    "template_sha256": "0" * 64,
    "truncation": "ends_decoded_together",
    "limit": 31500,
    "overlength": "fail",
    "tokenizer": "other/tokenizer",
    "tokenizer_sha256": "0" * 64,
    "chat": "on",
    "chat_sha256": "0" * 64,
    "system_sha256": "0" * 64,
    "generation": {"until": [], "max_gen_toks": 9, "do_sample": False, "temperature": 0.0},
    "model_settings": {"eos_string": "</s>"},
    "decoding": "cleaned up",
    "repeats": 2,
    "seeds": [1, 2],
    "filters": [{"name": "mine", "filter": []}],
    "reasoning": "keep",
    "reasoned": 1,
    "metrics": "0.9",
    "embedding_model": "a-model",
    "retrieval": "a-retriever",
    "rag_top_n": 4,
    "reasoning_sha256": "0" * 64,
    "questions_sha256": "0" * 64,
    "asked": 200,
    "kept": 200,
    "answered": 200,
    "failed": 1,
    "truncated": 1,
    "capped": 1,
    "packages": {"lm_eval_longbench": "0.0.1"},
}
# With the line made anew, these are still caught by the log, the data or the table.
CAUGHT_ELSEWHERE = {
    "task": "foreign rows",
    "version": "task version",
    "data": "data",
    "data_sha256": "data",
    "template_sha256": "template",
    "truncation": "settings",
    "limit": "settings",
    "overlength": "settings",
    "tokenizer": "settings",
    "tokenizer_sha256": "settings",
    "chat": "settings",
    "chat_sha256": "prompts in requests",
    "system_sha256": "settings",
    "generation": "settings",
    "model_settings": "settings",
    "filters": "settings",
    "embedding_model": "settings",
    "rag_top_n": "settings",
    "reasoning_sha256": "settings",
    "questions_sha256": "questions asked",
    "repeats": "repeats",
    "seeds": "seeds",
    "metrics": "metrics version",
    "retrieval": "task version",
    "asked": "counts",
    "kept": "counts",
    "answered": "counts",
    "failed": "counts",
    "truncated": "counts",
    "capped": "counts",
    "reasoning": "settings",
    "reasoned": "counts",
}


@pytest.mark.parametrize("name", EDITED)
def test_an_ingredient(base, name):
    base.edit_run(QASPER, **{name: EDITED[name]})
    _, found = verified(base)
    assert ("signature", QASPER) in found


@pytest.mark.parametrize("name", CAUGHT_ELSEWHERE)
def test_an_ingredient_with_its_line(base, name):
    run = {**base.run(QASPER), name: EDITED[name]}
    whole = completed({key: run[key] for key in completed({})})
    base.edit_run(QASPER, **{name: EDITED[name]}, signature=line(whole))
    _, found = verified(base)
    assert ("signature", QASPER) not in found
    assert (CAUGHT_ELSEWHERE[name], QASPER) in found
    assert all(place in (QASPER, GROUP) for _, place in found)


def test_an_ingredient_that_only_the_signature_states(base):
    """Of all ingredients an edit of two alone is only named, not found."""
    assert set(EDITED) - set(CAUGHT_ELSEWHERE) == {"packages", "decoding"}


def test_all_ingredients_are_edited():
    assert set(EDITED) | {"benchmark"} == set(completed({}))


def test_another_benchmark(base):
    base.edit_run(QASPER, benchmark="longbench_v9")
    _, found = verified(base)
    assert set(found) == {("signature", QASPER), ("task", QASPER)}
    base.edit_run(QASPER, benchmark="longbench_v1_e")
    assert ("signature", QASPER) in verified(base)[1]


def test_an_ingredient_taken_out(base):
    def edit(whole):
        del whole["configs"][QASPER]["metadata"]["longbench_run"]["seeds"]

    base.edit_results(edit)
    _, found = verified(base)
    ((check,),) = found.values()
    assert "seeds were taken out" in check.meaning
    # An older version may have known fewer.
    base.edit_run(QASPER, packages={"lm_eval_longbench": "0.0.1"})
    report = verify([base.folder])
    assert different(report) == {}
    said = [check.meaning for check in report.with_status(NOT_CHECKABLE)]
    assert any("whose signatures have no seeds" in text for text in said)


def test_the_version_in_the_table(base):
    base.edit_results(lambda whole: whole["versions"].update({QASPER: "1.0"}))
    _, found = verified(base)
    assert set(found) == {("task version", QASPER)}


def test_the_number_of_samples(base):
    def edit(whole):
        whole["n-samples"][QASPER]["effective"] = 200
        whole["results"][QASPER]["sample_len"] = 200

    base.edit_results(edit)
    _, found = verified(base)
    assert {check.name for check in found["log rows", QASPER]} == {"n-samples", "sample_len"}


def test_other_packages_are_a_note(base):
    packages = {**base.run(QASPER)["packages"], "jieba": "0.1"}
    whole = completed(
        {key: value for key, value in base.run(QASPER).items() if key in completed({})}
    )
    base.edit_run(QASPER, packages=packages, signature=line({**whole, "packages": packages}))
    report = verify([base.folder])
    assert report.exit_status == 0  # it takes no part in this score
    (said,) = [check for check in report.with_status(NOT_CHECKABLE) if check.kind == "packages"]
    assert "A note: recomputed with jieba" in said.meaning


def test_figures_of_other_metrics_need_not_be_wrong(base):
    def edit(whole):
        run = whole["configs"][QASPER]["metadata"]["longbench_run"]
        run["metrics"] = "0.9"
        run["signature"] = line(completed({key: run[key] for key in completed({})}))
        whole["results"][QASPER]["score,none"] += 0.001

    base.edit_results(edit)
    report, found = verified(base)
    assert ("metrics version", QASPER) in found
    assert ("figures", QASPER) not in found
    said = [check.meaning for check in report.with_status(NOT_CHECKABLE)]
    assert "Scored with metrics 0.9; this package has 1.0." in said


def test_segmented_by_another_jieba(base):
    """Where jieba takes part in the score, another version of it may be the reason."""
    chinese = "longbench_v1_multifieldqa_zh"
    for task in (chinese, QASPER):
        base.edit_run(task, packages={**base.run(task)["packages"], "jieba": "0.1"})

        def edit(rows):
            rows[0]["score"] += 0.001

        base.edit_log(task, edit)
    report, found = verified(base)
    assert ("sample scores", chinese) not in found
    said = {check.place: check for check in report.with_status(NOT_CHECKABLE)}
    assert "instead of 0.1, which segments the answers" in said[chinese].meaning
    (check,) = found["sample scores", QASPER]
    assert "Recomputed with other versions: jieba 0.1, here" in check.meaning


def test_another_template_is_said_once(base):
    base.edit_run(QASPER, template_sha256="0" * 64)
    report, found = verified(base)
    assert ("template", QASPER) in found and ("prompts", QASPER) not in found
    said = {check.kind: check.meaning for check in report.with_status(NOT_CHECKABLE)}
    assert said["prompts"] == "They are from another version of the template."


# ---------------------------------------------------------------------- the sample log


def test_a_logged_score(base):
    def edit(rows):
        rows[1]["score"] = 1.0

    base.edit_log(QASPER, edit)
    _, found = verified(base)
    assert set(found) == {("sample scores", QASPER)}
    (check,) = found["sample scores", QASPER]
    assert "line 2 (" in check.found and "has score 1.0, recomputed" in check.found
    assert "one of them was edited" in check.meaning


def test_a_response(base):
    def edit(rows):
        gold = rows[0]["doc"]["answers"][0]
        rows[0]["filtered_resps"] = [gold]

    base.edit_log(QASPER, edit)
    _, found = verified(base)
    assert ("answers", QASPER) in found
    assert ("sample scores", QASPER) in found
    assert ("figures", QASPER) in found


def test_a_response_everywhere(base):
    """A response edited wherever the log has it: the figures are still of the old one."""

    def edit(rows):
        gold = rows[0]["doc"]["answers"][0]
        rows[0]["filtered_resps"], rows[0]["resps"] = [gold], [[gold]]
        rows[0]["score"] = 1.0

    base.edit_log(QASPER, edit)
    _, found = verified(base)
    assert ("answers", QASPER) not in found
    assert ("figures", QASPER) in found


def test_one_of_several_answers(base):
    base.edit_log(PRO, lambda rows: rows[0]["filtered_resps"][0].__setitem__(1, "[Answer]\nA"))
    _, found = verified(base)
    assert ("answers", PRO) in found


def scored(row):
    """The answer to a question that was asked once; 0.5 logs a list of its repeats."""
    (found,) = row["filtered_resps"]
    return found if isinstance(found, str) else found[0]


def test_a_gold_answer(base):
    def edit(rows):
        rows[0]["doc"]["answers"] = [scored(rows[0])]

    base.edit_log(QASPER, edit)
    _, found = verified(base)
    kinds = {kind for kind, place in found if place == QASPER}
    assert {"document hashes", "gold answers", "questions", "sample scores"} <= kinds
    assert "A gold answer or another field was edited" in (
        found["document hashes", QASPER][0].meaning
    )


def test_a_gold_answer_with_its_hashes(base):
    def edit(rows):
        rows[0]["doc"]["answers"] = [scored(rows[0])]
        rows[0]["target"] = str(rows[0]["doc"]["answers"])
        rows[0]["target_hash"] = sha256(rows[0]["target"])
        rows[0]["doc_hash"] = doc_sha256(rows[0]["doc"])

    base.edit_log(QASPER, edit)
    _, found = verified(base)
    kinds = {kind for kind, place in found if place == QASPER}
    assert {"log hash", "questions"} <= kinds
    assert not {"document hashes", "gold answers"} & kinds
    assert "not those the results were made from" in found["log hash", QASPER][0].meaning


def test_a_prompt_hash(base):
    def edit(rows):
        rows[2]["doc"]["prompt"]["sha256"] = "0" * 64

    base.edit_log(V2, edit)
    _, found = verified(base)
    kinds = {kind for kind, _ in found}
    assert {"prompts", "prompts in requests", "document hashes"} == kinds
    assert "Other prompts were sent" in found["prompts", V2][0].meaning


def test_the_sent_prompt(base):
    def edit(rows):
        rows[2]["prompt_hash"] = "0" * 64

    base.edit_log(V2, edit)
    _, found = verified(base)
    assert {kind for kind, _ in found} == {"sent prompts", "prompts in requests", "log hash"}


def test_truncation_in_the_log(base):
    def edit(rows):
        rows[0]["doc"]["prompt"]["truncated"] = True

    base.edit_log(QASPER, edit)
    _, found = verified(base)
    assert {"figures", "counts", "sample scores"} <= {kind for kind, _ in found}


def test_a_missing_row(base):
    base.edit_log(QASPER, lambda rows: rows[:-1])
    _, found = verified(base)
    kinds = {kind for kind, place in found if place == QASPER}
    assert {"log rows", "log hash", "counts"} <= kinds
    assert "Rows were lost or added" in found["log rows", QASPER][0].meaning
    assert {check.name for check in found["counts", QASPER]} == {"asked", "kept", "answered"}


def test_a_duplicate_row(base):
    base.edit_log(QASPER, lambda rows: [*rows, rows[0]])
    _, found = verified(base)
    (check,) = found["duplicate rows", QASPER]
    assert "line 5 (" in check.found and "is the question of line 1" in check.found
    assert "counts twice" in check.meaning


def test_a_row_of_another_task(base):
    other = base.rows("longbench_v1_narrativeqa")[0]
    base.edit_log(QASPER, lambda rows: [*rows[:-1], other])
    _, found = verified(base)
    (check,) = found["foreign rows", QASPER]
    assert "is of longbench_v1_narrativeqa" in check.found
    assert ("questions", QASPER) in found


def test_rows_in_another_order(base):
    base.edit_log(QASPER, lambda rows: rows[::-1])
    _, found = verified(base)
    assert set(found) == {("log hash", QASPER)}


def test_a_document_that_cannot_be_scored(base):
    def edit(rows):
        del rows[0]["doc"]["answers"]

    base.edit_log(QASPER, edit)
    report, found = verified(base)
    (check,) = found["documents", QASPER]
    assert "has no score: the document cannot be scored: 'answers' is not a list" in check.found
    said = {check.meaning for check in report.with_status(NOT_CHECKABLE)}
    assert "Some rows of the log cannot be scored." in said


def test_edited_reasoning(v2):
    def edit(rows):
        rows[3]["resps"] = [["Another thought."]]

    v2.edit_log("longbench_v2_cot", edit)
    _, found = verified(v2)
    assert ("prompts", "longbench_v2_cot_answer") in found
    assert ("answers", "longbench_v2_cot") in found
    assert ("reasoning", "longbench_v2_cot_answer") in found


def test_a_score_for_a_failed_reasoning(v2):
    """The answer to a question without reasoning is worth nothing, whatever it says."""
    task = "longbench_v2_cot_answer"

    def edit(rows):
        row = next(row for row in rows if row["failed"] and "correct" in row["resps"][0][0])
        row["failed"], row["unparsed"] = 0.0, 0.0

    v2.edit_log(task, edit)
    _, found = verified(v2)
    assert ("sample scores", task) in found


# ---------------------------------------------------------------------- files


def test_a_missing_log(base):
    base.log(QASPER).unlink()
    report = verify([base.folder])
    assert report.exit_status == 3
    said = {check.kind: check for check in report.with_status(NOT_CHECKABLE)}
    assert set(said) == {"sample log", "groups", "table", "ingredients", "official figures"}
    assert "there is no log" in said["official figures"].meaning
    assert said["sample log"].expected == f"samples_{QASPER}_{base.results.name[8:-5]}.jsonl"
    assert said["sample log"].meaning.endswith("figures cannot be recomputed. Put it there.")
    assert "of which 1 were not recomputed" in said["groups"].meaning
    # What needs no log is still checked.
    assert [
        check.status for check in report.checks if (check.kind, check.place) == ("data", QASPER)
    ] == [CONFIRMED, CONFIRMED]
    for task in [path.name.partition("_2")[0][8:] for path in base.folder.rglob("samples_*")]:
        base.log(task).unlink()
    report = verify([base.folder])
    assert (report.exit_status, report.with_status(DIFFERENT)) == (3, [])


def test_a_truncated_log(base):
    path = base.log(QASPER)
    path.write_bytes(path.read_bytes()[:-40])
    report, found = verified(base)
    (check,) = found["sample log", QASPER]
    assert f"{path}, line 4, is not JSON" in check.found
    assert "damaged or cut short" in check.meaning
    assert any(check.place == V2 for check in report.with_status(CONFIRMED))


@pytest.mark.parametrize("rest", [20, 200])
def test_a_truncated_packed_log(base, rest):
    base.pack(QASPER)
    (path,) = base.folder.rglob("*.gz")
    path.write_bytes(path.read_bytes()[:-rest])
    _, found = verified(base)
    (check,) = found["sample log", QASPER]
    assert str(path) in check.found and "cannot be read" in check.found


def test_an_empty_log(base):
    base.log(QASPER).write_text("\n", encoding="utf-8")
    _, found = verified(base)
    assert "its rows were lost" in found["sample log", QASPER][0].meaning


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (3, "no row of a sample log"),
        ({"doc": {"prompt": {}}}, "'doc' has no 'index'"),
        ({"filtered_resps": []}, "'filtered_resps' has no answers"),
        ({"filtered_resps": [1]}, "or some are no texts"),
        ({"resps": ["a"]}, "'resps[0]' is not a list"),
        ({"score": "high"}, "'score' is 'high', not a number"),
        ({"doc_id": 10**30}, "a whole number beyond"),
        ({"arguments": json.loads("[" * 50 + "]" * 50)}, "nested deeper than 40"),
    ],
)
def test_a_log_of_something_else(base, row, message):
    row = {**base.rows(QASPER)[0], **row} if isinstance(row, dict) else row
    base.log(QASPER).write_text(json.dumps(row), encoding="utf-8")
    _, found = verified(base)
    check = found["sample log", QASPER][0]
    assert "line 1," in check.found and message in check.found


def test_a_truncated_results_file(base, v2_run):
    base.results.write_bytes(base.results.read_bytes()[:-40])
    report = verify([base.folder])
    assert report.exit_status == 2
    (said,) = report.unreadable
    assert f"{base.results} is not JSON" in said
    # The others are verified all the same.
    report = verify([base.folder, v2_run])
    assert report.exit_status == 2
    assert report.counts[CONFIRMED] > 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "no results file of the harness"),
        ('{"results": [], "configs": {}}', "'results' is not a JSON object"),
        ('{"results": {"a": 1}, "configs": {}}', "'results.a' is not a JSON object"),
    ],
)
def test_results_of_something_else(base, text, message):
    base.results.write_text(text, encoding="utf-8")
    (said,) = verify([base.folder]).unreadable
    assert str(base.results) in said and message in said


def test_only_tasks_of_others(tmp_path):
    path = tmp_path / "results_2026-01-01T00-00-00.0.json"
    whole = {"results": {"arc": {"acc,none": 1.0}}, "configs": {"arc": {"metadata": {}}}}
    path.write_text(json.dumps(whole), encoding="utf-8")
    report = verify([path])
    assert (report.foreign, report.checks, report.exit_status) == (1, [], 2)


def test_paths_without_results(tmp_path, base):
    with pytest.raises(PredictionError, match="does not exist"):
        verify([tmp_path / "nothing"])
    with pytest.raises(PredictionError, match="does not exist"):
        verify([Path("~no-such-user/results")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(PredictionError, match="holds no results"):
        verify([tmp_path / "empty"])
    # A log is no results file, and is told so.
    (said,) = verify([base.log(QASPER)]).unreadable
    assert "is not JSON" in said


def test_files_are_not_touched(base_run, tmp_path):
    files = Files.copy(base_run, tmp_path / "copy")
    before = {path: path.read_bytes() for path in files.folder.rglob("*") if path.is_file()}
    verify([files.folder])
    after = {path: path.read_bytes() for path in files.folder.rglob("*") if path.is_file()}
    assert before == after
