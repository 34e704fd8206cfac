"""LongBench v2: one file, and from it all questions or those of one domain, in its order."""

import json
import tracemalloc

import datasets
import pyarrow
import pytest
from pro_rows import write_rows
from v2_rows import ROW, official_rows

from lm_eval_longbench.benchmarks.longbench_v2 import CHOICES, COUNTS, DIFFICULTIES, DOMAINS, LENGTHS, QUESTIONS
from lm_eval_longbench.data import json_array, longbench_v2
from lm_eval_longbench.data.longbench_v2 import BENCHMARK, load
from lm_eval_longbench.data.rows_v2 import FIELDS
from MISSING:data.sources import LONGBENCH_V2
from lm_eval_longbench.errors import DataError, UnknownNameError

ROWS = official_rows()
SIZES = dict(zip(DOMAINS, (175, 125, 81, 39, 50, 33), strict=True))


@pytest.fixture
def allocated():
    """Return the most bytes that pyarrow has held in memory of its own during the test."""
    before = pyarrow.default_memory_pool()
    pool = pyarrow.proxy_memory_pool(before)
    pyarrow.set_memory_pool(pool)
    yield pool.max_memory
    pyarrow.set_memory_pool(before)


# What is pinned


def test_the_pin_is_the_one_of_the_specification():
    assert BENCHMARK.source is LONGBENCH_V2
    assert LONGBENCH_V2.label == "zai-org/LongBench-v2@2b48e49"
    assert LONGBENCH_V2.revision == "2b48e494f2c7a2f0af81aae178e05c7e1dde0fe9"
    assert LONGBENCH_V2.file == "data.json"
    assert LONGBENCH_V2.sha256 == (
        "15d61c22d92c96900b3c4948b6aeea218d3214b676a65df48e7b8555604c7fe2"
    )


def test_official_counts():
    assert {sum(values.values()) for values in COUNTS.values()} == {QUESTIONS} == {503}
    assert COUNTS["difficulty"] == {"easy": 192, "hard": 311}
    assert COUNTS["length"] == {"short": 180, "medium": 215, "long": 108}
    assert {code: COUNTS["domain"][name] for code, name in DOMAINS.items()} == SIZES


def test_the_pinned_file_in_its_order(folders, hub_file):
    hub_file(longbench_v2, json.dumps(ROWS).encode())
    documents = load(None)
    assert list(documents.rows) == ROWS
    assert tuple(documents.rows.column_names) == FIELDS
    assert isinstance(documents.rows.data, datasets.table.MemoryMappedTable)
    (folder,) = folders("longbench_v2")
    names = ["counts.json", "manifest.json", "questions.arrow"]
    assert sorted(path.name for path in folder.iterdir()) == names


@pytest.mark.parametrize("code", DOMAINS)
def test_a_domain_of_the_pinned_file_is_official_and_in_order(hub_file, code):
    source, _, _ = hub_file(longbench_v2, json.dumps(ROWS).encode())
    documents = load(code)
    assert list(documents.rows) == [row for row in ROWS if row["domain"] == DOMAINS[code]]
    assert len(documents.rows) == SIZES[code]
    assert documents.official
    assert (documents.label, documents.sha256) == (source.label, source.sha256)


def changed(**values):
    """Change the first row that has something else there."""

    def change(rows):
        ((name, value),) = values.items()
        index = next(index for index, row in enumerate(rows) if row[name] != value)
        return [*rows[:index], {**rows[index], name: value}, *rows[index + 1 :]]

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "502 questions instead of 503"),
        (lambda rows: [*rows, rows[0]], "504 questions instead of 503"),
        (changed(difficulty="hard"), "'easy' 191 instead of 192; difficulty 'hard' 312 instead of"),
        (changed(length="long"), "length 'long' 109 instead of 108"),
        (changed(domain="Code Repository Understanding"), "Understanding' 51 instead of 50"),
        (lambda rows: rows[:3], "3 questions instead of 503.*; and .* more"),
        (lambda rows: [], "0 questions instead of 503"),
    ],
)
def test_other_counts_than_pinned_are_an_error(folders, hub_file, change, message):
    hub_file(longbench_v2, json.dumps(change(ROWS)).encode())
    for domain in (None, "code_repository"):
        with pytest.raises(DataError, match=message):
            load(domain)
        assert folders("longbench_v2") == []


# Domains


