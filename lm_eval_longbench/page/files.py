"""Charts as files for papers, with the letters that they show of a font of this machine.

Readers of a chart with Chinese may have no font that shows it. A file carries the few
hundred letters that it needs: some kilobytes of the font, as a data URI. The text stays text.

The script is run by V8 (the package mini-racer), so that page and papers have one renderer; PNG and
PDF are made of its SVG by vl-convert, which draws or embeds the letters of the machine's fonts. SVG
files with Chinese carry the letters that they show.
"""

from __future__ import annotations

import base64
import importlib
import io
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import LongBenchError, MissingDependencyError, OptionError
from lm_eval_longbench.page.build import static

# ---------------------------------------------------------------------- letters in an SVG

FAMILY = "LongBench Charts"
_INSTALL = 'pip install "lm-eval-longbench[charts]"'
NO_FONT = (
    "No font here shows Chinese. Install one, such as Noto Sans CJK "
    "(Debian: apt-get install fonts-noto-cjk)."
)
# From here to there characters need a font that shows Chinese; above are emoji and the like.
_FIRST, _LAST = 0x2E80, 0xFFEF
_SURROGATES = range(0xD800, 0xF900)
_ENDINGS = (".ttf", ".otf", ".ttc", ".otc")
# Fonts with simplified Chinese by the beginning of their file's name, the preferred ones first.
_KNOWN = (
    *("NotoSansCJK-Regular", "NotoSansCJKsc-Regular", "NotoSansSC", "SourceHanSansSC-Regular"),
    *("SourceHanSansCN-Regular", "SourceHanSans-Regular", "PingFang", "msyh", "Hiragino Sans GB"),
    *("wqy-microhei", "wqy-zenhei", "DroidSansFallback", "simhei", "Arial Unicode"),
)
# Bit of a font that forbids to embed it.
_RESTRICTED = 0x2


def folders() -> list[Path]:
    """Return where this machine keeps its fonts."""
    home = Path.home()
    if sys.platform == "darwin":
        return [home / "Library/Fonts", Path("/Library/Fonts"), Path("/System/Library/Fonts")]
    if os.name == "nt":
        return [Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts"]
    places = [home / ".local/share/fonts", home / ".fonts"]
    return [*places, Path("/usr/local/share/fonts"), Path("/usr/share/fonts")]


def chinese_of(texts: Collection[str]) -> set[str]:
    """Return the characters of some texts that need a font with Chinese."""
    return {
        own
        for own in set().union(*texts)
        if _FIRST <= ord(own) <= _LAST and ord(own) not in _SURROGATES
    }


def _files(places: Sequence[Path]) -> list[Path]:
    """Return the known fonts, the preferred ones first."""
    found: list[tuple[int, int, Path]] = []
    every = (path for place in places for path in place.rglob("*"))
    for number, path in enumerate(every):
        rank = next((n for n, own in enumerate(_KNOWN) if path.name.startswith(own)), None)
        if rank is not None and path.suffix.lower() in _ENDINGS:
            found.append((rank, number, path))
    return [path for *_, path in sorted(found)]


def _face_with(path: Path, wanted: Collection[str]) -> Any:
    """Return a font of a file that may be embedded and has some characters; None: none is so."""
    from fontTools.ttLib import TTCollection, TTFont

    codes = {ord(own) for own in wanted}
    try:
        number = len(TTCollection(path, lazy=True).fonts) if path.suffix in (".ttc", ".otc") else 1
        faces = [
            TTFont(path, fontNumber=n, lazy=True, recalcTimestamp=False) for n in range(number)
        ]
        faces.sort(key=lambda face: " SC" not in str(face["name"].getDebugName(1)))
        for face in faces:
            if not face["OS/2"].fsType & _RESTRICTED and codes <= face.getBestCmap().keys():
                return face
    except Exception:  # a damaged font, of which the reader raises whatever it meets
        return None
    return None


def _subset(face: Any, text: str) -> bytes:
    """Return the part of a font that some characters need, as WOFF; it changes the font."""
    from fontTools.subset import Options, Subsetter

    subsetter = Subsetter(Options(layout_features=[], hinting=False, name_IDs=[1, 2]))
    subsetter.populate(text=text)
    subsetter.subset(face)
    face.flavor = "woff"
    made = io.BytesIO()
    face.save(made)
    return made.getvalue()


def letters(texts: Collection[str], places: Sequence[Path] | None = None) -> bytes:
    """Return the letters of some texts as a font, WOFF; b"" where none of them is Chinese.

    Args:
        texts: SVG texts.
        places: folders with fonts; None: those of the machine.

    Raises:
        LongBenchError: no font that may be embedded has the Chinese characters.
        MissingDependencyError: fonttools is not installed.
    """
    wanted = chinese_of(texts)
    if not wanted:
        return b""
    _needed("fontTools", "SVG with Chinese carries its letters and needs the package fonttools")
    for path in _files(folders() if places is None else places):
        face = _face_with(path, wanted)
        if face is not None:
            return _subset(face, "".join(sorted(set().union(*texts))))
    raise LongBenchError(NO_FONT)


def embedded(svg: str, font: bytes) -> str:
    """Return an SVG text that carries a font and shows its texts in it; as it is without one."""
    if not font:
        return svg
    data = base64.b64encode(font).decode("ascii")
    style = (
        f"<style>@font-face{{font-family:'{FAMILY}';"
        f"src:url(data:font/woff;base64,{data}) format('woff')}}</style>"
    )
    start, end, rest = svg.partition(">")
    start = start.replace('font-family="', f'font-family="{FAMILY}, ', 1)
    return f"{start}{end}{style}{rest}"


# ---------------------------------------------------------------------- charts as files

SVG, PNG, PDF = "svg", "png", "pdf"
KINDS = (SVG, PNG, PDF)
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
        LongBenchError: no font has the Chinese characters of a chart.
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
        font = letters(drawn.values())
        for name, svg in drawn.items():
            yield name, embedded(svg, font if chinese_of([svg]) else b"").encode("utf-8")
        return
    if chinese_of(drawn.values()) and not shows_chinese(converter):
        raise LongBenchError(NO_FONT)
    for name, svg in drawn.items():
        is_png = kind == PNG
        yield name, converter.svg_to_png(svg, scale=_SCALE) if is_png else converter.svg_to_pdf(svg)
