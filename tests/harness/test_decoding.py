"""Answers of `hf` are scored as the official release decoded them, and kept as the model gave them.

The facts were recorded with transformers 4.31.0 and tokenizers 0.13.3:
`AutoTokenizer.from_pretrained(folder).decode(ids, skip_special_tokens=True)` of byte-level
tokenizers whose files say what those of Llama 3, Qwen, tekken and GPT-2 say, and of Llama 2's
pieces.
"""

import json

import pytest
import torch
import transformers
from lm_eval.models.huggingface import HFLM
from oracles.tokenizer_zoo import build
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

import lm_eval_longbench
from lm_eval_longbench import score_paths
from lm_eval_longbench.check.verification import DIFFERENT
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.prompts.tokens.official import clean_up

CLEAN_UP = "clean_up_tokenization_spaces"
FOR_BPE = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"
# What the ids of an answer spell, and what transformers 4.31.0 made of them where it cleans up.
FACTS = {
    "        .setName(x , y) . build() ;": "       .setName(x, y). build() ;",
    "    return a , b  .  c ?  d ! \n , e": "    return a, b .  c?  d! \n, e",
    "it 's not theirs , I 'm sure ; they 're gone and we 've n't": (
        "it's not theirs, I'm sure ; they're gone and we'ven't"
    ),
    "the ' quoted ' word ' ' ' s": "the'quoted'word'''s",
    " .. ,, ! ! ?": "..,,!!?",
    "print( 'a' , 'b' )": "print( 'a', 'b' )",
    "\n\tx = y ,\n\t .z": "\n\tx = y,\n\t.z",
}
# Vocabulary, what tokenizer_config.json says, and whether 4.31.0 cleaned up what it decoded.
KINDS = {
    "llama 3": ("llama3", {"tokenizer_class": "PreTrainedTokenizerFast", CLEAN_UP: True}, True),
    "qwen": ("qwen", {"tokenizer_class": "Qwen2Tokenizer", CLEAN_UP: False}, False),
    "tekken": ("o200k", {"tokenizer_class": "PreTrainedTokenizerFast", CLEAN_UP: True}, True),
    "silent": ("o200k", {"tokenizer_class": "PreTrainedTokenizerFast"}, True),
    "gpt 2": ("gpt2", {"tokenizer_class": "GPT2Tokenizer"}, True),
    "llama 2": ("llama2", {"tokenizer_class": "LlamaTokenizerFast"}, False),
}
TASK = "longbench_v1_lcc"
GOLD = "        .setName(x, y).build();"


class Scripted(LlamaForCausalLM):
    """A real Llama that says one text after the other, whatever it is asked."""

    scripts = ()
    asked = -1

    def forward(self, input_ids=None, **kwargs):
        out = super().forward(input_ids=input_ids, **kwargs)
        if input_ids.shape[1] > 1:
            self.asked, self.said = self.asked + 1, 0
        script = self.scripts[self.asked % len(self.scripts)]
        out.logits[:, -1, script[min(self.said, len(script) - 1)]] = 1e4
        self.said += 1
        return out


def ids_of(tokenizer, text):
    """Ids that are decoded to just this text: of pieces the first space may be lost."""
    for start in ("", " "):
        ids = tokenizer(start + text, add_special_tokens=False)["input_ids"]
        if tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text:
            return ids
    raise AssertionError(text)


def written(folder, kind, settings):
    """Write the files of a model: its vocabulary, what its configuration says, random weights."""
    folder.mkdir(exist_ok=True)
    raw = build(kind).backend_tokenizer
    (folder / "tokenizer.json").write_text(raw.to_str(), encoding="utf-8")
    named = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps({**named, **settings}))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        num_attention_heads=2,
        max_position_embeddings=2048,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
        **sizes,
    )
    model = Scripted(config)
    model.save_pretrained(folder)
    model.scripts = [[*ids_of(tokenizer, text), tokenizer.eos_token_id] for text in FACTS]
    return model, tokenizer


@pytest.fixture
def questions(tmp_path):
    """One question of lcc for each text, in the order in which the model is asked."""
    rows = [
        {
            "input": "",
            "context": "let total = items;\n" * (len(FACTS) - number),
            "answers": [GOLD],
            "length": 3,
            "dataset": "lcc",
            "language": "python",
            "all_classes": None,
            "_id": f"q{number}",
        }
        for number in range(len(FACTS))
    ]
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "lcc.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"data_dir": str(folder), "truncate_to": 1500, "gen_kwargs": "max_gen_toks=64"}


