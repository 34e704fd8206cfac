"""The conformance kit: its data are official, and what breaks a rule is found and named."""

import json
import re
import subprocess
import sys
from pathlib import Path

import conformance_reference as reference
import conformance_writer as writer
import jieba
import pytest
from conformance_rules import RULES
from oracles import packages

from lm_eval_longbench.conformance import __main__ as kit

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, str(ROOT / "examples" / "conformance_program.py")]
REFERENCE = [sys.executable, str(ROOT / "tests" / "conformance_reference.py")]
jieba.setLogLevel("ERROR")


class InThisProcess:
    """The reference program with some faults, one for a kind of row or a condition."""

    def __init__(self, *faults, where=lambda row: True):
        self.faults, self.where = {writer.kind_of(fault): fault for fault in faults}, where

    def answer(self, row):
        fault = self.faults.get(row["kind"]) if self.where(row) else None
        return reference.reply(row, fault)


def reported(program, capsys, kinds=kit.KINDS):
    """The exit status, what is said to be broken, and all that is printed."""
    rows = {kind: kit.lines(kind) for kind in kinds}
    status = kit.report(
        {
            kind: [kit.judged(row, program.answer(kit.asked(row))) for row in own]
            for kind, own in rows.items()
        }
    )
    printed = capsys.readouterr().out
    return status, re.findall(r"^BREAKS (?:IN PART )?([\w-]+):", printed, re.MULTILINE), printed


