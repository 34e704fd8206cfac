"""README and docs: both languages say the same, links lead somewhere, commands exist."""

import re
import shlex
from pathlib import Path

import pytest

from lm_eval_longbench.benchmarks.registry import expanded
from lm_eval_longbench.cli.main import command as command_of
from lm_eval_longbench.harness.arguments import parse
from lm_eval_longbench.options import Options

ROOT = Path(__file__).parents[1]
PAIRS = {
    "README.md": "README.zh.md",
    "docs/quick-start.md": "docs/zh/quick-start.md",
    "docs/troubleshooting.md": "docs/zh/troubleshooting.md",
    "docs/data.md": "docs/zh/data.md",
}
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", ROOT / "README.zh.md", *(ROOT / "docs").rglob("*.md")]
)
CODE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# Figures that the languages write in their own ways: 38 million is 3800 万.
MILLIONS = re.compile(r"[\d.]+ (?:million|万|亿)")


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def code_of(page):
    return [(kind, body) for _, kind, body in CODE.findall(text_of(page))]


def numbers(page):
    """Figures outside code, in order, but for those that are words in one of the languages."""
    text = MILLIONS.sub("", CODE.sub("", text_of(page)))
    text = re.sub(r"\]\([^)]*\)|`[^`]*`", "", text)
    return sorted(re.findall(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.])\d(?!\w)", text))


@pytest.mark.parametrize("english", PAIRS)
def test_both_languages_have_the_same_headings_commands_and_figures(english):
    chinese = PAIRS[english]
    texts = [CODE.sub("", text_of(page)) for page in (english, chinese)]
    one, other = (re.findall(r"^#+", text, re.MULTILINE) for text in texts)
    assert one == other
    assert code_of(english) == code_of(chinese)
    inline = [set(re.findall(r"`([^`\n]+)`", text)) for text in texts]
    assert inline[0] - inline[1] <= {"LONGBENCH_LANG"}
    assert len(re.findall(r"[\u4e00-\u9fff]", text_of(chinese))) > 200


@pytest.mark.parametrize("english", PAIRS)
def test_both_languages_have_the_same_figures(english):
    assert numbers(english) == numbers(PAIRS[english])


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_that_are_there(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", text_of(page))):
        if not target.startswith(("http://", "https://", "#", "mailto:")):
            path = (ROOT / page).parent / target.partition("#")[0]
            assert path.exists(), target


def commands(page):
    for kind, body in code_of(page):
        if kind == "bash":
            body = re.sub(r"(?m)^ +(?=lm-eval|lm_eval)", "", body)
            joined = body.replace("\\\n", " ")
            for line in joined.splitlines():
                if re.match(r"(?:[A-Z_]+=\S+ )*lm-eval-longbench ", line) and "..." not in line:
                    yield line


# Those with names of the reader's own are run by the tests of these pages.
OTHERS = ("docs/new-benchmark.md", "docs/reproducing.md", "docs/suites.md")
COMMANDS = [(page, line) for page in PAGES if page not in OTHERS for line in commands(page)]


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=lambda value: str(value)[:60])
def test_every_command_of_the_pages_is_taken(page, line, monkeypatch):
    """Its command and options are there; of `run` also tasks, keys and what the harness takes."""
    words = shlex.split(line, comments=True)
    while not words[0].startswith("lm-eval"):  # variables
        words.pop(0)
    assert words.pop(0) == "lm-eval-longbench"
    words = [word.replace("TASKS", "longbench_v1") for word in words]
    name, *arguments = words
    is_more = name == "answers" and arguments[0] in ("merge", "import")
    command = command_of(name, arguments.pop(0)) if is_more else command_of(name)
    own = {option for one in command.params for option in getattr(one, "opts", ())}
    if name in ("run", "doctor"):
        rest = []
        waiting = iter(arguments)
        for word in waiting:
            if word in own and word.startswith("-"):
                takes = next(one for one in command.params if word in one.opts)
                if not takes.is_flag:
                    next(waiting)
            elif word != "--locked":
                rest.append(word)
        if not rest:
            return
        parsed = parse(rest)
        tasks = parsed.tasks if isinstance(parsed.tasks, list) else [parsed.tasks]
        assert expanded([name for name in tasks if name])[1] == []
        Options.from_metadata(dict(parsed.metadata or {}))
    else:
        for word in arguments:
            if word.startswith("--"):
                assert word.partition("=")[0] in own, word


def test_there_are_commands_to_look_at():
    assert len(COMMANDS) > 30
