"""Reading element by element gives what json.loads gives, wherever the blocks end."""

import json
import math
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lm_eval_longbench.data import rows
from lm_eval_longbench.data.rows import array_items
from lm_eval_longbench.errors import DataError

SAME_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200
)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=40)  # half pairs, too
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(min_value=10**40) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
STYLES = st.sampled_from(
    [
        {},
        {"indent": 4},
        {"separators": (",", ":")},
        {"indent": "\r\n\t" * 30},
    ]
)


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write bytes to a file and read its elements, so many bytes at once."""
    path = tmp_path / "array.json"

    def run(content, block=1 << 20, progress=lambda _: None):
        path.write_bytes(content)
        monkeypatch.setattr(rows, "_BUFFER", block)
        return list(array_items(path, progress))

    return run


@SAME_FOLDER
@given(values=st.lists(VALUES, max_size=6), style=STYLES, block=st.integers(1, 60))
def test_any_array_in_blocks_of_any_size(read, values, style, block):
    content = json.dumps(values, **style).encode()
    assert repr(read(content, block)) == repr(json.loads(content))  # repr: NaN is not NaN


@SAME_FOLDER
@given(values=st.lists(VALUES, max_size=6), block=st.integers(1, 60))
def test_any_array_as_utf_8(read, values, block):
    content = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
    assert repr(read(content, block)) == repr(json.loads(content))


DAMAGED = ['[]"', '[1]"]', '[]"a', "[]1", "[] t", "[]]", '["a', "\v[]", "[\f]", "[1\v,2]", "[]\f"]


@pytest.mark.parametrize("text", DAMAGED)
def test_what_ijson_would_pass_over_is_an_error(read, text):
    with pytest.raises(DataError, match=r"array\.json"):
        read(text.encode(), 1)


def test_only_the_backend_that_was_compared_with_json_reads(read, monkeypatch):
    monkeypatch.setattr("ijson.backend", "python")
    monkeypatch.setattr("ijson.items", lambda *_, **__: pytest.fail("ijson read it"))
    assert read(b"[1, 2]") == [1, 2]


@SAME_FOLDER
@given(
    values=st.lists(VALUES, max_size=4),
    style=STYLES,
    block=st.integers(1, 60),
    change=st.tuples(st.integers(0, 400), st.binary(max_size=2), st.integers(0, 2)),
)
def test_any_damage_is_an_error_exactly_where_json_loads_has_one(
    read, values, style, block, change
):
    content = json.dumps(values, **style).encode()
    place, put, drop = change
    damaged = content[:place] + put + content[place + drop :]
    try:
        expected = json.loads(damaged.decode("utf-8"))
    except ValueError:
        expected = None
    if isinstance(expected, list):
        assert repr(read(damaged, block)) == repr(expected)
    else:
        with pytest.raises(DataError, match=r"array\.json"):
            read(damaged, block)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[]", []),
        (" \n[\t]\r\n ", []),
        ("[12 , 3]", [12, 3]),
        ("[ 1.5e3,-0.0 ,true,null]", [1500.0, -0.0, True, None]),
        ('["\\ud83d\\ude42", "\\ud800"]', ["\U0001f642", "\ud800"]),
        ('["\\ude42", "\\ud83d\\u0041", "\\\\ud800"]', ["\ude42", "\ud83dA", "\\ud800"]),
        ("[[[]], {}]", [[[]], {}]),
        ("[1, -Infinity, 1e400, 2]", [1, -math.inf, math.inf, 2]),
        ("[1, 123456789012345678901234567890]", [1, 123456789012345678901234567890]),
        ("\ufeff[1]", [1]),
        ('[{"a": 1, "a": 2}]', [{"a": 2}]),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 3, 5, 11, 12, 13, 100])
def test_corners(read, text, values, block):
    assert read(text.encode("utf-8"), block) == values


def test_elements_come_before_the_damage(read, tmp_path):
    path = tmp_path / "array.json"
    path.write_bytes(b'[{"a": 1}, {"a": 2}, oops]' + b" " * 100)
    items = array_items(path)
    assert [next(items), next(items)] == [{"a": 1}, {"a": 2}]
    with pytest.raises(DataError, match="column 22"):
        next(items)


@pytest.mark.parametrize("block", [1, 10, 1 << 20])
def test_progress_adds_up_to_the_size(read, block):
    seen = []
    content = json.dumps(["汉字" * 50, 1, 2], ensure_ascii=False).encode() + b"\n\n"
    read(content, block, seen.append)
    assert sum(seen) == len(content)


def test_memory_holds_elements_not_the_file(tmp_path, monkeypatch):
    path = tmp_path / "array.json"
    element = json.dumps({"context": "x" * 100_000})
    path.write_text("[" + ", ".join([element] * 300) + "]")
    monkeypatch.setattr(rows, "_BUFFER", 200_000)
    tracemalloc.start()
    number = sum(1 for _ in array_items(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert number == 300
    assert peak < 2_500_000 < path.stat().st_size / 10


def test_an_array_that_is_decoded_as_a_whole_has_a_largest_size(read, monkeypatch):
    monkeypatch.setattr(rows, "_WHOLE", 64)
    assert len(read(b"[" + b"1, " * 100 + b"1]")) == 101
    with pytest.raises(DataError, match="longer than 64 bytes"):
        read(b"[" + b"1, " * 100 + b"NaN]")