def test_a_domain_that_does_not_exist(cache):
    with pytest.raises(UnknownNameError, match="Did you mean 'code_repository'"):
        load("code_repo", "sample")
    with pytest.raises(UnknownNameError, match="LongBench v2 domain 'Code Repository Unders"):
        load("Code Repository Understanding", "sample")


def test_local_data_serves_the_domains_it_has(cache, tmp_path, caplog):
    rows = [
        {**ROW, "_id": str(number), "domain": DOMAINS[code]}
        for number, code in enumerate(["code_repository", "multi_document_qa", "code_repository"])
    ]
    file = write_rows(tmp_path / "data.json", rows)
    assert list(load(None, str(tmp_path)).rows) == rows
    assert load("code_repository", str(tmp_path)).rows["_id"][:] == ["0", "2"]
    assert load("multi_document_qa", str(tmp_path)).rows["_id"][:] == ["1"]
    assert "3 questions instead of 503" in caplog.text
    with pytest.raises(DataError, match="holds no questions of 'Single-Document QA'") as caught:
        load("single_document_qa", str(tmp_path))
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("domain", [None, "single_document_qa"])
def test_a_local_file_without_questions(folders, tmp_path, domain):
    file = write_rows(tmp_path / "data.json", [])
    with pytest.raises(DataError, match="holds no questions: its JSON array is empty"):
        load(domain, str(file))
    assert folders("longbench_v2") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context": "\ud800"}, "has a field 'context' that is not a text"),
        ({"answer": "E"}, "has the answer 'E'"),
        ({"choice_C": " "}, "has an empty choice_C"),
        ({"length": "tiny"}, "has an unknown length 'tiny'"),
    ],
)
def test_a_bad_row_is_named_and_nothing_kept(folders, tmp_path, change, message):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps([ROW, {**ROW, **change}]))  # escapes, for half a surrogate pair
    with pytest.raises(DataError, match=rf"mine\.json, element 2, {message}"):
        load(None, str(file))
    assert folders("longbench_v2") == []


# Long documents


def test_a_huge_document_comes_back_unchanged(cache, tmp_path):
    """It is longer than several chunks of the reader, with neighbours that share one."""
    huge = "".join(f"{number} 汉字 $Q$ \U0001f642\u2028\x00\n" for number in range(400_000))
    assert len(huge.encode()) > 2 * json_array.CHUNK + 1_000_000
    rows = [ROW, {**ROW, "_id": "huge", "context": huge}, {**ROW, "_id": "last", "context": ""}]
    documents = load(None, str(write_rows(tmp_path / "data.json", rows)))
    assert len(documents.rows) == 3
    for number, row in enumerate(rows):
        assert documents.rows[number] == row


def test_a_document_is_read_without_the_others(cache, tmp_path, allocated):
    """Opening all questions or a domain reads no text, and reading one copies that one alone."""
    size = 500_000
    codes = list(DOMAINS) * 7
    rows = [
        {**ROW, "_id": str(number), "domain": DOMAINS[code], "context": str(number % 10) * size}
        for number, code in enumerate(codes)
    ]
    file = str(write_rows(tmp_path / "data.json", rows))
    load(None, file)

    converted = allocated()
    tracemalloc.start()
    opened = {code: load(code, file).rows for code in (None, *DOMAINS)}
    _, opening = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    read = {
        code: [rows[number]["context"][-1] for number in range(len(rows))]
        for code, rows in opened.items()
    }
    iterated = [row["context"][0] for row in opened["code_repository"]]
    _, reading = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read[None] == [str(number % 10) for number in range(42)]
    expected = [str(number % 10) for number in range(42) if codes[number] == "code_repository"]
    assert read["code_repository"] == iterated == expected
    assert opening < size
    assert reading < 5 * size
    assert allocated() == converted


# The sample


def test_the_sample(cache, caplog):
    documents = load(None, "sample")
    assert BENCHMARK.sample.name == "data.json"
    assert list(documents.rows) == json.loads(BENCHMARK.sample.read_bytes())
    assert documents.label == f"sample-{documents.sha256[:12]}"
    assert not documents.official
    for code, name in DOMAINS.items():
        rows = load(code, "sample").rows
        assert len(rows) >= 1 and set(rows["domain"]) == {name}
    for name, values in (("answer", CHOICES), ("difficulty", DIFFICULTIES), ("length", LENGTHS)):
        assert set(documents.rows[name]) == set(values)
    assert caplog.records == []
