"""Texts that are held: each comes back as it was, from memory or from a file."""

import lm_eval_longbench.prompts.prepare as held
from lm_eval_longbench.prompts.prepare import Held, Texts, whole

ODD = ["", "a", "文" * 1000, "half a pair \ud83d, and \x00", "\r\n\r", "😀" * 600_000]


def test_texts_come_back_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(held, "our_cache", lambda: tmp_path / "cache")
    texts = Texts()
    kept = [texts.hold(text) for text in ODD * 2]
    assert [isinstance(one, Held) for one in kept] == [False] * 5 + [True] * 7
    assert [whole(one) for one in kept] == ODD * 2
    made = texts.hold("text", lambda text: [text])
    assert isinstance(made, Held) and whole(made) == ["text"]
    assert list((tmp_path / "cache").iterdir()) == []  # the file has no name


def test_a_disk_that_cannot_be_written_costs_memory_alone(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(held, "our_cache", lambda: tmp_path / "file")
    texts = Texts()
    kept = [texts.hold(text) for text in [*ODD, "more"]]
    assert kept == [*ODD, "more"]
    assert "Prompts stay in memory" in caplog.text
