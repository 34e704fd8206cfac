"""Every snippet of docs/python.md runs, in its order, and the page lists every name."""

import os
import re
from pathlib import Path

import pytest

import lm_eval_longbench

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text(encoding="utf-8")


def test_every_snippet_runs(text, model_folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {
        "FOLDER": model_folder,
        **{name: str(tmp_path / name.lower()) for name in ("RESULTS", "SAVED", "SCORED", "SCORES")},
    }
    snippets = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(snippets) > 10
    for number, snippet in enumerate(snippets):
        exec(compile(snippet, f"snippet {number} of {PAGE.name}", "exec"), names)
    printed = capsys.readouterr().out
    assert "qasper,percent" in printed and "Options: data_dir=" in printed
    assert (
        names["result"]["configs"]["longbench_v1_qasper"]["metadata"]["longbench_run"]["limit"]
        == 500
    )
    assert os.listdir(names["SCORED"])


def test_the_page_lists_every_name(text):
    listed = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    in_table = {name for names in listed for name in re.findall(r"`(\w+)`", names)}
    returned = {"Document", "Documents", "FigureValue", "PromptText", "Run", "__version__"}
    assert in_table | returned == set(lm_eval_longbench.__all__)
    assert all(f"`{name}`" in text for name in returned - {"Document", "__version__"})
