"""Runs edited by somebody who makes the hashes, figures and signatures anew: what is still found.

Each finding of the review has its test here: V2, V4, V5, V6.
"""

import json
import shutil

import pytest
from forged_runs import ask, refigure, rehash, sha256, sign
from real_runs import AnsweringLM, Files, write_run

from lm_eval_longbench.benchmarks.base import SAMPLES
from lm_eval_longbench.verify.check import CONFIRMED, DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.verify.verify import verify

QASPER, TREC, V2 = "longbench_v1_qasper", "longbench_v1_e_trec", "longbench_v2"
CHINESE = "longbench_v1_multifieldqa_zh"
PRO, GROUP = "longbench_pro_t3_1", "own_single_doc_qa"


def different(files, *arguments):
    report = verify([files.folder], *arguments)
    assert report.exit_status == 1
    return {(check.kind, check.name): check for check in report.with_status(DIFFERENT)}


def open_(files, status=3):
    """What could not be checked of a run in which nothing differs."""
    report = verify([files.folder])
    assert report.with_status(DIFFERENT) == []
    assert report.exit_status == status
    return {(check.kind, check.name): check for check in report.with_status(NOT_CHECKABLE)}


def logs(files):
    return sorted(files.folder.rglob("samples_*.jsonl"))


# ---------------------------------------------------------------------- V2: one question for all


def copy_the_first(rows):
    """Put copies of the first question into the places of all others."""
    for place, row in enumerate(rows):
        own = json.loads(json.dumps(rows[0]))
        own["doc"]["index"] = own["doc_id"] = place
        row.clear()
        row.update(own)


@pytest.mark.parametrize("task", [QASPER, TREC, V2, PRO])
def test_copies_of_an_easy_question(base, task):
    base.edit_log(task, copy_the_first)
    rehash(base, task)
    refigure(base, task)
    run = base.run(task)
    sign(base, task, failed=0, truncated=0)
    found = different(base)
    hashed = found["questions asked", "questions_sha256"]
    assert hashed.found == run["questions_sha256"]
    copies = found["questions", "questions"].found
    assert f"{run['asked'] - 1} of {run['asked']}: line 2 (" in copies
    assert "is not the question in place 1 of the data" in copies
    # With that hash made anew as well, the data still tells.
    ask(base, task)
    found = {kind for kind, _ in different(base)}
    assert {"questions", "prompts"} <= found <= {"questions", "prompts", "groups"}


def test_copies_of_a_question_without_the_data(tmp_path):
    """Ids of LongBench v1 may be shared: then nothing is confirmed. Those of v2 are not."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(SAMPLES / "longbench_v1" / "qasper.jsonl", folder)
    run = tmp_path / "run"
    options = {"data_dir": str(folder)}
    files = Files(write_run(run, AnsweringLM(lambda number, prompt: "no"), [QASPER], options))
    assert ("shared ids", "shared ids") not in open_(files, status=0)
    files.edit_log(QASPER, copy_the_first)
    rehash(files, QASPER)
    refigure(files, QASPER)
    ask(files, QASPER)
    said = open_(files)
    assert "line 2 (" in said["shared ids", "shared ids"].found
    assert "with the data only" in said["official figures", "official figures"].meaning


def test_copies_of_a_question_of_other_pinned_data(base):
    """Without the data of that label here, ids that are each question's own still tell."""
    data = "zai-org/LongBench-v2@0000000"

    def relabel(rows):
        copy_the_first(rows)
        for row in rows:
            row["doc"]["data"] = data

    base.edit_log(V2, relabel)
    rehash(base, V2)
    refigure(base, V2)
    ask(base, V2)
    sign(base, V2, data=data)
    found = different(base)
    assert "has the id of line 1" in found["shared ids", "shared ids"].found


def test_rows_that_share_a_place(base):
    def edit(rows):
        rows[2]["doc"]["index"] = 1

    base.edit_log(QASPER, edit)
    rehash(base, QASPER)
    found = different(base)
    assert "is the question of line 2" in found["duplicate rows", "duplicate rows"].found
    assert "doc_id is 2 where index is not" in found["places", "places"].found


def test_questions_exchanged(base):
    """Two questions in each other's places: the data has them otherwise."""

    def edit(rows):
        rows[0]["doc"]["index"], rows[1]["doc"]["index"] = 1, 0

    base.edit_log(QASPER, edit)
    rehash(base, QASPER)
    found = different(base)
    assert {"questions", "prompts", "questions asked"} == {kind for kind, _ in found}


