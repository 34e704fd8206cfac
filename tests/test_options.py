"""The options given as `--metadata '{"longbench": {...}}'`."""

import json
from dataclasses import asdict

import pytest

from lm_eval_longbench.errors import LongBenchError, OptionError, UnknownNameError
from lm_eval_longbench.metrics.reasoning import POLICIES
from lm_eval_longbench.options import MOST_REPEATS, Options

DEFAULTS = {
    "data_dir": None,
    "truncate_to": None,
    "overlength": "truncate",
    "tokenizer": None,
    "log_prompts": "excerpt",
    "reasoning": "drop",
    "context": "document",
    "preset": None,
    "thinking": False,
    "repeats": None,
    "only": {},
    "shard": None,
    "embedding_model": None,
    "embedding_url": None,
    "reuse_prefill": "auto",
    "cot_samples": None,
    "rag_top_n": 4,
    "retrieved_context": None,
    "chunk_size": None,
    "retriever": "bm25",
}
GIVEN = {
    "data_dir": "sample",
    "truncate_to": 31500,
    "overlength": "skip",
    "tokenizer": "folder",
    "log_prompts": "full",
    "reasoning": "keep",
    "context": "none",
    "preset": "Qwen3-8B",
    "thinking": True,
    "repeats": 5,
    "only": {"language": ("English",), "token_length": ("8k", "16k")},
    "shard": "3/8",
    "embedding_model": "Qwen/Qwen3-Embedding-8B",
    "embedding_url": "http://127.0.0.1:1",
    "reuse_prefill": "off",
    "cot_samples": "results",
    "rag_top_n": 8,
    "retrieved_context": "chunks.jsonl",
    "chunk_size": 500,
    "retriever": "embedding",
}


@pytest.mark.parametrize(
    "metadata", [None, {}, {"version": 1.0, "pretrained": "x"}, {"longbench": None}]
)
def test_without_the_key_all_options_are_at_their_default(metadata):
    assert asdict(Options.from_metadata(metadata)) == DEFAULTS


def test_an_option_beside_the_key_is_refused_too():
    with pytest.raises(OptionError, match="'truncate_to' stands beside the model arguments"):
        Options.from_metadata({"longbench": {"data_dir": "sample"}, "truncate_to": 3500})
    # What a results file holds beside the options may be given back.
    assert Options.from_metadata({"longbench": {}, "longbench_run": {}}) == Options()


def test_all_options_are_read_and_returned():
    options = Options.from_metadata({"longbench": GIVEN, "max_length": 7})
    assert asdict(options) == GIVEN
    assert json.loads(json.dumps(asdict(options))) == json.loads(json.dumps(GIVEN))
    assert (options.data_dir, options.truncate_to, options.overlength) == ("sample", 31500, "skip")
    assert (options.tokenizer, options.log_prompts) == ("folder", "full")


# A value of an option (or of the key itself), and what the refusal must say.
REFUSED = [
    *((None, value, "must be an object such as") for value in ("sample", ["data_dir"], 3, 0, "")),
    *((name, "", "non-empty string") for name in ("data_dir", "tokenizer")),
    *((name, 7, "non-empty string") for name in ("data_dir", "tokenizer")),
    *(("truncate_to", value, "whole number") for value in ("31500", 31500.0, True, [31500])),
    *(("truncate_to", value, f"at least 2 tokens, not {value}") for value in (1, 0, -31500)),
    *(("repeats", value, "'repeats' must be") for value in (0, -1, 1.5, True, "3")),
    ("repeats", MOST_REPEATS + 1, f"'repeats' must be at most {MOST_REPEATS}, not 257"),
    *(("overlength", value, "one of truncate, skip, fail") for value in ("", "Skip", None, True)),
    ("log_prompts", "all", "one of excerpt, full"),
    ("reuse_prefill", "on", "one of auto, off, not 'on'"),
    ("reasoning", "other", f"one of {', '.join(POLICIES)}, not 'other'"),
    ("embedding_url", "http://127.0.0.1:1", "needs 'embedding_model'"),
    *(
        ("only", {"token_length": v}, "must give 'token_length' a text or a list")
        for v in (3, None)
    ),
    *(
        (name, 1, f"Unknown longbench option {name!r}. Did you mean {nearest!r}?")
        for name, nearest in (
            ("trunkate", "truncate_to"),
            ("datadir", "data_dir"),
            ("Tokenizer", "tokenizer"),
            ("overlenght", "overlength"),
        )
    ),
]


@pytest.mark.parametrize(("name", "value", "said"), REFUSED)
def test_what_is_refused_says_what_must_be(name, value, said):
    kinds = (OptionError, UnknownNameError)
    with pytest.raises(kinds) as caught:
        Options.from_metadata({"longbench": value if name is None else {name: value}})
    assert said in str(caught.value)


def test_options_cannot_be_changed_and_are_checked_without_the_harness_too():
    with pytest.raises(AttributeError):
        Options().truncate_to = 5
    with pytest.raises(LongBenchError):
        Options(truncate_to=1)
    assert Options(repeats=MOST_REPEATS).repeats == MOST_REPEATS


def test_a_single_value_of_a_dimension_counts_as_a_list_of_one():
    options = Options.from_metadata({"longbench": {"only": {"language": "English"}}})
    assert options.only == {"language": ("English",)}


@pytest.mark.parametrize(
    "url",
    [
        "https://me:S3cr3t@h/v1",
        "https://me:S3c/r3t@h/v1",
        "https://h/v1?api-key=S3cr3t",
        "https://h/v1?S3cr3t",
        "https://h/v1#S3cr3t",
        "me:S3cr3t@h",
    ],
)
def test_a_url_that_may_hold_a_secret_is_refused_and_not_quoted(url):
    with pytest.raises(OptionError, match="'embedding_url'") as caught:
        Options.from_metadata({"longbench": {"embedding_model": "m", "embedding_url": url}})
    assert "S3c" not in str(caught.value)
    if "not an http or https URL" not in str(caught.value):
        assert "LONGBENCH_EMBEDDING_API_KEY" in str(caught.value)


def test_a_url_with_the_version_of_an_api():
    url = "https://h/v1/embeddings?api-version=2024-10-21"
    assert Options(embedding_model="m", embedding_url=url).embedding_url == url
