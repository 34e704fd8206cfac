"""Everything that a run's files hold, edited one at a time: found, or named, or on a page's list.

The list is in docs/reproducing.md, "What no check can find". What stands there and is found by now
is to be taken off it.
"""

import copy
import fnmatch
import json
import re
from pathlib import Path

import pytest
from real_runs import AnsweringLM, Files, write_run

from lm_eval_longbench.signature.signature import completed, line
from lm_eval_longbench.verify.check import NOT_CHECKABLE
from lm_eval_longbench.verify.verify import verify

PAGE = (Path(__file__).parents[2] / "docs" / "reproducing.md").read_text(encoding="utf-8")
LCC, PRO, GROUP = "longbench_v1_lcc", "longbench_pro_t3_1", "own_code"
# Added to an object or a list instead of changing what is there.
ADDED = "added"


def answer(number, prompt):
    texts = ("The harbor opened in spring.", "[Answer]\nB", "", "<think>hm</think>A ledger.")
    return texts[number % 4]


@pytest.fixture(scope="module", params=["plain", "chat"])
def run(request, tmp_path_factory):
    """A run as it is, the task whose entries are edited, and what is not checkable of it."""
    folder = tmp_path_factory.mktemp(request.param)
    chat = {"apply_chat_template": True, "system_instruction": "Be brief."}
    arguments = chat if request.param == "chat" else {}
    files = Files(write_run(folder, AnsweringLM(answer), [GROUP, PRO], **arguments))
    report = verify([folder])
    assert report.exit_status == 0
    return files, PRO if arguments else LCC, open_(report)


def open_(report):
    found = report.with_status(NOT_CHECKABLE)
    return {(check.kind, check.name, check.place, str(check.found)) for check in found}


def leaves(value, path=()):
    """The place of each value in decoded JSON, and of something added to each object and list."""
    if isinstance(value, dict | list) and value:
        for key, own in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(own, (*path, key))
        yield (*path, ADDED)
    else:
        yield path


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, float | int):
        return value + 1 if value == value else 0.5  # NaN and 1 are NaN
    return f"{value}x" if isinstance(value, str) else {None: "x"}.get(value, 0.5)


def edited(whole, path):
    whole = copy.deepcopy(whole)
    *front, last = path
    own = whole
    for key in front:
        own = own[key]
    if last != ADDED:
        own[last] = changed(own[last]) if not isinstance(own[last], dict | list) else ["x"]
    elif isinstance(own, list):
        own.append(copy.deepcopy(own[-1]))
    else:
        sibling = next(iter(own.values()))
        own[ADDED] = copy.deepcopy(sibling) if isinstance(sibling, dict | list) else 0.5
    return whole


def listed():
    """The patterns of the page's table."""
    text = PAGE[PAGE.index("These parts of a file can be edited, and no check notices") :]
    rows = [row for row in text.splitlines() if row.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def unseen(files, paths, write, before):
    """Edit each place; return the places of edits that are neither found nor named."""
    left = []
    for path in paths:
        write(path)
        report = verify([files.folder])
        if report.exit_status in (0, 3) and open_(report) <= before:
            left.append(".".join(map(str, path)))
    return left


def test_every_part_of_the_results_file(run):
    files, task, before = run
    text = files.results.read_text(encoding="utf-8")
    whole = json.loads(text)
    names = whole["configs"].keys() - {task}
    paths = [path for path in leaves(whole) if not names & set(path[:2])]
    assert len(paths) > 150

    def write(path):
        files.results.write_text(json.dumps(edited(whole, path)), encoding="utf-8")

    try:
        left = unseen(files, paths, write, before)
    finally:
        files.results.write_text(text, encoding="utf-8")
    patterns = listed()
    assert len(patterns) > 20
    unlisted = [name for name in left if not any(fnmatch.fnmatch(name, p) for p in patterns)]
    assert unlisted == []
    if task == PRO:  # its figures are put together by functions
        assert [pattern for pattern in patterns if not fnmatch.filter(left, pattern)] == []


def test_every_field_of_a_log_row(run):
    files, task, before = run
    path = files.log(task)
    text = path.read_text(encoding="utf-8")
    rows = [json.loads(row) for row in text.splitlines()]
    paths = list(leaves(rows[0]))
    assert len(paths) > 40

    def write(place):
        own = [edited(rows[0], place), *rows[1:]]
        path.write_text("".join(json.dumps(row) + "\n" for row in own), encoding="utf-8")

    try:
        left = unseen(files, paths, write, before)
    finally:
        path.write_text(text, encoding="utf-8")
    assert left == []


def test_every_ingredient_with_its_line(run):
    """The line is made anew, so that it fits the edited ingredient."""
    files, task, before = run
    text = files.results.read_text(encoding="utf-8")
    state = files.run(task)
    other = {"filters": [{"name": "mine", "filter": []}], "seeds": [1, 2, 3], "limit": 31500}
    other |= {"rag_top_n": 4, "generation": {**state["generation"], "temperature": 0.7}}
    other |= {"packages": {**state["packages"], "jieba": "0.1"}}
    left = []
    for name in completed({}):
        own = {name: other.get(name) or changed(state[name])}
        signature = line(completed({key: {**state, **own}[key] for key in completed({})}))
        files.edit_run(task, **own, signature=signature)
        report = verify([files.folder])
        files.results.write_text(text, encoding="utf-8")
        if report.exit_status in (0, 3) and open_(report) <= before:
            left.append(name)
    assert left == []


def test_every_log_and_part_taken_away(run):
    files, _, before = run
    text = files.results.read_text(encoding="utf-8")
    whole = json.loads(text)
    left = []
    notes = [name for name in listed() if "." not in name]
    for part in whole:
        own = {name: value for name, value in whole.items() if name != part}
        files.results.write_text(json.dumps(own), encoding="utf-8")
        report = verify([files.folder])
        if report.exit_status in (0, 3) and open_(report) <= before and part not in notes:
            left.append(part)
    files.results.write_text(text, encoding="utf-8")
    for path in sorted(files.folder.rglob("samples_*")):
        kept = path.read_bytes()
        path.unlink()
        report = verify([files.folder])
        path.write_bytes(kept)
        assert report.exit_status == 3
    assert left == []
