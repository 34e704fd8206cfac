"""Charts as files for papers, drawn by the script that draws them in the page.

The script is run by V8 (the package mini-racer), so that page and papers have one renderer; PNG and
PDF are made of its SVG by vl-convert, which draws or embeds the letters of the machine's fonts. SVG
files with Chinese carry the letters that they show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from lm_eval_longbench.errors import LongBenchError, MissingDependencyError, OptionError
from lm_eval_longbench.page.build import static
from lm_eval_longbench.page.fonts import NO_FONT, chinese_of, embedded, letters

SVG, PNG, PDF = "svg", "png", "pdf"
KINDS = (SVG, PNG, PDF)
_INSTALL = 'pip install "lm-eval-longbench[charts]"'
# Times the size on the screen.
_SCALE = 2.0
_PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
    '<text x="4" y="30" font-size="28" font-family="Noto Sans, sans-serif">{}</text></svg>'
)


def _renderer() -> Any:
    try:
        from py_mini_racer import MiniRacer
    except ImportError as error:
        raise MissingDependencyError(
            f"Charts as files need the package mini-racer. {_INSTALL}"
        ) from error
    racer = MiniRacer()
    racer.eval(static("chart.js"))
    return racer


def _converter() -> ModuleType:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingDependencyError(
            f"PNG and PDF need the package vl-convert-python, SVG does not. {_INSTALL}"
        ) from error
    found: ModuleType = vl_convert
    return found


def shows_chinese(converter: ModuleType) -> bool:
    """Whether a font of the machine has Chinese characters: two of them look different."""
    one, other = (converter.svg_to_png(_PROBE.format(character)) for character in "中文")
    return bool(one != other)


def _converted(converter: ModuleType, svg: str, kind: str) -> bytes:
    data: bytes = (
        converter.svg_to_png(svg, scale=_SCALE) if kind == PNG else converter.svg_to_pdf(svg)
    )
    return data


def _check_models(data: Mapping[str, Any], models: Sequence[str]) -> None:
    known = {entry["model"] for own in data["benchmarks"] for entry in own["entries"]}
    unknown = [name for name in models if name not in known]
    if unknown:
        raise OptionError(
            f"No such model: {', '.join(unknown)}. There are: {', '.join(sorted(known))}."
        )


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
        LongBenchError: no font has the Chinese characters of a chart.
    """
    _check_models(data, models)
    racer, converter = _renderer(), None if kind == SVG else _converter()
    drawn = {
        f"{benchmark['name']}-{chart['name']}.{kind}": racer.call(
            "LongBenchCharts.fileOf", benchmark, chart["name"], language, list(models) or None
        )
        for benchmark in data["benchmarks"]
        for chart in benchmark["charts"]
    }
    if converter is None:
        font = letters(drawn.values())
        for name, svg in drawn.items():
            yield name, embedded(svg, font if chinese_of([svg]) else b"").encode("utf-8")
        return
    if chinese_of(drawn.values()) and not shows_chinese(converter):
        raise LongBenchError(NO_FONT)
    for name, svg in drawn.items():
        yield name, _converted(converter, svg, kind)
