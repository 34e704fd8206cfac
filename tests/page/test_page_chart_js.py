"""The renderer on whatever numbers there may be: every chart is sound SVG within its frame."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_runs import HOSTILE

from lm_eval_longbench.benchmarks.charts import KINDS
from lm_eval_longbench.page.build import static

py_mini_racer = pytest.importorskip("py_mini_racer", reason="mini-racer is not installed")
NUMBER = st.sampled_from([0.0, 1e-7, 0.5, 33.3, 100.0, -12.5, -0.0])
VALUE = st.none() | st.tuples(NUMBER, st.booleans(), st.integers(0, 500)).map(
    lambda own: [own[0], *([own[0] - 1, own[0] + 1] if own[1] else [None, None]), own[2]]
)
NAME = st.sampled_from(["a", "模型", "x" * 300, "<b>&\"'", HOSTILE.replace("\x1b", "")])


@pytest.fixture(scope="module")
def racer():
    own = py_mini_racer.MiniRacer()
    own.eval(static("chart.js"))
    return own


def benchmark(kind, signed, panels, points, rows, ladder):
    places = [
        [{"at": panel * points + point, "label": [f"p{point}", ""]} for point in range(points)]
        for panel in range(panels)
    ]
    chart = {
        "name": "one",
        "kind": kind,
        "title": ["Title", "标题"],
        "signed": signed,
        "panels": [{"title": [f"panel {n}", ""], "points": own} for n, own in enumerate(places)],
        **({"axis": "effective"} if ladder else {}),
    }
    entries = [{"model": name, "mode": "m", "run": run, "values": own} for name, run, own in rows]
    return {
        "title": "Benchmark",
        "decimals": 2,
        "modes": [["m", ["Mode", "模式"]], ["n", ["Other", "其他"]]],
        "headline": [places[0][0]],
        "ladder": {"labels": [["8k", "8k"], ["16k", "16k"]], "shortest": 8},
        "charts": [chart],
        "entries": entries,
    }


@given(st.data())
@settings(max_examples=80)
def test_no_numbers_break_a_chart(racer, data):
    kind = data.draw(st.sampled_from([*KINDS, "dots"]))
    single = kind in ("bars", "inside", "heat", "dots")
    panels = 1 if single else data.draw(st.integers(1, 3))
    points = {"inside": 2, "dots": 1}.get(kind) or data.draw(st.integers(1, 6))
    number = panels * points
    row = st.tuples(NAME, st.booleans(), st.lists(VALUE, min_size=number, max_size=number))
    rows = data.draw(st.lists(row, max_size=5))
    own = benchmark(kind, data.draw(st.booleans()), panels, points, rows, ladder=False)
    language = data.draw(st.sampled_from(["en", "zh"]))
    models = [name for name, _, _ in rows]
    svg = racer.call("LongBenchCharts.fileOf", own, "one", language, models)
    root = ElementTree.fromstring(svg)
    values = [value for node in root.iter() for name, value in node.attrib.items() if name != "id"]
    assert not any(re.search(r"NaN|undefined|Infinity|null", value) for value in values)
    width, height = float(root.get("width")), float(root.get("height"))
    assert 200 < width < 1200 and 20 < height < 5000
    for node in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(node.get("width")) >= 0 and float(node.get("height")) > 0


@pytest.mark.parametrize(
    ("shortest", "steps", "said"),
    [(8, 0, "8k"), (8, 1.5, "23k"), (8, 2, "≥32k"), (0, 1.0, "b"), (0, 0.0, "a"), (0, 2.0, "≥c")],
)
def test_an_effective_length_in_words(racer, shortest, steps, said):
    ladder = {"labels": [["a", ""], ["b (x)", ""], ["c", ""]], "shortest": shortest}
    assert racer.call("LongBenchCharts.lengthText", ladder, steps, "en") == said


def test_csv_has_no_formulas(racer):
    rows = [("=1+1", True, [[1.0, None, None, 3]]), ('a "b", c', False, [[-1.0, -2.0, 0.0, 3]])]
    own = benchmark("bars", False, 1, 1, rows, ladder=False)
    racer.eval(
        "function csv(own) { return LongBenchCharts.csvOf("
        "LongBenchCharts.specOf(own, 'one', [0, 1], 'en')); }"
    )
    lines = racer.call("csv", own).split("\r\n")
    assert lines[1] == "'=1+1 – Mode,panel 0,p0,1,,,3"
    assert lines[2] == '"a ""b"", c – Mode",panel 0,p0,-1,-2,0,3'
