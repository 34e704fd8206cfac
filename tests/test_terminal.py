"""No control character in a file, a name or a label reaches the terminal, whatever the command."""

import io
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import scored_runs
from hypothesis import given
from hypothesis import strategies as st
from prediction_rows import v1_doc, v1_row, write_lines
from real_runs import EXTRACTIVE, Files, write_run
from rich.table import Table
from rich.text import Text

from lm_eval_longbench import console
from lm_eval_longbench.cli import main as main_module
from lm_eval_longbench.console import (
    escaped,
    escaped_json,
    escaped_line,
    fail,
    say,
    say_json,
    say_line,
    say_table,
    take_every_text,
    warn,
)

# A new title for the window, a colour, one of C1, DEL, an override of the writing direction; what
# rich takes for markup and for an emoji.
EVIL = "\x1b]0;EVIL\x07\x1b[31m\x9b32m\x7f\u202e[bold]:skull:"
SHOWN = "\\x1b]0;EVIL\\x07\\x1b[31m\\x9b32m\\x7f\\u202e[bold]:skull:"
RAW = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TURNS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
QASPER = "longbench_v1_qasper"


# ---------------------------------------------------------------------- the functions


@given(st.text(st.characters(max_codepoint=0x2100) | st.characters(categories=["Cc", "Cf", "Cs"])))
def test_nothing_is_left_and_nothing_else_is_changed(text):
    def shown(sign, kept):
        direction = unicodedata.bidirectional(sign) in TURNS or sign in "\u061c\u200e\u200f"
        odd = unicodedata.category(sign) in ("Cc", "Cs") or direction
        number = ord(sign)
        code = f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
        return code if odd and sign not in kept else sign

    assert escaped(text) == "".join(shown(sign, "\t\n") for sign in text)
    line = escaped_line(text)
    assert not RAW.search(line) and len(line.splitlines()) <= 1
    line.encode("utf-8")


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_keeps_its_value(value):
    for ascii_only in (True, False):
        text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
        found = escaped_json(text)
        assert json.loads(found) == json.loads(text)
        assert not RAW.search(found)
        found.encode("utf-8")


def test_everything_is_printed_without_them(capsys):
    table = Table("a", "b", title=f"{EVIL}\n")
    table.add_row(EVIL, Text(f"{EVIL}\nsecond", style="bold"))
    say(EVIL)
    say_line(f"{EVIL}\nforged")
    say_json(json.dumps(EVIL, ensure_ascii=False))
    warn(f"{EVIL}\nforged")
    fail(EVIL)
    say_table(table)
    out, err = capsys.readouterr()
    assert not RAW.search(out + err)
    assert out.splitlines()[:3] == [SHOWN, f"{SHOWN}\\x0aforged", f'"{as_json(SHOWN)}"']
    assert out.count("EVIL") == 6  # rich leaves the bell out of its own texts
    assert err.splitlines() == [f"{SHOWN}\\x0aforged", SHOWN]


def as_json(shown):
    return re.sub(r"\\x(..)", r"\\u00\1", shown)


@pytest.mark.parametrize(
    ("encoding", "errors", "expected"),
    [
        ("ascii", "strict", "↑结".encode()),
        ("ascii", "surrogateescape", "↑结".encode()),
        ("utf-8", "strict", "↑结".encode()),
        ("gbk", "strict", "↑结".encode("gbk")),
        ("latin-1", "strict", b"\\u2191\\u7ed3"),
    ],
)
def test_a_stream_of_any_locale_takes_every_text(encoding, errors, expected):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors)
    take_every_text((stream, io.StringIO()))
    print("↑结", end="", file=stream, flush=True)
    assert stream.buffer.getvalue() == expected


def on_a_terminal(tmp_path, code, *arguments):
    """What a Python program writes to a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(console.__file__).parents[1]),
            "HF_DATASETS_CACHE": str(tmp_path / "datasets"),
            "TERM": "xterm",
            "COLUMNS": "200",
        },
    )
    os.close(follower)
    parts = []
    try:
        while part := os.read(leader, 1 << 16):
            parts.append(part)
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    assert process.wait() == 0, parts
    return b"".join(parts).decode()


PROMPT = """
import sys
from lm_eval_longbench.cli.main import main
sys.argv = ["lm-eval-longbench", *sys.argv[1:]]
main()
"""


def test_a_prompt_is_exact_in_a_pipe_and_harmless_on_a_terminal(tmp_path):
    file = tmp_path / "doc.json"
    file.write_text(json.dumps({"context": f"one\ttwo\n{EVIL}", "input": "q"}), encoding="utf-8")
    arguments = ["prompt", QASPER, "--doc", file]
    shown = on_a_terminal(tmp_path, PROMPT, *arguments).replace("\r\n", "\n")
    assert not RAW.search(shown)
    assert f"one\ttwo\n{SHOWN}" in shown.expandtabs(1).replace("one two", "one\ttwo")
    piped = subprocess.run(
        [sys.executable, "-c", PROMPT, *map(str, arguments)],
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(console.__file__).parents[1])},
    ).stdout.decode()
    assert piped == shown.expandtabs(1).replace("one two", "one\ttwo").replace(SHOWN, EVIL)


# ---------------------------------------------------------------------- the commands


@pytest.fixture
def run(monkeypatch, capfd, tmp_path):
    """Run a command as the console script does; return what stands on standard output and error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["lm-eval-longbench", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit):
            main_module.main()
        return capfd.readouterr()

    return command


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("run"), EXTRACTIVE, [QASPER, "longbench_v2"])


