"""Cut prompts are those of the official releases, whatever release of transformers is installed."""

import itertools
import json
import random
import shutil
from pathlib import Path
from typing import ClassVar

import pytest
from oracles.tokenizer_zoo import build
from tokenizers import AddedToken, Tokenizer

from lm_eval_longbench.prompts.tokenizer import load_tokenizer
from lm_eval_longbench.prompts.tokens import official as module
from lm_eval_longbench.prompts.tokens.fast import (
    cutting_tokenizer,
    fast_tokenizer,
    tokenizer_sha256,
)
from lm_eval_longbench.prompts.tokens.official import (
    BackendDecoder,
    clean_up,
    clean_up_policy,
    cleans_up,
)
from lm_eval_longbench.prompts.truncation import (
    RULE_PRO,
    RULE_V1,
    RULE_V2,
    counts_as_installed,
    halves_decoded_apart,
    release_of,
    truncate,
)

pytestmark = pytest.mark.slow

RULES = {"4.31.0": RULE_V1, "4.45.0": RULE_V2, "4.51.0": RULE_PRO}
CLEAN_UP = "clean_up_tokenization_spaces"
FOR_BPE = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"
PARTS = (
    *("price , he said . ", "it 's not theirs ! ", "do n't ", "we 've ' gone ' ? ", "the ledger "),
    *(" , . ! ? ", "合同的预算，会议。", "🙂 ", "\n\n", "  ", "naïve ", " 're", "I 'm ", "<s>"),
)
_number = itertools.count()


def texts(number, seed):
    rng = random.Random(seed)
    return ["".join(rng.choices(PARTS, k=rng.randint(8, 60))) for _ in range(number)]


