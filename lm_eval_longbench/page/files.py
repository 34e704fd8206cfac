"""Charts as files for papers, drawn by the script that draws them in the page.

The script is run by V8 (the package mini-racer), so that page and papers have one renderer; PNG and
PDF are made of its SVG by vl-convert, which embeds the letters of the machine's fonts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from lm_eval_longbench.errors import LongBenchError, MissingDependencyError, OptionError
from lm_eval_longbench.page.build import static

SVG, PNG, PDF = "svg", "png", "pdf"
KINDS = (SVG, PNG, PDF)
_INSTALL = 'pip install "lm-eval-longbench[charts]"'
# Times the size on the screen.
_SCALE = 2.0
# Beyond this code a character needs a font that shows Chinese.
_CHINESE = 0x2E7F
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
    chinese = False
    for benchmark in data["benchmarks"]:
        for chart in benchmark["charts"]:
            name = chart["name"]
            chosen = list(models) or None
            svg = racer.call("LongBenchCharts.fileOf", benchmark, name, language, chosen)
            if converter is None:
                content = svg.encode("utf-8")
            else:
                if not chinese and any(ord(character) > _CHINESE for character in svg):
                    chinese = shows_chinese(converter)
                    if not chinese:
                        raise LongBenchError(
                            "No font here shows Chinese. Install one, such as Noto Sans CJK "
                            "(Debian: apt-get install fonts-noto-cjk)."
                        )
                content = _converted(converter, svg, kind)
            yield f"{benchmark['name']}-{name}.{kind}", content