def test_a_hard_question_left_out(base):
    """A run over fewer questions is another run: it says so, and its number is another."""
    base.edit_log(QASPER, lambda rows: rows[1:])
    rehash(base, QASPER)
    refigure(base, QASPER)
    ask(base, QASPER)

    def edit(whole):
        whole["results"].pop(GROUP)
        whole["groups"].pop(GROUP)
        whole["group_subtasks"].pop(GROUP)
        for part in ("versions", "n-shot", "higher_is_better"):
            whole[part].pop(GROUP)

    base.edit_results(edit)
    said = open_(base, status=0)
    assert "--samples chose" in said["limit", "limit"].meaning
    assert base.run(QASPER)["signature"].split("|")[8] == "n:3/3"


# ---------------------------------------------------------------------- V4: figures of nothing


def test_a_group_without_members(base):
    def edit(whole):
        whole["results"][GROUP]["score,none"] += 0.1
        del whole["group_subtasks"][GROUP]

    base.edit_results(edit)
    found = different(base)
    assert {name for kind, name in found if kind == "entries"} >= {"results", "groups"}
    assert "belongs to no task and no group" in found["entries", "results"].meaning


@pytest.mark.parametrize("part", ["results", "groups", "versions", "n-shot", "higher_is_better"])
def test_an_invented_group(base, part):
    base.edit_results(lambda whole: whole[part].update(invented={"score,none": 0.99}))
    assert ("entries", part) in different(base)


def test_an_invented_group_over_our_tasks(base):
    def edit(whole):
        own = {"name": "invented", "score,none": 0.99}
        whole["results"]["invented"] = whole["groups"]["invented"] = own
        whole["group_subtasks"]["invented"] = [QASPER, CHINESE]

    base.edit_results(edit)
    assert ("groups", "score,none") in different(base)


@pytest.mark.parametrize(
    ("task", "key", "value"),
    [
        (QASPER, "score,other", 0.9),
        (QASPER, "score_stderr,other", 0.9),
        (QASPER, "best", 0.9),
        (QASPER, "failed_stderr,none", 0.1),
        (TREC, "acc_stderr,none", 0.1),
        (GROUP, "best_of_n,none", 0.9),
        (GROUP, "best", 0.9),
        (GROUP, "sample_len", 900),
    ],
)
def test_an_added_figure(base, task, key, value):
    base.edit_results(lambda whole: whole["results"][task].update({key: value}))
    found = different(base)
    assert {kind for kind, _ in found} == {"groups" if task == GROUP else "figures"}
    assert any(name == key for _, name in found)


@pytest.mark.parametrize(
    ("part", "value", "kind"),
    [
        ("results", None, "entries"),
        ("versions", "9.9", "task version"),
        ("n-shot", 5, "table"),
        ("higher_is_better", {"score": False, "failed": False, "truncated": False}, None),
        ("n-samples", {"original": 200, "effective": 4}, "log rows"),
        ("n-samples", {"original": 4, "effective": 200}, "log rows"),
        ("task_hashes", "0" * 64, "log hash"),
        ("task_hashes", None, "log hash"),
    ],
)
def test_a_part_of_the_file(base, part, value, kind):
    def edit(whole):
        whole[part].pop(QASPER)
        if value is not None:
            whole[part][QASPER] = value

    base.edit_results(edit)
    assert (kind or "higher is better") in {kind for kind, _ in different(base)}


# ---------------------------------------------------------------------- V5: nothing confirmed


def test_all_logs_deleted(base):
    for path in logs(base):
        path.unlink()
    said = open_(base)
    assert "there is no log" in said["official figures", "official figures"].meaning


def test_one_log_deleted(base):
    base.log(PRO).unlink()
    assert ("official figures", "official figures") in open_(base)


@pytest.mark.parametrize("rows", [1, 100])
def test_figures_beside_rows_that_were_not_scored(base, rows):
    def edit(all_rows):
        for row in all_rows[:rows]:
            row["metrics"] = ["bypass"]

    base.edit_log(PRO, edit)
    found = different(base)
    assert {kind for kind, _ in found} >= ({"row fields"} if rows == 1 else {"figures"})
    if rows > 1:
        assert "it was added" in found["figures", "score,none"].meaning


def test_filters_that_the_signature_does_not_have(base):
    def edit(whole):
        whole["configs"][QASPER]["filter_list"] = [{"name": "mine", "filter": []}]

    base.edit_results(edit)
    assert {("settings", "filters"), ("filters", "names")} <= different(base).keys()


def test_an_older_jieba(base):
    """It may have segmented otherwise: the figure is neither wrong nor confirmed."""
    packages = {**base.run(CHINESE)["packages"], "jieba": "0.1"}
    sign(base, CHINESE, packages=packages)
    said = open_(base)
    assert "instead of 0.1" in said["official figures", "official figures"].meaning

    def edit(rows):
        rows[0]["score"] = 1.0

    base.edit_log(CHINESE, edit)
    base.edit_results(lambda whole: whole["results"][CHINESE].update({"score,none": 0.9}))
    report = verify([base.folder])
    # The group's mean is of the recomputed score.
    assert {check.place for check in report.with_status(DIFFERENT)} <= {GROUP}
    assert report.exit_status in (1, 3)