@pytest.fixture
def folder(tmp_path):
    """Write the files of a tokenizer; each one in a folder of its own."""

    def write(name, config=None, model=None, **files):
        target = tmp_path / str(next(_number))
        target.mkdir()
        backend = build(name).backend_tokenizer if isinstance(name, str) else name
        (target / "tokenizer.json").write_text(backend.to_str(), encoding="utf-8")
        files |= {"tokenizer_config": config, "config": model}
        for file, content in files.items():
            if content is not None:
                (target / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")
        return str(target)

    return write


def without_spaces(text):
    """The clean-up in its plainest form."""
    for old, new in [
        *((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't")),
        *((" 'm", "'m"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")),
    ]:
        text = text.replace(old, new)
    return text


def expected(path, text, limit, release, clean):
    """Cut a prompt with the tokenizer that tokenizer.json describes, in the plainest way."""
    raw = Tokenizer.from_file(str(Path(path) / "tokenizer.json"))
    ids = raw.encode(text).ids
    if len(ids) <= limit:
        return text
    half = limit // 2
    parts = [ids[:half] + ids[half - limit :]]
    if release == "4.31.0":
        parts = [ids[:half], ids[-half:]]
    decoded = [raw.decode(part, skip_special_tokens=True) for part in parts]
    return "".join(map(without_spaces, decoded) if clean else decoded)


# ---------------------------------------------------------------------- clean-up


@pytest.mark.parametrize("release", RULES)
@pytest.mark.parametrize("stated", [True, False, None])
@pytest.mark.parametrize("name", ["gpt2", "qwen", "llama2", "unigram_first", "bert"])
def test_what_the_file_states_is_done_and_else_what_the_release_did(folder, name, stated, release):
    config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    path = folder(name, config if stated is None else {**config, CLEAN_UP: stated})
    tokenizer = load_tokenizer(path, {})
    clean = release != "4.51.0" if stated is None else stated
    assert cleans_up(tokenizer, release) is clean
    prompts = texts(20, 1)
    for limit in (12, 33, 64):
        wanted = [expected(path, text, limit, release, clean) for text in prompts]
        cuts = list(truncate(prompts, tokenizer, limit, RULES[release]))
        assert [cut.text for cut in cuts] == wanted
    assert sum(cut.truncated for cut in cuts) > 10
    if name != "bert":  # its decoder does as much by itself
        assert wanted != [expected(path, text, 64, release, not clean) for text in prompts]


@pytest.mark.parametrize("name", ["gpt2", "llama2", "bert"])
def test_what_decode_would_do_does_not_count(folder, name, monkeypatch):
    path = folder(name, {"tokenizer_class": "PreTrainedTokenizerFast", CLEAN_UP: True})
    prompts = texts(10, 2)
    plain = [cut.text for cut in truncate(prompts, load_tokenizer(path, {}), 30, RULE_PRO)]
    assert plain == [expected(path, text, 30, "4.51.0", True) for text in prompts]
    tokenizer = load_tokenizer(shutil.copytree(path, path + "b"), {})
    # As the default of another release, or a release that leaves the clean-up out, would have it.
    for value, for_bpe in itertools.product((True, False), repeat=2):
        tokenizer.clean_up_tokenization_spaces = value
        setattr(tokenizer, FOR_BPE, for_bpe)
        assert [cut.text for cut in truncate(prompts, tokenizer, 30, RULE_PRO)] == plain
    monkeypatch.setattr(type(tokenizer), "clean_up_tokenization", None, raising=False)
    assert [cut.text for cut in truncate(prompts, tokenizer, 30, RULE_PRO)] == plain


@pytest.mark.parametrize(("stated", "clean"), [(True, True), (False, False), (None, False)])
def test_what_no_official_release_knows_does_not_count(folder, stated, clean):
    config = {"tokenizer_class": "TokenizersBackend", FOR_BPE: False}
    if stated is not None:
        config[CLEAN_UP] = stated
    for for_bpe in (True, False):
        tokenizer = load_tokenizer(folder("gpt2", {**config, FOR_BPE: for_bpe}), {})
        assert bool(clean_up_policy(tokenizer)) is clean


@pytest.mark.parametrize(
    ("config", "model", "releases"),
    [
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, None, ["4.31.0", "4.45.0"]),
        ({"tokenizer_class": "GPT2Tokenizer"}, None, ["4.31.0", "4.45.0"]),
        ({"tokenizer_class": "GPT2TokenizerFast"}, None, ["4.31.0", "4.45.0"]),
        ({"tokenizer_class": "GPTNeoXTokenizerFast"}, None, ["4.31.0", "4.45.0"]),
        # Known from 4.37 on, and since 4.39.
        ({"tokenizer_class": "Qwen2Tokenizer"}, None, ["4.45.0"]),
        ({"tokenizer_class": "CohereTokenizerFast"}, None, []),
        ({"tokenizer_class": "LlamaTokenizer"}, None, []),
        ({"tokenizer_class": "LlamaTokenizerFast"}, None, []),
        ({"tokenizer_class": "TokenizersBackend"}, None, []),
        # The model's configuration tells the class, or its type does.
        ({}, {"model_type": "gpt2"}, ["4.31.0", "4.45.0"]),
        (None, {"model_type": "gpt2"}, ["4.31.0", "4.45.0"]),
        (None, {"model_type": "llama"}, []),
        (None, {"model_type": "gpt2", "tokenizer_class": "LlamaTokenizer"}, []),
        # Nothing does.
        (None, None, []),
        ({}, {}, []),
        ({CLEAN_UP: True}, None, ["4.31.0", "4.45.0", "4.51.0"]),
        ({CLEAN_UP: None}, {"model_type": "gpt2"}, []),
    ],
)
def test_the_class_that_the_files_name_decides_where_they_are_silent(
    folder, config, model, releases
):
    assert clean_up_policy(load_tokenizer(folder("gpt2", config, model), {})) == releases


def test_a_repository_in_the_hubs_cache(folder, tmp_path, monkeypatch):
    """Its files are found without network, at the revision that was asked for."""
    import huggingface_hub
    import transformers.utils.hub

    cache = tmp_path / "hub"
    repository = cache / "models--someone--something"
    (repository / "refs").mkdir(parents=True)
    for name, commit, stated in (("main", "a" * 40, True), ("old", "b" * 40, False)):
        config = {"tokenizer_class": "GPT2TokenizerFast", CLEAN_UP: stated}
        files = folder("gpt2", config, {"model_type": "gpt2"})
        shutil.copytree(files, repository / "snapshots" / commit)
        (repository / "refs" / name).write_text(commit)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    for place in (huggingface_hub.constants, transformers.utils.hub):
        for name in ("HF_HUB_CACHE", "TRANSFORMERS_CACHE", "default_cache_path"):
            if hasattr(place, name):
                monkeypatch.setattr(place, name, str(cache))
    for revision, clean in ((None, True), ("old", False)):
        arguments = {"pretrained": "someone/something", "revision": revision}
        tokenizer = load_tokenizer("someone/something", arguments)
        assert cleans_up(tokenizer, None) is clean
        (cut,) = truncate(["price , he said . " * 9], tokenizer, 8, RULE_V2)
        assert (" ," in cut.text) is not clean


def test_a_tokenizer_made_in_memory_is_what_it_was_built_with():
    from transformers import PreTrainedTokenizerFast

    raw = build("gpt2").backend_tokenizer
    for stated, clean in (({}, False), ({CLEAN_UP: True}, True), ({CLEAN_UP: False}, False)):
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, **stated)
        tokenizer.clean_up_tokenization_spaces = not clean
        for rule in (RULE_V1, RULE_V2, RULE_PRO, halves_decoded_apart):
            assert cleans_up(tokenizer, release_of(rule)) is clean
            (cut,) = truncate(["price , he said . " * 9], tokenizer, 12, rule)
            assert (" ," not in cut.text) is clean


def test_the_clean_up_is_the_librarys():
    tokenizer = build("gpt2")
    for text in [*texts(300, 3), " ' ' ' ", " n't 'm's", "a ' . b", ""]:
        assert clean_up(text) == without_spaces(text) == tokenizer.clean_up_tokenization(text)


def test_each_half_is_cleaned_up_by_itself(folder):
    """v1 decodes two halves: a space at the seam is not before the other half's comma."""
    path = folder("gpt2", {"tokenizer_class": "PreTrainedTokenizerFast", CLEAN_UP: True})
    tokenizer = load_tokenizer(path, {})
    text = "a ." * 20 + " , b"
    cuts = {}
    for limit in range(4, 20):
        for name, rule in (("apart", RULE_V1), ("together", RULE_V2)):
            (cut,) = truncate([text], tokenizer, limit, rule)
            cuts[name, limit] = cut.text
            assert cut.text == expected(path, text, limit, release_of(rule), True)
    assert any(cuts["apart", n] != cuts["together", n] for n in range(4, 20, 2))


# ---------------------------------------------------------------------- ids


LEADING = [" leading space , and <s> more <s>x </s>, a▁b ▁c. " + "the ledger of the harbor " * 20]


@pytest.mark.parametrize(
    "kind", ["LlamaTokenizer", "LlamaTokenizerFast", "PreTrainedTokenizerFast"]
)
def test_ids_are_those_of_the_file_even_where_the_class_builds_its_own(folder, kind):
    path = folder("llama2", {"tokenizer_class": kind, CLEAN_UP: False})
    tokenizer = load_tokenizer(path, {})
    for release, rule in RULES.items():
        for limit in (20, 33):
            (cut,) = truncate(LEADING, tokenizer, limit, rule)
            assert cut.text == expected(path, LEADING[0], limit, release, False)
    raw = Tokenizer.from_file(str(Path(path) / "tokenizer.json"))
    assert cutting_tokenizer(tokenizer).ids(LEADING[0]) == raw.encode(LEADING[0]).ids
    # transformers 5 makes another one of these files, and what is counted for a backend is its own.
    installed = tokenizer(LEADING[0])["input_ids"]
    assert fast_tokenizer(tokenizer).ids(LEADING[0]) == installed
    assert counts_as_installed(tokenizer) is (
        json.loads(tokenizer.backend_tokenizer.to_str()) == json.loads(raw.to_str())
    )


def test_a_class_of_transformers_5_is_no_reason_for_other_ids(folder):
    """GPT-2's class would split this file's text with GPT-2's regex."""
    path = folder("llama3", {"tokenizer_class": "GPT2TokenizerFast", CLEAN_UP: False})
    tokenizer = load_tokenizer(path, {})
    text = "the ledger lists 1234567 crates and 99999 lanterns, IT'S " * 30
    for release, rule in RULES.items():
        (cut,) = truncate([text], tokenizer, 50, rule)
        assert cut.text == expected(path, text, 50, release, False)


@pytest.mark.parametrize(
    ("settings", "before", "after"),
    [
        ({}, ["<s>"], []),
        ({"add_bos_token": False}, [], []),
        ({"add_eos_token": True}, ["<s>"], ["</s>"]),
        ({"add_bos_token": False, "add_eos_token": True}, [], ["</s>"]),
        ({"bos_token": "<|im_start|>"}, ["<|im_start|>"], []),
        ({"add_bos_token": None}, [], []),
    ],
)
def test_llama_classes_put_their_own_ends(folder, settings, before, after):
    path = folder("gpt2", {"tokenizer_class": "LlamaTokenizer", **settings})
    fast = cutting_tokenizer(load_tokenizer(path, {}))
    raw = build("gpt2").backend_tokenizer
    ids = raw.encode("the ledger", add_special_tokens=False).ids
    wanted = [[raw.token_to_id(token) for token in tokens] for tokens in (before, after)]
    assert fast.ids("the ledger") == [*wanted[0], *ids, *wanted[1]]


def test_settings_add_tokens_to_those_of_the_file(folder):
    flags = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), False)
    more = {"content": "<more>", "special": False, **flags}
    cases = [
        ({"additional_special_tokens": ["<new>"]}, {}, "a <new> b", "a  b"),
        ({"bos_token": "<new>"}, {}, "a <new> b", "a  b"),
        ({"eos_token": {"__type": "AddedToken", "content": "<new>"}}, {}, "a <new> b", "a  b"),
        ({"added_tokens_decoder": {"900": more}}, {}, "a <more> b", "a <more> b"),
        ({"added_tokens_decoder": {"900": {**more, "special": True}}}, {}, "a <more> b", "a  b"),
        ({}, {"special_tokens_map": {"pad_token": "<new>"}}, "a <new> b", "a  b"),
        ({}, {"added_tokens": {"<more>": 900}}, "a <more> b", "a <more> b"),
        ({"split_special_tokens": True}, {}, "a <s> b", "a <s> b"),
    ]
    for settings, files, text, decoded in cases:
        path = folder("gpt2", {"tokenizer_class": "PreTrainedTokenizerFast", **settings}, **files)
        fast = cutting_tokenizer(load_tokenizer(path, {}))
        ids = fast.ids(text)
        assert fast.decode(ids) == decoded, settings
        assert (len(ids) == 5) == ("split_special_tokens" not in settings)


def test_a_file_that_is_not_all_is_not_used(folder):
    """Whisper's class does more with a text than its tokenizer.json says."""
    path = folder("gpt2", {"tokenizer_class": "WhisperTokenizer"})
    origin = module._read_origin(path, None, whole=True)
    assert origin.backend is None
    assert origin.tokenizer_class == "WhisperTokenizer"
    assert module._read_origin(folder("gpt2"), None, whole=True).backend is not None


# ---------------------------------------------------------------------- decoding


def test_special_tokens_are_skipped_even_where_they_are_looked_for_in_normalized_text():
    raw = Tokenizer.from_str(build("llama2").backend_tokenizer.to_str())
    raw.add_tokens(
        [
            AddedToken("<BOS>", special=True, normalized=True),
            AddedToken("<plain>", special=False, normalized=True),
        ]
    )
    ids = raw.encode("the <plain> ledger <BOS>x <s>hello", add_special_tokens=False).ids
    assert BackendDecoder(raw)(ids) == "the<plain> ledgerx  hello"
    quiet = raw.encode("the ledger 合同 🙂 <s>hello", add_special_tokens=False).ids
    assert BackendDecoder(raw)(quiet) == raw.decode(quiet, skip_special_tokens=True)


@pytest.mark.parametrize("name", ["gpt2_added", "llama2_added", "bert", "words", "unigram_first"])
def test_token_by_token_is_what_the_backend_decodes(name, monkeypatch):
    raw = build(name).backend_tokenizer
    decode = BackendDecoder(raw)
    slowly = BackendDecoder(raw)
    monkeypatch.setattr(slowly, "_normalized", set(range(raw.get_vocab_size())))
    for text in [*texts(40, 4), "hello the ledger <mask>lo wo <s>", "", "<s>"]:
        ids = raw.encode(text).ids
        assert decode(ids) == slowly(ids) == raw.decode(ids, skip_special_tokens=True)


def test_a_tokenizer_in_python_joins_its_added_tokens_with_spaces():
    from transformers import ByT5Tokenizer

    tokenizer = ByT5Tokenizer(extra_ids=0)
    tokenizer.add_tokens(["<x>"])
    ids = tokenizer("price , he<x>said .", add_special_tokens=False)["input_ids"]
    assert module.slow_decoder(tokenizer, False)(ids) == "price , he <x> said ."
    assert module.slow_decoder(tokenizer, True)(ids) == "price, he <x> said."
    whole = tokenizer("<x>合同 <x><x>")["input_ids"]
    assert module.slow_decoder(tokenizer, False)(whole) == "<x> 合同  <x> <x>"
    (cut,) = truncate(["abc , def <x> ghi jkl"], tokenizer, 9, RULE_V1)
    assert (cut.text, cut.truncated) == ("abc jkl", True)


def test_code_of_its_own_is_told_what_the_release_would_have_told_it():
    asked = []

    class Own:
        is_fast = False
        init_kwargs: ClassVar[dict] = {}

        def __call__(self, text, **_):
            return {"input_ids": [ord(char) for char in text]}

        def decode(self, ids, **options):
            asked.append(options)
            return "".join(map(chr, ids))

    (cut,) = truncate(["abcdef , gh"], Own(), 4, RULE_V1)
    assert cut.text == "abgh"
    assert asked == [{"skip_special_tokens": True, CLEAN_UP: False}] * 2
    asked.clear()
    Own.init_kwargs = {CLEAN_UP: True}
    next(truncate(["abcdef , gh"], Own(), 4, RULE_V1))
    assert asked[0][CLEAN_UP] is True


# ---------------------------------------------------------------------- hashes


def test_the_hash_is_that_of_the_description_unless_something_else_changes_cut_prompts(folder):
    import hashlib

    base = {"tokenizer_class": "PreTrainedTokenizerFast", CLEAN_UP: False}
    description = build("gpt2").backend_tokenizer.to_str()
    plain = tokenizer_sha256(load_tokenizer(folder("gpt2", base), {}))
    assert plain == hashlib.sha256(description.encode()).hexdigest()
    same = [{"chat_template": "x"}, {"padding_side": "left"}, {FOR_BPE: True}]
    for settings in same:
        path = folder("gpt2", base | settings)
        assert tokenizer_sha256(load_tokenizer(path, {})) == plain
    others = [
        {CLEAN_UP: True},
        {"split_special_tokens": True},
        {"tokenizer_class": "LlamaTokenizer"},
        {"additional_special_tokens": ["<new>"]},
    ]
    silent = {"tokenizer_class": "GPT2Tokenizer"}
    found = [plain, tokenizer_sha256(load_tokenizer(folder("gpt2", silent), {}))]
    for settings in others:
        found.append(tokenizer_sha256(load_tokenizer(folder("gpt2", base | settings), {})))
    assert len(set(found)) == len(found)


def test_the_table_of_defaults():
    defaults = module._defaults()
    assert list(defaults) == list(RULES)
    for kinds in defaults.values():
        for names in kinds.values():
            assert names == sorted(set(names)) or "PreTrainedTokenizerFast" in names
    first, second, third = (set(kinds["classes"]) for kinds in defaults.values())
    assert third < first < second
    assert not second & {"LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer"}