def asked(model, questions, output, **more):
    """Run; return the run, the rows of its log in order, and the signature of the task."""
    more |= {"name": "scripted"} if isinstance(model, tuple) else {}
    run = lm_eval_longbench.evaluate(model, [TASK], output_path=str(output), **questions, **more)
    log = max(output.rglob("samples_*.jsonl"))
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    results = json.loads(max(output.rglob("results_*.json")).read_text(encoding="utf-8"))
    own = results["configs"][TASK]["metadata"]["longbench_run"]
    return run, sorted(rows, key=lambda row: row["doc_id"]), own


@pytest.mark.parametrize(("kind", "named"), [*((kind, False) for kind in KINDS), ("llama 3", True)])
def test_answers_are_what_transformers_4_31_decoded(kind, named, questions, tmp_path, monkeypatch):
    vocabulary, settings, cleaned = KINDS[kind]
    folder = tmp_path / "model"
    model, tokenizer = written(folder, vocabulary, settings)
    output, more = tmp_path / "out", {}
    subject = (model, tokenizer)
    if named:
        loading = transformers.AutoModelForCausalLM
        monkeypatch.setattr(loading, "from_pretrained", lambda *_, **__: model)
        subject, more = "hf", {"model_args": {"pretrained": str(folder)}, "device": "cpu"}
    run, rows, own = asked(subject, questions, output, **more)
    official = list(FACTS.values()) if cleaned else list(FACTS)
    assert [row["resps"] for row in rows] == [[[text]] for text in FACTS]
    assert [row["filtered_resps"] for row in rows] == [[text] for text in official]
    assert rows[0]["score"] == (0.95 if cleaned else 0.94)
    assert own["decoding"] == ("cleaned up" if cleaned else None)
    assert own["packages"]["transformers"] == transformers.__version__

    score_paths([output], tmp_path / "scored", official=tmp_path / "official")
    scored = json.loads((tmp_path / "scored" / "report.json").read_text())
    figure = scored["tables"]["longbench_v1"]["official"]
    assert figure == run.scores["longbench_v1"]
    assert figure == {"lcc": round(100 * sum(row["score"] for row in rows) / len(rows), 2)}
    (file,) = (tmp_path / "official").rglob("lcc.jsonl")
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["pred"] for line in lines] == official
    checks = verify([output], questions["data_dir"]).checks
    assert [check for check in checks if check.status == DIFFERENT] == []


def edited(folder, **settings):
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))
    return AutoTokenizer.from_pretrained(folder)


def test_what_the_installed_release_cleaned_up_is_not_cleaned_up_again(questions, tmp_path):
    """Answers kept under one release of transformers are taken under another."""
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", CLEAN_UP: True, FOR_BPE: True}
    model, tokenizer = written(tmp_path / "model", "o200k", settings)
    twice = [clean_up(text) for text in FACTS.values()]
    assert twice != list(FACTS.values())
    first = asked((model, tokenizer), questions, tmp_path / "out")
    model.asked = -1
    other = edited(tmp_path / "model", **{FOR_BPE: False})
    (tmp_path / "between").mkdir()
    again = asked((model, other), questions, tmp_path / "out")
    assert model.asked == -1
    for _, rows, own in (first, again):
        assert [row["resps"] for row in rows] == [[[text]] for text in FACTS.values()]
        assert [row["filtered_resps"] for row in rows] == [[text] for text in FACTS.values()]
        assert own["decoding"] == "cleaned up"


@pytest.mark.parametrize("task", [TASK, "longbench_v1_e_lcc", "longbench_v2"])
def test_in_plain_lm_eval(task, evaluate, tmp_path):
    """v1 and E alone were decoded by transformers 4.31.0."""
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", CLEAN_UP: True}
    model, tokenizer = written(tmp_path / "model", "o200k", settings)
    lm = HFLM(pretrained=model, tokenizer=tokenizer)
    found = evaluate(lm, [task], {"truncate_to": 900}, limit=1, log_samples=True)
    (row,) = found["samples"][task]
    (given,) = row["resps"][0]
    own = found["configs"][task]["metadata"]["longbench_run"]
    applies = task != "longbench_v2"
    assert row["filtered_resps"] == [clean_up(given) if applies else given]
    assert own["decoding"] == ("cleaned up" if applies else None)
    assert " ," in given


def test_a_model_that_decodes_by_itself_is_left_alone(questions, tmp_path):
    text = next(iter(FACTS))
    folder = tmp_path / "model"
    written(folder, "o200k", {"tokenizer_class": "PreTrainedTokenizerFast", CLEAN_UP: True})
    run = lm_eval_longbench.evaluate(
        lambda prompts: [text for _ in prompts], [TASK], tokenizer=str(folder), **questions
    )
    assert {sample["score"] for sample in run.samples} == {0.94}
