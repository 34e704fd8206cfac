"""A page of runs and published rows, and one browser for all tests that need it."""

import shutil

import pytest
from page_runs import pro_rows
from scored_runs import v1_rows, v2_row, write_run

from lm_eval_longbench.benchmarks.v1 import E
from lm_eval_longbench.reporting.scored_run import read_run

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """Two runs of Pro in both modes, and one of v2 and E."""
    root = tmp_path_factory.mktemp("runs")
    worth = ((100, 0.8), (5000, 0.6), (9000, 0.4))
    e_rows = v1_rows(dict.fromkeys(E.datasets, list(worth) * 20), "longbench_v1_e")
    v2_rows = [
        v2_row(f"q{n}", float(n % 3 == 0), length=("short", "medium", "long")[n % 3])
        for n in range(90)
    ]
    return [
        write_run(root / "alpha", pro_rows(0.6, 1)),
        write_run(root / "beta", pro_rows(0.5, 2)),
        write_run(root / "gamma", v2_rows + e_rows),
    ]


@pytest.fixture(scope="session")
def runs(folders):
    return [read_run(folder) for folder in folders]


@pytest.fixture(scope="module")
def browser():
    """Debian's chromium; scripts/test installs it where it may.

    While it is open, no other test of this process can have an event loop.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no chromium here: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield chromium
        chromium.close()
