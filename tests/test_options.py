"""The options given as `--metadata '{"longbench": {...}}'`."""

import json

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
    "embedding_model": None,
    "embedding_url": None,
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
    "embedding_model": "Qwen/Qwen3-Embedding-8B",
    "embedding_url": "http://127.0.0.1:1",
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
    assert Options.from_metadata(metadata).to_dict() == DEFAULTS


def test_an_option_beside_the_key_is_refused_too():
    with pytest.raises(OptionError, match="'truncate_to' stands beside the model arguments"):
        Options.from_metadata({"longbench": {"data_dir": "sample"}, "truncate_to": 3500})
    # What a results file holds beside the options may be given back.
    assert Options.from_metadata({"longbench": {}, "longbench_run": {}}) == Options()


def test_all_options_are_read_and_returned():
    options = Options.from_metadata({"longbench": GIVEN, "max_length": 7})
    assert options.to_dict() == GIVEN
    assert json.loads(json.dumps(options.to_dict())) == json.loads(json.dumps(GIVEN))
    assert (options.data_dir, options.truncate_to, options.overlength) == ("sample", 31500, "skip")
    assert (options.tokenizer, options.log_prompts) == ("folder", "full")


def test_reading_leaves_the_metadata_as_it_was():
    metadata = {"longbench": dict(GIVEN)}
    Options.from_metadata(metadata)
    assert metadata == {"longbench": GIVEN}


@pytest.mark.parametrize("value", ["sample", ["data_dir"], 3, 0, False, "", []])
def test_the_value_under_the_key_must_be_an_object(value):
    with pytest.raises(OptionError, match="must be an object") as caught:
        Options.from_metadata({"longbench": value})
    assert repr(value) in str(caught.value)
    assert '{"longbench": {"truncate_to": 31500}}' in str(caught.value)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("truncate_too", "truncate_to"),
        ("trunkate", "truncate_to"),
        ("datadir", "data_dir"),
        ("Tokenizer", "tokenizer"),
        ("overlenght", "overlength"),
        ("log_prompt", "log_prompts"),
    ],
)
def test_an_unknown_option_names_the_nearest(name, nearest):
    with pytest.raises(UnknownNameError) as caught:
        Options.from_metadata({"longbench": {name: 1}})
    assert f"Unknown longbench option {name!r}. Did you mean {nearest!r}?" in str(caught.value)
    assert all(option in str(caught.value) for option in DEFAULTS)


@pytest.mark.parametrize("name", ["data_dir", "tokenizer"])
@pytest.mark.parametrize("value", ["", 7, True, ["x"], {}])
def test_names_must_be_texts_with_something_in_them(name, value):
    with pytest.raises(OptionError, match=f"{name}.*non-empty string"):
        Options.from_metadata({"longbench": {name: value}})


@pytest.mark.parametrize("value", ["31500", 31500.0, True, False, [31500], {}])
def test_truncate_to_must_be_a_whole_number(value):
    with pytest.raises(OptionError, match=r"truncate_to.*whole number") as caught:
        Options.from_metadata({"longbench": {"truncate_to": value}})
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("value", [1, 0, -1, -31500])
def test_truncate_to_must_leave_a_token_at_either_end(value):
    with pytest.raises(OptionError, match=f"at least 2 tokens, not {value}"):
        Options.from_metadata({"longbench": {"truncate_to": value}})


@pytest.mark.parametrize(
    ("name", "valid"),
    [("overlength", ("truncate", "skip", "fail")), ("log_prompts", ("excerpt", "full"))],
)
def test_choices(name, valid):
    for value in valid:
        assert getattr(Options.from_metadata({"longbench": {name: value}}), name) == value
    for value in ("", "Skip", "all", 1, None, True, ["skip"]):
        with pytest.raises(OptionError, match=f"{name}.*one of {', '.join(valid)}"):
            Options.from_metadata({"longbench": {name: value}})


def test_the_ways_to_score_reasoning_are_those_of_the_metrics():
    for policy in POLICIES:
        assert Options(reasoning=policy).reasoning == policy
    with pytest.raises(OptionError, match=f"one of {', '.join(POLICIES)}, not 'other'"):
        Options(reasoning="other")


def test_options_cannot_be_changed_and_are_checked_without_the_harness_too():
    with pytest.raises(AttributeError):
        Options().truncate_to = 5
    with pytest.raises(LongBenchError):
        Options(truncate_to=1)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3"])
def test_repeats_are_counted_from_one(value):
    with pytest.raises(OptionError, match="'repeats' must be"):
        Options.from_metadata({"longbench": {"repeats": value}})


def test_a_single_value_of_a_dimension_counts_as_a_list_of_one():
    options = Options.from_metadata({"longbench": {"only": {"language": "English"}}})
    assert options.only == {"language": ("English",)}


def test_an_embedding_server_needs_a_models_name():
    with pytest.raises(OptionError, match="needs 'embedding_model'"):
        Options.from_metadata({"longbench": {"embedding_url": "http://127.0.0.1:1"}})


def test_no_more_answers_are_asked_for_than_are_scored():
    assert Options(repeats=MOST_REPEATS).repeats == MOST_REPEATS
    with pytest.raises(OptionError, match=f"'repeats' must be at most {MOST_REPEATS}, not 257"):
        Options.from_metadata({"longbench": {"repeats": MOST_REPEATS + 1}})


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


@pytest.mark.parametrize("value", [3, None, True, 2.5, {"8k": 1}])
def test_only_needs_texts(value):
    with pytest.raises(OptionError, match="'only' must give 'token_length' a text or a list"):
        Options.from_metadata({"longbench": {"only": {"token_length": value}}})
