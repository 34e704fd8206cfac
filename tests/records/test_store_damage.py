"""A damaged file of answers: what can be read counts, the rest is asked again, and it is kept."""

import random
import shutil
import sqlite3

import pytest

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.answer import EMPTY, Answer
from lm_eval_longbench.records.identity import file_stem, model_identity
from lm_eval_longbench.records.store import COLUMNS, AnswerStore, Kept
from lm_eval_longbench.records.summary import summary
from lm_eval_longbench.secrets import is_secret

IDENTITY = model_identity("hf", {"pretrained": "org/tiny"})
STEM = file_stem("tiny", IDENTITY)
NUMBER = 60
# More than SQLite's integers hold, and what no server should say.
ODD = [2**63, -(10**30), float("nan"), float("inf"), 1.5, True]


def answer(number):
    if number % 7 == 0:
        return Answer("", EMPTY, "null", prompt_tokens=3)
    return Answer(f"answer {number} " * 40, prompt_tokens=number, seconds=number / 3, at=1e9)


def opened(folder):
    return AnswerStore(folder, STEM, IDENTITY)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    store = opened(tmp_path_factory.mktemp("sound"))
    for number in range(NUMBER):
        store.keep(Kept(f"{number:064}", 0, "t", f"q{number}", "p" * 64, "{}", answer(number)))
    store.close()
    return store.path


def flip(path, chance):
    raw = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3, 20))):
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    path.write_bytes(raw)


def cut(path, chance):
    raw = path.read_bytes()
    path.write_bytes(raw[: chance.randrange(len(raw))])


def zero(path, chance):
    raw = bytearray(path.read_bytes())
    page = chance.randrange(len(raw) // 4096)
    raw[page * 4096 : (page + 1) * 4096] = bytes(4096)
    path.write_bytes(raw)


def change(path, chance):
    value = chance.choice((b"\xff\x00blob", 7, 2**63 - 1, -1.5, None, "", "text", "{", "\ud7ff"))
    column = chance.choice((*COLUMNS, "identity"))
    table = "model" if column == "identity" else "answers"
    where = chance.choice(("", f" WHERE rowid = {chance.randrange(1, NUMBER)}"))
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?{where}", (value,))
    connection.close()


def alter(path, chance):
    done = chance.choice(
        (
            "DROP TABLE model",
            "DROP TABLE answers",
            "DELETE FROM model",
            "INSERT INTO model VALUES ('{}')",
            "ALTER TABLE answers RENAME COLUMN text TO words",
            "ALTER TABLE answers DROP COLUMN sha256",
            "PRAGMA user_version=1",
            "PRAGMA user_version=0",
        )
    )
    with sqlite3.connect(path) as connection:
        connection.execute(done)
    connection.close()


@pytest.mark.parametrize("damage", [flip, cut, zero, change, alter])
def test_no_damage_is_more_than_a_line_and_no_answer_another(sound, tmp_path, damage, caplog):
    aside = read = 0
    for seed in range(20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        file = folder / sound.name
        shutil.copyfile(sound, file)
        damage(file, random.Random(seed))
        before = file.read_bytes()
        caplog.clear()
        try:
            assert summary(file).damaged <= NUMBER
        except OptionError as error:
            assert "\n" not in str(error)
        try:
            store = opened(folder)
        except OptionError as error:  # of another version, or another model's
            assert "\n" not in str(error) and file.exists()
            continue
        there = [store.find(f"{number:064}", 0) for number in range(NUMBER)]
        assert all(one in (None, answer(number)) for number, one in enumerate(there))
        damaged = list(folder.glob("*.damaged1"))
        lost = there.count(None)
        assert bool(damaged) == (len(caplog.messages) == 1) and (damaged or not lost)
        if damaged:
            aside += 1
            assert damaged[0].read_bytes() == before
            (line,) = caplog.messages
            assert f"Of its answers {NUMBER - lost} can be read" in line and "\n" not in line
        read += NUMBER - lost
        # What was lost is asked again, and is then found.
        for number, one in enumerate(there):
            if one is None:
                own = Kept(f"{number:064}", 0, "t", f"q{number}", "p" * 64, "{}", answer(number))
                store.keep(own)
        store.close()
        again = opened(folder)
        assert None not in [again.find(f"{number:064}", 0) for number in range(NUMBER)]
        assert summary(again.path).damaged == 0
        again.close()
    assert aside >= 3  # the damage is one
    assert read > 0


def test_one_changed_letter_of_one_answer_is_asked_again(sound, tmp_path, caplog):
    file = tmp_path / sound.name
    shutil.copyfile(sound, file)
    raw = file.read_bytes()
    file.write_bytes(raw.replace(b"answer 12 answer", b"answer 13 answer", 1))
    assert summary(file).damaged == 1
    store = opened(tmp_path)
    assert store.find(f"{12:064}", 0) is None
    assert store.find(f"{13:064}", 0) == answer(13)
    store.close()
    (line,) = caplog.messages
    assert f"{NUMBER - 1} can be read and count; 1 are asked again" in line


def test_answers_of_another_model_never_count(sound, tmp_path):
    """Not even where the file says that they are this one's."""
    file = tmp_path / sound.name
    shutil.copyfile(sound, file)
    other = model_identity("hf", {"pretrained": "org/other"})
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE model SET identity = ?", (other,))
    connection.close()
    store = AnswerStore(tmp_path, STEM, other)
    assert [store.find(f"{number:064}", 0) for number in range(NUMBER)] == [None] * NUMBER
    store.close()


def test_a_damaged_file_of_another_rank_is_moved_aside_too(sound, tmp_path, caplog):
    rank = tmp_path / f"{STEM}_rank1.sqlite"
    shutil.copyfile(sound, rank)
    zero(rank, random.Random(5))
    store = opened(tmp_path)
    found = [store.find(f"{number:064}", 0) for number in range(NUMBER)]
    store.merge()
    store.close()
    assert 0 < len(found) - found.count(None) < NUMBER
    assert (tmp_path / f"{rank.name}.damaged1").exists()
    assert not rank.exists()
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("count", ODD)
def test_counts_that_no_file_holds_are_not_known(tmp_path, count):
    store = opened(tmp_path)
    given = Answer("text", prompt_tokens=count, completion_tokens=5, seconds=1, at=count)
    store.keep(Kept("k", 0, "t", "q", "p", "{}", given))
    store.close()
    again = opened(tmp_path)
    found = again.find("k", 0)
    again.close()
    assert (found.text, found.completion_tokens, found.seconds) == ("text", 5, 1.0)
    assert found.prompt_tokens == (int(count) if abs(count) < 2 else None)


def test_no_column_is_taken_for_a_secret():
    assert not [name for name in COLUMNS if is_secret(name)]