def score_file_names(tmp_path):
    folder = tmp_path / f"in {EVIL}"
    write_lines(folder / f"{EVIL}.jsonl", {"a": 1})
    (folder / f"link {EVIL}.jsonl").symlink_to("nowhere")
    write_lines(folder / "qasper.jsonl", v1_row("Emma", "Emma"), "{")
    return ["score", folder, "--benchmark", "v1", "--output", tmp_path / f"out {EVIL}"]


def hostile_report(tmp_path):
    rows = [*scored_runs.v1_rows({"qasper": [0.0, 1.0]}), scored_runs.pro_row(EVIL, 0.5)]
    problems = {EVIL: [{"file": EVIL}], "malformed": [{"file": EVIL}]}
    runs = [
        scored_runs.write_run(
            tmp_path / f"{name} {EVIL}",
            rows,
            data=(EVIL, name),
            embedding_model=EVIL,
            problems=problems,
        )
        for name in "ab"
    ]
    for folder in runs:
        file = folder / "report.json"
        report = json.loads(file.read_text(encoding="utf-8"))
        for table in report["tables"].values():
            table["signature"] = {"line": EVIL, "ingredients": {"data": EVIL, EVIL: EVIL}}
            table["runs"] = [EVIL, "b"]
        file.write_text(json.dumps(report), encoding="utf-8")
    return ["report", *runs]


def spoiled(real, target):
    """A real run, with the characters in every text of its results that can be another."""
    files = Files.copy(real, target)

    def edit(whole):
        for name in (QASPER, "longbench_v2"):
            config = whole["configs"][name]
            run = config["metadata"]["longbench_run"]
            for key, value in run.items():
                if isinstance(value, str) and key not in ("benchmark", "task"):
                    run[key] = f"{value}{EVIL}"
            config["generation_kwargs"][EVIL] = EVIL
            whole["results"][name][f"{EVIL},none"] = 0.5
            whole["results"][name]["score,none"] = EVIL
        whole["group_subtasks"][EVIL] = [QASPER]
        whole["results"][EVIL] = {"score,none": 0.1, f"{EVIL},none": 0.5}
        whole["groups"] = {EVIL: {"score,none": 0.9}}
        whole["versions"][QASPER] = EVIL

    files.edit_results(edit)

    def edit_log(rows):
        for row in rows:
            row["doc"]["_id"] = EVIL
            row["doc"]["data"] = EVIL
            row["filter"] = EVIL
            row["target"] = EVIL
            row["filtered_resps"] = [EVIL]
            row["arguments"]["gen_args_0"]["arg_1"]["temperature"] = EVIL

    files.edit_log(QASPER, edit_log)
    return files


def verify_spoiled(tmp_path, real):
    return ["verify", spoiled(real, tmp_path / f"run {EVIL}").folder]


def compare_spoiled(tmp_path, real):
    return ["compare", real, spoiled(real, tmp_path / f"run {EVIL}").folder]


COMMANDS = [
    *(score_file_names, hostile_report, verify_spoiled, compare_spoiled),
]


@pytest.mark.parametrize("make", COMMANDS, ids=lambda make: make.__name__)
def test_no_command_prints_them(run, tmp_path, real, make):
    wants_real = "real" in make.__code__.co_varnames[: make.__code__.co_argcount]
    out, err = run(*(make(tmp_path, real) if wants_real else make(tmp_path)))
    assert "EVIL" in out + err  # the text came as far as this
    assert not RAW.search(out), out
    assert not RAW.search(err), err


def test_a_written_report_keeps_what_names_are(run, tmp_path):
    for kind in ("table", "csv", "json"):
        folder = tmp_path / kind
        folder.mkdir()
        out, err = run(*hostile_report(folder), "--format", kind, "--output", folder / "report")
        assert not RAW.search(out + err)
        text = (folder / "report").read_text(encoding="utf-8")
        found = text if kind != "json" else json.dumps(json.loads(text), ensure_ascii=False)
        assert "\x7f\u202e[bold]" in found


def test_warnings_of_the_log(tmp_path):
    """In a process of its own: here pytest has taken the place of the handler."""
    row = {**v1_doc(QASPER, 1, "Emma"), "context": EVIL, "dataset": EVIL}
    write_lines(tmp_path / EVIL / "narrativeqa.jsonl", row)
    write_lines(tmp_path / EVIL / "qasper.jsonl", row, "{")
    done = subprocess.run(
        [sys.executable, "-c", PROMPT, "prepare", "v1", "--data-dir", str(tmp_path / EVIL)],
        capture_output=True,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(console.__file__).parents[1]),
            "HF_DATASETS_CACHE": str(tmp_path / "datasets"),
        },
        check=False,
    )
    err = done.stderr.decode()
    assert err.startswith("WARNING lm_eval_longbench.data.open: data_dir ")
    assert SHOWN in err.splitlines()[0]
    assert not RAW.search(err)
