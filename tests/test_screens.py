"""What commands print in real runs, line by line; screens.txt has it by command.

Left out is what differs from run to run or follows from a version: moments, paths, hashes.
"""

import os
import re
from pathlib import Path

import pytest
from fault_server import FaultServer, first, texts

ROOT = Path(__file__).resolve().parents[1]
SCREENS = ROOT / "tests" / "screens.txt"
SAMPLE = '{"longbench": {"data_dir": "sample"}}'
RUN = ("run", "--model", "longbench-extractive", "--metadata", SAMPLE)
FILES = ("--output_path", "out", "--log_samples")
COMMANDS = {
    "demo": (*RUN, "--tasks", "longbench_v1"),
    "two": (*RUN, "--tasks", "longbench_v1_e_qasper,longbench_v2", "--limit", "3", *FILES),
    "verify": ("verify", "out"),
    "one": (*RUN, "--tasks", "longbench_v1_qasper", "--output_path", "one", "--log_samples"),
    "score": ("score", "one", "--output", "scored"),
    "report": ("report", "scored", "--against", "published"),
    "tasks": ("tasks",),
}


def plain(text):
    """Return a screen without what differs from run to run or follows from a version."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d.-]+\d", "MOMENT", text)
    text = re.sub(r"\S*(?=lm-eval-longbench_MOMENT\.log)", "", text)
    text = re.sub(r"\|v[\d.]+\|", "|vN|", text)
    text = re.sub(r"\|score:[\d.]+\|sig:[0-9a-f]{8}", "|score:N|sig:N", text)
    text = re.sub(r"(?<=Checks: )\d+(?= confirmed, 0 different, \d+)", "N", text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.fixture(scope="module")
def screens(processes, tmp_path_factory):
    """Return what each command prints on its standard output, one after the other in a folder."""
    folder = tmp_path_factory.mktemp("screens")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "LONGBENCH_LANG": "en"}
    found = {}
    for name, arguments in COMMANDS.items():
        done = processes.run("lm-eval-longbench", *arguments, cwd=folder, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        found[name] = plain(done.stdout)
    return found


@pytest.mark.parametrize("name", ["two", "verify", "report", "tasks"])
def test_a_screen_is_as_it_was(screens, name):
    text = SCREENS.read_text(encoding="utf-8")
    known = dict(re.findall(r"^\$ (\w+)\n(.*?)(?=^\$ |\Z)", text, re.DOTALL | re.MULTILINE))
    assert screens[name] == known[name]


@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
def test_the_page_shows_what_the_demo_prints(screens, page):
    text = (ROOT / page).read_text(encoding="utf-8")
    (shown,) = re.findall(r"```(?:text)?\n(LongBench v1 +English .*?)```", text, re.DOTALL)
    assert plain(shown) == screens["demo"]


def test_the_demo_begins_with_its_headline_and_is_one_screen(screens):
    first, second, *_ = lines = screens["demo"].splitlines()
    assert first.startswith("LongBench v1       English ")
    assert second.startswith("official protocol  no, because: other data than zai-org/LongBench@")
    assert len(lines) < 24
    assert "gen_kwargs" not in screens["demo"]


def test_the_harness_prints_its_tables_with_verbose_only(processes):
    done = processes.run(
        *("lm-eval-longbench", *RUN, "--tasks", "longbench_v1_trec", "--verbose"),
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\|longbench_v1_trec\|", done.stdout, re.MULTILINE)
    assert "gen_kwargs: (" in done.stdout


def test_a_run_without_a_single_answer_ends_with_status_1(processes, tmp_path):
    """One whose server says nothing; one answer is enough for status 0."""
    for reply, status in (("", 1), ("an answer", 0)):
        with FaultServer(first(1 if reply else 999, texts(""))) as server:
            done = processes.run(
                *("lm-eval-longbench", "run", "--model", "longbench-api", "--model_args"),
                f"model=tiny,base_url=http://127.0.0.1:{server.server_port}/v1,endpoint=chat",
                *("--tasks", "longbench_v1_passage_count", "--apply_chat_template"),
                *("--metadata", SAMPLE, "--output_path", str(tmp_path / (reply or "none"))),
            )
        assert done.returncode == status, done.stdout + done.stderr
        said = "No question has an answer: all are empty or failed. The figures say nothing."
        assert (said in done.stderr) == (status == 1)
        assert "LongBench v1       passage_count" in done.stdout  # all the same
