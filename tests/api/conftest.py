import pytest

from lm_eval_longbench.api import pace


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.02)


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