@pytest.mark.parametrize("how", ["median", "def best(values):\n    return max(values)\n"])
def test_an_unknown_aggregation(base, how):
    def edit(whole):
        whole["configs"][QASPER]["metric_list"][0]["aggregation"] = how

    base.edit_results(edit)
    said = open_(base)
    assert "which this package does not know" in said["figures", "score,none"].meaning


def test_another_known_aggregation_is_not_official(base):
    def edit(whole):
        whole["configs"][PRO]["metric_list"][0]["aggregation"] = "mean_of_known"

    base.edit_results(edit)
    said = open_(base)["official figures", "official figures"].meaning
    assert "'mean_of_known', officially by 'mean_if_all_known'" in said


@pytest.mark.parametrize("task", [QASPER, PRO])
@pytest.mark.parametrize("taken", ["longbench_run", "metadata", "config"])
def test_a_task_without_its_run(base, task, taken):
    def edit(whole):
        if taken == "longbench_run":
            del whole["configs"][task]["metadata"]["longbench_run"]
        elif taken == "metadata":
            whole["configs"][task]["metadata"] = None
        else:
            del whole["configs"][task]

    base.edit_results(edit)
    found = different(base)
    assert any(kind == "entries" for kind, _ in found)


@pytest.mark.parametrize("left", ["configuration", "log"])
def test_a_users_own_task_without_its_run(tmp_path, base, left):
    """Its configuration tells what it is, and so does its log."""
    mine = "mine"

    def edit(whole):
        for part in ("results", "configs", "versions", "n-shot", "higher_is_better", "n-samples"):
            whole[part][mine] = whole[part].pop(PRO)
        whole["configs"][mine]["task"] = mine
        del whole["configs"][mine]["metadata"]["longbench_run"]
        if left == "log":
            whole["configs"][mine]["process_results"] = "mine"
        del whole["task_hashes"][PRO]

    base.log(PRO).rename(base.log(PRO).with_name(base.log(PRO).name.replace(PRO, mine)))
    base.edit_results(edit)
    found = different(base)
    assert list(found) == [("entries", "longbench_run")]
    assert f"by its {left}" in found["entries", "longbench_run"].expected


# ---------------------------------------------------------------------- V6: nothing to look at


def test_rows_without_requests(base):
    def edit(rows):
        for row in rows:
            del row["arguments"]

    base.edit_log(QASPER, edit)
    report = verify([base.folder])
    assert report.with_status(DIFFERENT) == []
    own = {(c.kind, c.name): c.status for c in report.checks if c.place == QASPER}
    for kind in ("requests", "sent prompts", "around the prompts"):
        assert own[kind, kind] == NOT_CHECKABLE
    assert {name for kind, name in own if kind == "ingredients"} >= {"generation", "seeds"}


def test_one_row_without_its_request(base):
    base.edit_log(QASPER, lambda rows: rows[1].pop("arguments") and None)
    own = [c for c in verify([base.folder]).checks if (c.kind, c.place) == ("requests", QASPER)]
    assert [(check.status, check.found) for check in own] == [
        (CONFIRMED, "3 rows"),
        (NOT_CHECKABLE, "1 rows"),
    ]


def test_a_temperature_that_no_request_has(base):
    def edit(rows):
        for row in rows:
            for request in row["arguments"].values():
                del request["arg_1"]["temperature"]

    base.edit_log(QASPER, edit)
    said = open_(base, status=0)
    assert "No request of the log has it" in said["requests", "temperature"].meaning


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"generation": {"temperature": 0.7}}, "requests"),
        ({"chat": "on"}, "settings"),
        ({"chat": "raw"}, "settings"),
        ({"chat": "on", "chat_sha256": sha256("<|user|>?")}, "prompts in requests"),
        ({"limit": 31500}, "settings"),
        ({"limit": 31500, "tokenizer": "org/model", "limit_source": "truncate_to=1"}, "settings"),
    ],
)
def test_relabelled_settings(base, changes, found):
    generation = changes.get("generation")
    if generation:
        own = {**base.run(V2)["generation"], **generation}
        changes = {"generation": own}
        base.edit_results(lambda whole: whole["configs"][V2].update(generation_kwargs=own))
    sign(base, V2, **{key: value for key, value in changes.items() if key != "limit_source"})
    base.edit_run(V2, **{key: changes[key] for key in changes if key == "limit_source"})
    assert found in {kind for kind, _ in different(base)}
