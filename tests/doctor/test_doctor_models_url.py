"""Where a server lists its models."""

import pytest

from lm_eval_longbench.doctor.server import endpoint_of, models_url


@pytest.mark.parametrize(
    ("base_url", "endpoint", "models"),
    [
        ("http://h:8000/v1/chat/completions", "/chat/completions", "http://h:8000/v1/models"),
        ("http://h:8000/v1/completions", "/completions", "http://h:8000/v1/models"),
        ("http://h/v1/completions/", "/completions", "http://h/v1/models"),
        ("https://api.anthropic.com/v1/messages", "/messages", None),
        ("https://h/api/v1/chat/completions?version=2", "/chat/completions", None),
        ("http://h:30000/generate", "/generate", "http://h:30000/v1/models"),
        ("http://h:8000/v1", None, "http://h:8000/v1/models"),
    ],
)
def test_the_endpoint_is_replaced(base_url, endpoint, models):
    assert endpoint_of(base_url) == endpoint
    found = models_url(base_url)
    assert "/models" in found
    if models is not None:
        assert found == models


def test_a_query_stays():
    url = models_url("https://me:secret@h/api/v1/chat/completions?key=secret")
    assert url == "https://me:secret@h/api/v1/models?key=secret"
