"""Charts as files: the page's own drawings, in every format, with Chinese."""

import re
import sys
from xml.etree import ElementTree

import pytest
from page_runs import Shown
from typer.testing import CliRunner

from lm_eval_longbench.cli.main import app
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.page import files
from lm_eval_longbench.page.build import build_page
from lm_eval_longbench.page.data import page_data
from lm_eval_longbench.page.files import chart_files, shows_chinese

pytest.importorskip("py_mini_racer", reason="mini-racer is not installed")
vl_convert = pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")


@pytest.fixture(scope="module")
def data(runs):
    return page_data(runs, published=True)


def test_every_chart_is_one_file(data):
    found = dict(chart_files(data, "svg"))
    expected = {
        f"{own['name']}-{chart['name']}.svg"
        for own in data["benchmarks"]
        for chart in own["charts"]
    }
    assert set(found) == expected
    for content in found.values():
        assert not {"NaN", "undefined", "Infinity"} & set(re.findall(r"\w+", content.decode()))
        assert ElementTree.fromstring(content).tag.endswith("svg")


def test_a_files_chart_is_that_of_the_page(data, browser, tmp_path):
    """The same script draws both: the download and the file are equal, byte for byte."""
    path = tmp_path / "report.html"
    path.write_text(build_page(data), encoding="utf-8")
    own = Shown(browser, path)
    own.page.click("#tab-longbench_pro")
    found = dict(chart_files(data, "svg"))
    for name in ("length", "tasks", "best-of-n", "effective", "overall"):
        with own.page.expect_download() as download:
            own.page.click(f'figure[data-chart="{name}"] [data-save="svg"]')
        assert download.value.path().read_bytes() == found[f"longbench_pro-{name}.svg"]
    own.close()


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_formats(data, kind, start):
    if not shows_chinese(vl_convert):
        pytest.skip("no font here shows Chinese: apt-get install fonts-noto-cjk")
    one = {**data, "benchmarks": data["benchmarks"][:1]}
    found = dict(chart_files(one, kind, "zh"))
    assert len(found) == len(one["benchmarks"][0]["charts"])
    assert all(content.startswith(start) for content in found.values())


def test_chinese_without_a_font_is_an_error(data, monkeypatch):
    monkeypatch.setattr(files, "shows_chinese", lambda converter: False)
    with pytest.raises(LongBenchError, match="No font here shows Chinese"):
        list(chart_files(data, "png", "zh"))
    assert any("得分" in own.decode() for _, own in chart_files(data, "svg", "zh"))


@pytest.mark.parametrize(
    ("kind", "language", "module", "said"),
    [
        ("svg", "en", "py_mini_racer", "mini-racer"),
        ("pdf", "en", "vl_convert", "vl-convert"),
    ],
)
def test_a_missing_package_is_named(data, monkeypatch, kind, language, module, said):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(LongBenchError, match=rf"{said}.*pip install \"lm-eval-longbench\[charts\]"):
        list(chart_files(data, kind, language))


# ---------------------------------------------------------------------- the command


@pytest.fixture
def command():
    def run(*arguments, code=0):
        done = CliRunner().invoke(app, ["report", *map(str, arguments)])
        if code == 0:
            assert done.exit_code == 0, done.output
            return done.output
        return str(done.exception)

    return run


WRONG = {
    "no run": (["--format", "html", "--output", "x.html"], "needs a run"),
    "no output": (["--against", "published", "--format", "html"], "--output report.html"),
    "no folder": (["--against", "published", "--format", "svg"], "--output charts"),
    "a share": (["--against", "published", "--format", "html", "--share", "0"], "--share must be"),
    "language": (["--format", "svg", "--language", "fr"], "Unknown language 'fr'"),
    "against": (["--format", "html", "--against", "me"], "Did you mean 'published'"),
    "benchmark": (
        ["--against", "published", "--format", "html", "--output", "x", "--benchmark", "v9"],
        "Unknown benchmark 'v9'",
    ),
    "answers": (
        ["--against", "published", "--format", "svg", "--output", "x", "--answers"],
        "html",
    ),
    "models": (
        ["--against", "published", "--format", "html", "--output", "x", "--models", "y"],
        "--models is for",
    ),
    "a table of nothing": ([], "needs one or more runs"),
    "a baseline": (["--format", "html", "--output", "x", "--baseline", "a"], "--baseline and --x"),
    "share of a table": (["--share", "0.5"], "--share: this is for --format html"),
    "language of a table": (["--language", "zh", "--format", "csv"], "--language: this is for"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_command_that_does_not_fit(command, what):
    arguments, said = WRONG[what]
    assert said in command(*arguments, code=1)