def run(*arguments):
    command = [sys.executable, "-m", "lm_eval_longbench.conformance", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def speaking(tmp_path, body):
    """A program that does something with each row."""
    file = tmp_path / "program.py"
    text = (
        f"import json, sys, time\nfor line in sys.stdin:\n    row = json.loads(line)\n    {body}\n"
    )
    file.write_text(text, encoding="utf-8")
    return [sys.executable, file]


# ---------------------------------------------------------------------- the data


def test_the_files_are_those_that_are_written_now():
    written = writer.files()
    for name, text in written.items():
        there = (kit.FOLDER / name).read_text(encoding="utf-8")
        if name.startswith("tokenizers/"):  # other releases write more fields
            text, there = (json.loads(one)["model"] for one in (text, there))
            assert (there["vocab"], there["merges"]) == (text["vocab"], text["merges"]), name
        else:
            assert there == text, name
    there = {str(f.relative_to(kit.FOLDER)) for f in kit.FOLDER.rglob("*.json*")}
    assert there == written.keys()
    assert sum(len(text.encode()) for text in written.values()) < 620_000


@pytest.mark.parametrize("kind", kit.KINDS)
def test_official_values_are_those_of_the_oracles(kind):
    rows = kit.lines(kind)
    assert len(rows) >= {"prompts": 100, "cuts": 100, "answers": 900, "figures": 20}[kind]
    for row in rows:
        judged = kit.judged(row, reference.reply(kit.asked(row)))
        assert not judged["difference"], row["id"]


def test_scores_of_v1_are_those_of_the_official_packages():
    checked = 0
    for row in kit.lines("answers"):
        asked = row["ask"]
        if "dataset" in asked and asked["reasoning"] == "keep":
            classes = asked.get("all_classes")
            score = packages.score_sample(
                asked["dataset"], asked["answer"], asked["golds"], classes
            )
            assert score == pytest.approx(row["expected"]["score"], abs=1e-9), row["id"]
            checked += 1
    assert checked > 280


def test_every_task_and_both_rules_of_cutting_are_there():
    asked = {row["ask"]["task"] for row in kit.lines("prompts")}
    assert asked == {name for table in writer.TABLES for name in writer.tables()[table].tasks}
    limits = {(row["ask"]["task"][:12], row["ask"]["limit"] % 2) for row in kit.lines("cuts")}
    families = ("longbench_v1", "longbench_v2", "longbench_pr")
    assert limits == {(name, odd) for name in families for odd in (0, 1)}


def test_no_program_is_sent_a_solution():
    for kind in kit.KINDS:
        for row in kit.lines(kind):
            assert {"expected", "wrong", "text", "sha256"}.isdisjoint(kit.asked(row)), row["id"]


# ---------------------------------------------------------------------- what is found


def test_the_official_way_breaks_nothing(capsys):
    status, accused, printed = reported(InThisProcess(), capsys)
    assert (status, accused) == (0, [])
    assert "All that was checked is as officially." in printed


@pytest.mark.parametrize("fault", RULES)
def test_a_planted_fault_is_named_and_nothing_else(fault, capsys):
    status, accused, printed = reported(InThisProcess(fault), capsys, [writer.kind_of(fault)])
    assert (status, accused) == (1, [fault])
    assert RULES[fault] in printed
    assert "DIFFERS" not in printed and "IN PART" not in printed


def test_faults_of_several_kinds_are_all_named(capsys):
    faults = ["prompt-end-stripped", "cut-left", "letter-last", "figures-v1-rounded-first"]
    assert reported(InThisProcess(*faults), capsys)[:2] == (1, faults)


def test_a_rule_that_is_broken_in_part_is_named_with_the_rows_that_are_right(capsys):
    program = InThisProcess("think-dropped", where=lambda row: row.get("task") == "longbench_v2")
    status, accused, printed = reported(program, capsys, ["answers"])
    assert (status, accused) == (1, ["think-dropped"])
    assert "BREAKS IN PART think-dropped: " in printed
    assert re.search(r"\d+ of answers, such as answers-\d+; not in \d+ that can tell, too", printed)


def test_what_no_rule_explains_is_shown(capsys):
    class Other(InThisProcess):
        def answer(self, row):
            right = super().answer(row)
            return {"letter": "E"} if right.get("letter") == "B" else right

    status, accused, printed = reported(Other(), capsys, ["answers"])
    assert (status, accused) == (1, [])
    assert re.search(r"DIFFERS otherwise in \d+ of answers", printed)
    assert "'E', officially 'B'" in printed
    assert printed.count("[can show: ") == 5


def test_where_a_text_differs_is_shown(capsys):
    class Other(InThisProcess):
        def answer(self, row):
            return {"prompt": super().answer(row)["prompt"].replace("the", "teh")}

    status, accused, printed = reported(Other(), capsys, ["prompts", "cuts"])
    assert (status, accused) == (1, [])
    assert re.search(r"character \d+ on 'eh [^\n]*, officially 'he ", printed)
    assert re.search(r"at its end, sha256 officially [0-9a-f]{16}\.\.\.", printed)


@pytest.mark.parametrize(
    "fault", ["prompt-v2-at-once", "cut-special-not-counted", "letter-lone", "figures-e-rounding"]
)
def test_a_wrong_program_in_a_process_of_its_own(fault):
    kind = writer.kind_of(fault)
    done = run("--only", kind, *REFERENCE, fault)
    assert done.returncode == 1, done.stderr
    assert re.findall(r"^BREAKS ([\w-]+): (.*)$", done.stdout, re.M) == [(fault, RULES[fault])]
    assert done.stdout.startswith(f"{kind}: ")


# ---------------------------------------------------------------------- programs


def test_this_package_passes():
    done = run(*PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = [f"{kind}: {len(kit.lines(kind))} right, 0 wrong, 0 not checked" for kind in kit.KINDS]
    assert done.stdout.splitlines() == [*counts, "All that was checked is as officially."]


def test_a_program_may_skip_rows_but_not_all(tmp_path):
    program = speaking(tmp_path, "print(json.dumps({'skip': True}), flush=True)")
    done = run("--only", "cuts,figures", *program)
    assert done.returncode == 1
    assert "cuts: 0 right, 0 wrong, 100 not checked" in done.stdout
    assert "prompts" not in done.stdout
    assert "Nothing was checked." in done.stdout
    done = run("--only", "answers", *speaking(tmp_path, LETTERS_ALONE))
    assert done.returncode == 0, done.stdout
    assert re.match(r"answers: \d{3} right, 0 wrong, \d{3} not checked\nAll", done.stdout)


LETTERS_ALONE = (
    "import re; t = row['answer'].replace('*', ''); is_ = 'The correct answer is '; "
    r"m = re.search(is_ + r'\(([A-D])\)', t) or re.search(is_ + '([A-D])', t); "
    "skip = row['task'] != 'longbench_v2' or row['reasoning'] == 'drop'; "
    "print(json.dumps({'skip': skip, 'letter': m and m[1]}), flush=True)"
)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(3)", "It ends at cuts-1, with exit status 3."),
        ("print('hello', flush=True)", "Its answer to cuts-1 is no JSON object: 'hello'"),
        ("print('[1]', flush=True)", "Its answer to cuts-1 is no JSON object: '[1]'"),
        ("print('', flush=True)", "Its answer to cuts-1 is no JSON object: ''"),
        ("print('{}', flush=True)", "Its answer to cuts-1 is of no use: 'prompt' is missing."),
        ("print('{\"prompt\": 1}', flush=True)", "is of no use: 'prompt' is of the type int."),
        (
            "sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush()",
            r"no JSON object: '\\xff'",
        ),
        ("time.sleep(1000)", "It has not answered cuts-1 after 2 s."),
        (
            """print(end='{"skip": true}\\n{', flush=True); time.sleep(1000)""",
            "It has not answered cuts-2 after 2 s.",
        ),
        (
            "print(json.dumps({'skip': True})); row['id'] == 'cuts-9' and sys.exit()",
            "It ends at cuts-10, with exit status 0.",
        ),
    ],
)
def test_a_program_that_cannot_be_run(tmp_path, body, said):
    limit = 2 if "sleep" in body else 60
    done = run("--only", "cuts", "--limit", limit, *speaking(tmp_path, body))
    assert done.returncode == 2
    assert "The program could not be checked." in done.stderr and said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_program_that_is_not_there():
    done = run(ROOT / "no such program")
    assert done.returncode == 2
    assert "does not start" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("--only", "prompts"), ("--only", "letters", "true")])
def test_wrong_arguments(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert "usage: python -m lm_eval_longbench.conformance" in done.stderr


def test_the_readme_names_every_file_and_kind():
    text = (kit.FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{kind}`" in text and f"`{kind}.jsonl`" in text for kind in kit.KINDS)
    names = {row["ask"]["table"] for row in kit.lines("figures")}
    assert all(f"`{name}`" in text for name in names) and len(names) == 4
    assert json.loads((kit.FOLDER / "tokenizers" / "bos.json").read_text("utf-8"))["model"]
