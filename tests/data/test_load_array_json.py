"""Reading element by element gives what json.loads gives, wherever the chunks end."""

import json
import math
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lm_eval_longbench.data import load_array
from lm_eval_longbench.data.load_array import array_items
from lm_eval_longbench.errors import DataError

SAME_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**40)
    | st.floats(allow_nan=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
STYLES = st.sampled_from(
    [
        {},
        {"ensure_ascii": False},
        {"ensure_ascii": False, "indent": 4},
        {"separators": (",", ":")},
        {"indent": "\r\n\t" * 30},
    ]
)


@pytest.fixture
def read(tmp_path):
    """Write bytes to a file and read its elements."""
    path = tmp_path / "array.json"

    def run(content, chunk=1 << 22, progress=None):
        path.write_bytes(content)
        return list(array_items(path, progress, chunk))

    return run


@SAME_FOLDER
@given(values=st.lists(VALUES, max_size=6), style=STYLES, chunk=st.integers(1, 60))
def test_any_array_at_any_chunk_size(read, values, style, chunk):
    content = json.dumps(values, **style).encode()
    assert read(content, chunk) == json.loads(content) == values


@SAME_FOLDER
@given(
    values=st.lists(VALUES, max_size=4),
    style=STYLES,
    chunk=st.integers(1, 60),
    change=st.tuples(st.integers(0, 400), st.binary(max_size=2), st.integers(0, 2)),
)
def test_any_damage_is_an_error_exactly_where_json_loads_has_one(
    read, values, style, chunk, change
):
    content = json.dumps(values, **style).encode()
    place, put, drop = change
    damaged = content[:place] + put + content[place + drop :]
    try:
        expected = json.loads(damaged.decode("utf-8"))
    except ValueError:
        expected = None
    if isinstance(expected, list):
        assert repr(read(damaged, chunk)) == repr(expected)  # repr: NaN is not equal to itself
    else:
        with pytest.raises(DataError, match=r"array\.json"):
            read(damaged, chunk)


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
def test_every_way_of_cutting_a_file_short(read, chunk):
    values = [{"a": 'é\\"\U0001f642\n', "b": [1.5e-3, -12, True, None]}, -7, "x", 3.25]
    content = json.dumps(values).encode() + json.dumps(values, ensure_ascii=False).encode()
    half = len(json.dumps(values).encode())
    for whole in (content[:half], content[half:]):
        assert read(whole, chunk) == values
        for end in range(len(whole)):
            with pytest.raises(DataError):
                read(whole[:end], chunk)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[]", []),
        (" \n[\t]\r\n ", []),
        ("[12 , 3]", [12, 3]),
        ("[ 1.5e3,-0.0 ,true,null]", [1500.0, -0.0, True, None]),
        ('["\\ud83d\\ude42", "\\ud800"]', ["\U0001f642", "\ud800"]),
        ("[[[]], {}]", [[[]], {}]),
        ("[-Infinity]", [-math.inf]),
        ("\ufeff[1]", [1]),
    ],
)
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 100])
def test_corners(read, text, values, chunk):
    assert read(text.encode("utf-8"), chunk) == values


@pytest.mark.parametrize("chunk", [1, 4, 1000])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a JSON array"),
        (b"  ", "is not a JSON array"),
        (b'{"a": [1]}', "is not a JSON array"),
        (b"12", "is not a JSON array"),
        (b'{"id": 1}\n{"id": 2}\n', "is not a JSON array"),
        (b"[1, 2", "element 2, is cut short"),
        (b"[1, 2, ", "element 3, is cut short"),
        (b"[1, 2, tr", "element 3, is not JSON: Expecting value"),
        (b'[1, {"a": "bcd', "element 2, is cut short: Unterminated string"),
        (b'[1, {"a": 5', "element 2, is cut short"),
        (b'[{"a": "x"}, {"a": "b"c"}, {"a": 1}]', "element 2, is not JSON: .*, character 9 of"),
        (b'["a\nb"]', "element 1, is not JSON: Invalid control character"),
        (b'["\\x"]', "element 1, is not JSON"),
        (b"[1, 2] [3]", "goes on after the end"),
        (b"[1, 2]]", "goes on after the end"),
        (b"[1 2]", "element 1, is not followed by ',' or ']'"),
        (b'[{"a": 1}{"a": 2}]', "element 1, is not followed by ',' or ']'"),
        (b"[,]", "element 1, is not JSON"),
        (b"[1,]", "element 2, is not JSON"),
        (b"[1,,2]", "element 2, is not JSON"),
        (b"[01]", "element 1, is not followed by"),
        (b'["ab\xff"]', "is not UTF-8 at byte 4"),
        ('["汉'.encode()[:-1], "is not UTF-8 at byte 2"),
        (b"\xff\xfe[\x001\x00]\x00", "is not UTF-8 at byte 0"),
    ],
)
def test_what_is_wrong_and_where(read, content, reason, chunk):
    with pytest.raises(DataError, match=reason) as caught:
        read(content, chunk)
    assert "array.json" in str(caught.value)


