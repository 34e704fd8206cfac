"""Charts as files for papers.

The script is run by V8 (the package mini-racer), so that page and papers have one renderer; PNG and
PDF are made of its SVG by vl-convert, which draws or embeds the letters of the machine's fonts. The
text of an SVG stays text: whoever opens one needs a font with its letters.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_longbench.errors import LongBenchError, MissingDependencyError, OptionError
from lm_eval_longbench.page.build import static

SVG, PNG, PDF = "svg", "png", "pdf"
KINDS = (SVG, PNG, PDF)
_INSTALL = 'pip install "lm-eval-longbench[charts]"'
NO_FONT = (
    "No font here shows Chinese. Install one, such as Noto Sans CJK "
    "(Debian: apt-get install fonts-noto-cjk)."
)
# Characters that need a font which shows Chinese.
_CHINESE = re.compile("[\u2e80-\ud7ff\uf900-\uffef]")
# Times the size on the screen.
_SCALE = 2.0
_PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
    '<text x="4" y="30" font-size="28" font-family="Noto Sans, sans-serif">{}</text></svg>'
)


def _needed(module: str, what: str) -> Any:
    """Return an optional module; MissingDependencyError names the package that lacks."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(f"{what}. {_INSTALL}") from error


def shows_chinese(converter: Any) -> bool:
    """Whether a font of the machine has Chinese characters: two of them look different."""
    one, other = (converter.svg_to_png(_PROBE.format(character)) for character in "中文")
    return bool(one != other)


def chart_files(
    data: Mapping[str, Any], kind: str, language: str = "en", models: Sequence[str] = ()
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each chart that has a number.

    Args:
        data: see `data.page_data`.
        kind: one of KINDS.
        language: of titles and axes: "en" or "zh".
        models: names of those that are drawn; (): runs and the best published rows, as in the page.

    Raises:
        OptionError: there is no such model.
        MissingDependencyError: a package of the extra `charts` is missing.
        LongBenchError: PNG or PDF, and no font has the Chinese characters of a chart.
    """
    known = {entry["model"] for own in data["benchmarks"] for entry in own["entries"]}
    if unknown := [name for name in models if name not in known]:
        there = ", ".join(sorted(known))
        raise OptionError(f"No such model: {', '.join(unknown)}. There are: {there}.")
    racer = _needed("py_mini_racer", "Charts as files need the package mini-racer").MiniRacer()
    racer.eval(static("chart.js"))
    more = "PNG and PDF need the package vl-convert-python, SVG does not"
    converter = None if kind == SVG else _needed("vl_convert", more)
    drawn = {
        f"{benchmark['name']}-{chart['name']}.{kind}": racer.call(
            "LongBenchCharts.fileOf", benchmark, chart["name"], language, list(models) or None
        )
        for benchmark in data["benchmarks"]
        for chart in benchmark["charts"]
    }
    if converter is None:
        yield from ((name, svg.encode("utf-8")) for name, svg in drawn.items())
        return
    if _CHINESE.search("".join(drawn.values())) and not shows_chinese(converter):
        raise LongBenchError(NO_FONT)
    for name, svg in drawn.items():
        is_png = kind == PNG
        yield name, converter.svg_to_png(svg, scale=_SCALE) if is_png else converter.svg_to_pdf(svg)
