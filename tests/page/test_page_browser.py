"""The page in a real browser: what a reader does with it, and what it must never do.

One browser serves the whole module. Each page ends with a check that nothing was asked of another
machine and that the console holds no error.
"""

import csv
import io

import pytest
from page_runs import Shown

from lm_eval_longbench.page.build import build_page
from lm_eval_longbench.page.data import page_data

PRO = "longbench_pro"


@pytest.fixture(scope="module")
def file(runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(build_page(page_data(runs, published=True)), encoding="utf-8")
    return path


@pytest.fixture
def shown(browser, file):
    own = Shown(browser, file)
    own.page.click(f"#tab-{PRO}")
    yield own
    own.close()


def chart(shown, name):
    return shown.page.locator(f'figure[data-chart="{name}"]')


def test_rows_are_sorted_by_any_column(shown):
    header = shown.page.locator("#board thead th")
    assert shown.names()[0] == "Gemini-2.5-Pro"  # thinking scores, as most have one
    assert shown.page.locator('#board th[aria-sort="descending"]').count() == 1
    shown.page.click('#board button[data-key="nonthinking/0"]')
    assert shown.names()[0] == "Claude-4-Sonnet"
    shown.page.click('#board button[data-key="model"]')
    names = shown.names()
    assert names == sorted(names, key=str.lower)
    shown.page.click('#board button[data-key="model"]')
    assert shown.names() == names[::-1]
    assert header.first.get_attribute("aria-sort") == "descending"


def test_models_are_chosen_for_the_charts(shown):
    page, svg = shown.page, chart(shown, "overall").locator("svg")
    shown.settled()
    assert "alpha" in svg.text_content()
    page.click("#pick-none")
    assert shown.chosen() == 0
    assert "No numbers for the chosen models." in svg.text_content()
    page.get_by_label("Choose GPT-5 for the charts").check()
    assert shown.chosen() == 1
    assert "GPT-5 – Thinking" in svg.text_content()
    page.click("#pick-only")
    assert shown.chosen() == 4
    page.click('[data-mode="thinking"]')
    assert shown.chosen() == 2
    assert "Thinking" not in svg.text_content().replace("Non-thinking", "")


def test_every_chart_is_drawn_and_has_a_text(shown):
    for tab in ("longbench_v1_e", "longbench_v2", PRO):
        shown.page.click(f"#tab-{tab}")
        shown.settled()
        charts = shown.page.locator("figure[data-chart]")
        assert charts.count() >= 2
        for number in range(charts.count()):
            svg = charts.nth(number).locator("svg")
            assert svg.get_attribute("role") == "img"
            title, text = svg.evaluate(
                "s => [s.querySelector('title').textContent, s.querySelector('desc').textContent]"
            )
            assert title and text.startswith(title)
            assert "NaN" not in svg.evaluate("s => s.outerHTML")


def saved(shown, name, kind):
    with shown.page.expect_download() as download:
        chart(shown, name).locator(f'[data-save="{kind}"]').click()
    assert download.value.suggested_filename == f"{PRO}-{name}.{kind}"
    return download.value.path().read_bytes()


def test_charts_are_downloaded(shown):
    assert saved(shown, "tasks", "png").startswith(b"\x89PNG")
    svg = saved(shown, "tasks", "svg").decode()
    assert svg.startswith("<svg ") and "Score by primary task" in svg
    rows = list(csv.DictReader(io.StringIO(saved(shown, "length", "csv").decode("utf-8-sig"))))
    own = [row for row in rows if row["model"] == "alpha – Non-thinking"]
    assert [row["point"] for row in own] == ["8k", "16k", "32k", "64k", "128k", "256k"]
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in own)


def test_language_and_theme(shown):
    page = shown.page
    page.click("#language")
    assert page.get_attribute("html", "lang") == "zh-CN"
    assert "排行榜" in page.inner_text("#board h2")
    shown.settled()
    assert "总体" in chart(shown, "overall").locator("svg").text_content()
    page.click("#language")
    assert "Leaderboard" in page.inner_text("#board h2")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.get_attribute("html", "data-theme") == "light"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.get_attribute("html", "data-theme") == "dark"


def test_the_keyboard_is_enough(browser, file):
    own = Shown(browser, file)
    page = own.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    tabs = page.locator('[role="tab"]')
    tabs.first.focus()
    for _ in range(tabs.count() - 1):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == f"tab-{PRO}"
    assert "LongBench Pro" in page.inner_text("#board h2")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("gpt-5")
    assert own.names() == ["GPT-5"]
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == (
            "Choose GPT-5 for the charts"
        ):
            break
    before = own.chosen()
    page.keyboard.press("Space")
    assert abs(own.chosen() - before) == 1
    page.locator("#board th button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#board th").first.get_attribute("aria-sort") == "ascending"
    own.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_that_matters(browser, file, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe here")
    own = Shown(browser, file, color_scheme=theme)
    own.page.click(f"#tab-{PRO}")
    chart(own, "length").locator("[data-table]").click()
    found = axe.Axe().run(own.page).response["violations"]
    found = [
        (one["id"], one["nodes"][0]["html"][:200], one["nodes"][0].get("failureSummary"))
        for one in found
        if one["impact"] in ("moderate", "serious", "critical")
    ]
    assert found == []
    own.close()


@pytest.mark.parametrize("width", [360, 1366])
def test_nothing_is_wider_than_the_screen(browser, file, width):
    own = Shown(browser, file, viewport={"width": width, "height": 800})
    for tab in own.page.locator('[role="tab"]').all():
        tab.click()
        wide = own.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
    own.close()