def test_the_byte_that_is_not_utf8_is_counted_over_chunks(read):
    content = b'["' + "汉é".encode() * 999 + b"\xc3(" + b'"]'
    for chunk in (1, 10, 1 << 22):
        with pytest.raises(DataError, match=f"byte {2 + 999 * 5}, in or after element 1"):
            read(content, chunk)


def test_nesting_beyond_limits(read):
    with pytest.raises(DataError, match="element 2, cannot be decoded"):
        read(b"[1, " + b"[" * 200_000 + b"]" * 200_000 + b"]")


def test_a_number_beyond_limits(read):
    with pytest.raises(DataError, match="element 1, cannot be decoded"):
        read(b"[" + b"9" * 5000 + b"]")


def test_no_such_file(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.json cannot be read"):
        list(array_items(tmp_path / "nothing.json"))


def test_elements_come_before_the_damage(tmp_path):
    path = tmp_path / "array.json"
    path.write_bytes(b'[{"a": 1}, {"a": 2}, oops]' + b" " * 100)
    items = array_items(path)
    assert [next(items), next(items)] == [{"a": 1}, {"a": 2}]
    with pytest.raises(DataError, match="element 3"):
        next(items)


@pytest.mark.parametrize("chunk", [1, 10, 1 << 22])
def test_progress_adds_up_to_the_size(read, chunk):
    seen = []
    content = json.dumps(["汉字" * 50, 1, 2], ensure_ascii=False).encode() + b"\n\n"
    read(content, chunk, seen.append)
    assert sum(seen) == len(content)
    assert all(number > 0 for number in seen)


def test_memory_holds_elements_not_the_file(tmp_path):
    path = tmp_path / "array.json"
    element = json.dumps({"context": "x" * 100_000})
    path.write_text("[" + ", ".join([element] * 300) + "]")
    tracemalloc.start()
    number = sum(1 for _ in array_items(path, chunk=200_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert number == 300
    assert peak < 2_500_000 < path.stat().st_size / 10


def test_one_long_element_is_not_decoded_over_and_over(tmp_path, monkeypatch):
    """The window grows by its own size, so that the work is linear in the element."""
    path = tmp_path / "array.json"
    path.write_text(json.dumps(["x" * 1_000_000]))
    decoded = []
    real = json.JSONDecoder.raw_decode

    def counting(self, text, at=0):
        decoded.append(len(text) - at)
        return real(self, text, at)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counting)
    assert list(array_items(path, chunk=10)) == ["x" * 1_000_000]
    assert sum(decoded) < 4_000_000
    assert len(decoded) < 30


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_an_element_has_a_longest_size(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(load_array, "LONGEST", 64)
    path = tmp_path / "array.json"
    path.write_text(json.dumps(["a" * 50, "b" * 300, "c"]), encoding="utf-8")
    reader = array_items(path, chunk=chunk)
    assert next(reader) == "a" * 50
    with pytest.raises(DataError, match=r"array\.json, element 2, is longer than 64 bytes\.$"):
        next(reader)


def test_only_regular_files(tmp_path):
    (tmp_path / "array.json").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="cannot be read: it is a device, not a regular file"):
        list(array_items(tmp_path / "array.json"))
