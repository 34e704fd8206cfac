"""SVG files carry the letters that they show: a made font tells which."""

import base64
import io
import re

import pytest

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.page.files import FAMILY, embedded, letters

pytest.importorskip("fontTools", reason="fonttools is not installed")
SVG = (
    '<svg width="9" font-family="&#34;Noto Sans&#34;, serif">'
    "<title>长度</title><text>64k</text></svg>"
)


def made(path, characters, family="Made", restricted=False):
    """A font file with an empty glyph for each character."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.ttLib.tables._g_l_y_f import Glyph

    names = [".notdef", *(f"g{ord(own):x}" for own in characters)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(own): f"g{ord(own):x}" for own in characters})
    builder.setupGlyf({name: Glyph() for name in names})
    builder.setupHorizontalMetrics(dict.fromkeys(names, (500, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2(fsType=2 if restricted else 0)
    builder.setupPost()
    path.parent.mkdir(parents=True, exist_ok=True)
    builder.save(path)


def held(svg):
    """The characters of the font that an SVG text carries."""
    from fontTools.ttLib import TTFont

    (data,) = re.findall(r"base64,([^)]*)\)", svg)
    return {chr(own) for own in TTFont(io.BytesIO(base64.b64decode(data))).getBestCmap()}


def test_a_file_carries_its_letters_and_no_more(tmp_path):
    made(tmp_path / "a" / "NotoSansSC-Regular.otf", "长度有效k0123456789")
    own = embedded(SVG, letters([SVG], [tmp_path]))
    assert held(own) == set("长度k3469")  # digits of the attributes, too
    assert own.startswith(
        f'<svg width="9" font-family="{FAMILY}, &#34;Noto Sans&#34;, serif"><style>'
    )
    assert own.endswith(SVG.partition(">")[2])
    assert letters([SVG], [tmp_path]) == letters([SVG], [tmp_path])


def test_fonts_without_the_letters_or_the_right_are_passed_over(tmp_path):
    made(tmp_path / "NotoSansCJK-Regular.ttf", "长")
    made(tmp_path / "NotoSansSC-Regular.ttf", "长度k", restricted=True)
    (tmp_path / "PingFang.ttc").write_bytes(b"ttcf no font")
    made(tmp_path / "Strange.ttf", "长度k")
    with pytest.raises(LongBenchError, match=r"No font here shows Chinese.*apt-get install"):
        letters([SVG], [tmp_path, tmp_path / "nowhere"])
    made(tmp_path / "wqy-zenhei.ttf", "长度k")
    assert held(embedded(SVG, letters([SVG], [tmp_path]))) == set("长度k")


def test_without_chinese_nothing_is_embedded(tmp_path):
    plain = SVG.replace("长度", "Length ≥ 64k – Émile 🙂")
    assert letters([plain], [tmp_path]) == b""
    assert embedded(plain, b"") == plain
