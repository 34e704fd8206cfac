"""What prompts have in common is read once, and the answers are those of prompts read whole."""

import pytest
import torch
import transformers
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

from lm_eval_longbench import evaluate, load
from lm_eval_longbench.harness.prefill import FEWEST, grouped, reused_prefill

SMALL = {
    "vocab_size": 3000,
    "initializer_range": 0.3,  # so that answers differ with their prompts
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 1,
}
SCALED = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
MODELS = {
    "llama": ("Llama", {}),
    "qwen": ("Qwen3", {"head_dim": 16}),
    "short window": ("Mistral", {"sliding_window": 64}),
    "wide window": ("Mistral", {"sliding_window": 4000}),
    "scaled by length": ("Llama", {"rope_parameters": SCALED}),
    "recurrent": ("Mamba", {}),
}
NEVER = {"short window", "scaled by length", "recurrent"}
SAMPLE = load("longbench_v1_gov_report", data_dir="sample")
WORDS = " ".join(str(one.row["context"]) for one in SAMPLE).split() * 9
DOCUMENTS = {"a": " ".join(WORDS[:1300]), "b": " ".join(WORDS[300:1500]), "short": "One."}


@pytest.fixture(scope="module")
def model(tokenizer_folder):
    """Make a small model with random weights by its name in MODELS, with a number a batch."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer_folder)

    def make(name="llama", batch_size=1):
        kind, more = MODELS[name]
        torch.manual_seed(0)
        config = getattr(transformers, f"{kind}Config")(**{**SMALL, **more})
        made = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
        return HFLM(pretrained=made, tokenizer=tokenizer, batch_size=batch_size)

    return make


def requests(*asked, **generation):
    """Requests of documents and questions; each of them, such as "a 1 x3", so many times."""
    found = []
    for number, text in enumerate(asked):
        document, question, *times = text.split()
        doc = {"prompt": {"document_sha256": document}}
        if document == "none":
            doc = {}
        prompt = f"{DOCUMENTS.get(document, '')} Question {question}: what is it about?"
        arguments = {"until": ["\n\n"], "max_gen_toks": 8, **generation}
        one = Instance("generate_until", doc, (prompt, arguments), number)
        found += [one] * int(times[0][1:] if times else 1)
    return found


def answered(model, asked, reuse):
    """Return the answers, the ids that went through the model, and those that did not need to."""
    read, reused, forward = [], [], model.model.forward

    def counted(*args, **kwargs):
        read.append((args[0] if args else kwargs["input_ids"]).numel())
        return forward(*args, **kwargs)

    class Hook:
        def add_partial(self, attr, req, res):
            ids = getattr(model, "reused_ids", None)
            reused.append(ids.pop(0) if ids else None)

    model.model.forward = counted
    model.set_cache_hook(Hook())
    try:
        if not reuse:
            return model.generate_until(asked, disable_tqdm=True), sum(read), reused
        with reused_prefill(model):
            texts = model.generate_until(asked, disable_tqdm=True)
        return texts, sum(read), reused
    finally:
        del model.model.forward


QUESTIONS = ("a 1", "b 1", "a 2 x3", "short 1", "b 2", "short 1", "a 3", "none 1", "a 1")


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_prompts_that_are_read_whole(model, name, caplog):
    whole, read, _ = answered(model(name), requests(*QUESTIONS), reuse=False)
    texts, less, reused = answered(model(name), requests(*QUESTIONS), reuse=True)
    assert texts == whole
    assert len(set(texts)) > 3
    if name in NEVER:
        assert less == read
        assert not any(reused)
        assert "Each prompt is read from its beginning" in caplog.text
    else:
        # The two long documents once, but for the ends of the prompts.
        assert less < 0.45 * read
        assert sum(map(bool, reused)) == 7


def test_questions_on_a_document_that_come_apart_read_it_once(model):
    own = model()
    documents = [f"{name} {question}" for question in range(5) for name in "ab"]
    _, read, reused = answered(own, requests(*documents), reuse=True)
    lengths = sorted(len(own.tok_encode(one.args[0])) for one in requests(*documents))
    assert reused.count(0) == 2
    assert min(number for number in reused if number) >= FEWEST
    # Two documents, and of each prompt its end and eight ids of an answer.
    assert read < 1.1 * (lengths[0] + lengths[-1]) + 10 * 8


@pytest.mark.parametrize("batch_size", [1, 2, 3, 8])
def test_repeats_of_a_prompt_read_it_once(model, batch_size):
    asked = requests("a 1 x3", "b 1 x3")
    whole, _, _ = answered(model(), asked, reuse=False)
    own = model(batch_size=batch_size)
    texts, read, reused = answered(own, asked, reuse=True)
    assert texts == whole
    lengths = [len(own.tok_encode(one.args[0])) for one in asked[::3]]
    assert read <= sum(lengths) + 6 * 10
    assert sorted(reused)[2:] == sorted(length - 1 for length in lengths for _ in range(2))


def test_sampled_repeats_differ_and_are_those_of_prompts_read_whole(model):
    asked = requests("a 1 x3", "a 2 x2", do_sample=True, temperature=1.0)

    def seeded(reuse):
        torch.manual_seed(7)
        return answered(model(), asked[:1] + asked, reuse=reuse)[0]

    assert seeded(True) == seeded(False)
    assert len(set(seeded(True))) == 5 or len(set(seeded(True))) == 6


def test_prompts_of_a_batch_that_differ_are_read_whole(model, caplog):
    asked = requests("a 1", "a 2", "b 1", "short 1")
    whole, read, _ = answered(model(batch_size=2), asked, reuse=False)
    texts, as_much, reused = answered(model(batch_size=2), asked, reuse=True)
    assert (texts, as_much) == (whole, read)
    assert not any(reused)
    assert "--batch_size 1" in caplog.text


@pytest.mark.parametrize("more", [{"num_beams": 2}, {"prompt_lookup_num_tokens": 3}])
def test_other_ways_to_generate_are_left_alone(model, more):
    asked = requests("a 1", "a 2", **more)
    whole, read, _ = answered(model(), asked, reuse=False)
    assert answered(model(), asked, reuse=True)[:2] == (whole, read)


def test_an_encoder_decoder_is_left_alone(tokenizer_folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer_folder)
    config = transformers.T5Config(
        vocab_size=3000, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2,
        decoder_start_token_id=0, eos_token_id=1, pad_token_id=1,
    )  # fmt: skip
    made = transformers.T5ForConditionalGeneration(config).eval()
    own = HFLM(pretrained=made, tokenizer=tokenizer, backend="seq2seq")
    before = dict(vars(own))
    with reused_prefill(own):
        assert vars(own) == before


def test_another_beginning_before_the_same_text_is_seen(model):
    """Ids are compared, not texts."""
    own = model()
    asked = requests("a 1", "a 2")
    own.add_bos_token = True
    whole, _, _ = answered(own, asked, reuse=False)
    encode, number = own.tok_batch_encode, iter([True, False])

    def tok_batch_encode(strings, **kwargs):
        ids, mask = encode(strings, **kwargs)
        return (ids, mask) if next(number) else (ids[:, 1:], mask[:, 1:])

    own.tok_batch_encode = tok_batch_encode
    texts, _, reused = answered(own, asked, reuse=True)
    assert texts[0] in whole
    assert reused == [0, 0]


def test_want_of_memory_reads_the_prompt_whole(model, caplog):
    asked = requests("a 1", "a 2", "a 3")
    own = model()
    whole, _, _ = answered(own, asked, reuse=False)
    plain = own._model_generate

    def scarce(**given):
        if given.get("past_key_values") is not None:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return plain(**given)

    own._model_generate = scarce
    texts, _, reused = answered(own, asked, reuse=True)
    assert texts == whole
    assert not any(reused)
    assert caplog.text.count("memory ran out") == 1


def test_the_longest_group_comes_first():
    asked = requests("short 1", "a 1", "b 1", "a 2", "none 1")
    keys = {id(one): (one.doc.get("prompt") or {}).get("document_sha256") for one in asked}
    assert grouped(asked, lambda one: keys[id(one)]) == [[1, 3], [2], [0], [4]]


# ---------------------------------------------------------------------- engines


class VLLM:
    """Sorts as the harness's does, and notes what its engine gets."""

    data_parallel_size = 1

    def __init__(self):
        self.got = []

    def generate_until(self, requests, disable_tqdm=False):
        order = sorted(range(len(requests)), key=lambda one: -len(requests[one]))
        given = [requests[number] for number in order]
        made = self._model_generate(given, generate=True, sampling_params=[*order])
        return [made[order.index(number)] for number in range(len(requests))]

    def _model_generate(self, requests, generate=False, sampling_params=None):
        self.got = [ids[0] for ids in requests]
        return [(ids[0], len(ids), own) for ids, own in zip(requests, sampling_params, strict=True)]


def prompts_of(*shapes):
    return [[document] * FEWEST + [9] * more for document, more in shapes]


def test_an_engine_gets_the_prompts_of_a_document_one_after_the_other():
    prompts = [*prompts_of((1, 5), (2, 4), (1, 3), (3, 9), (2, 6), (1, 1)), [4], [4]]
    engine = VLLM()
    whole = engine.generate_until(prompts)
    assert engine.got == [3, 2, 1, 2, 1, 1, 4, 4]
    with reused_prefill(engine):
        assert engine.generate_until(prompts) == whole
    assert engine.got == [3, 2, 2, 1, 1, 1, 4, 4]
    assert engine.generate_until(prompts) == whole
    assert engine.got == [3, 2, 1, 2, 1, 1, 4, 4]


def test_replicas_of_an_engine_get_what_they_got():
    """The harness deals prompts out to them, the longest in turn."""
    engine = VLLM()
    engine.data_parallel_size = 2
    with reused_prefill(engine):
        engine.generate_until(prompts_of((1, 5), (2, 4), (1, 3)))
    assert engine.got == [1, 2, 1]


# ---------------------------------------------------------------------- in a run

ALL = ["longbench_v1", "longbench_v1_e", "longbench_v2", "longbench_v2_cot", "longbench_pro"]
# Raw, with a chat template, two passes, three answers, a summary.
KINDS = ["longbench_v1_qasper", "longbench_v1_trec", "longbench_v2_cot", "longbench_pro_t1_1"]
KINDS.append("longbench_pro_t4_1")


def run_of(model, tasks=ALL, **more):
    return evaluate(
        model, tasks, data_dir="sample", truncate_to=1400, gen_kwargs="max_gen_toks=4",
        apply_chat_template=True, **more,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["llama", "qwen", "wide window", "short window"])
def test_every_task_of_the_sample_is_answered_as_without(model, tmp_path, kind):
    """Sampled answers, too: with output_path each has a seed of its own."""
    own, given = model(kind), {"name": "tiny", "tasks": KINDS, "limit": 1}
    if kind == "llama":  # whole, so that questions on one document follow each other
        given |= {"tasks": ALL, "limit": None}
    whole = run_of(own, reuse_prefill="off", output_path=str(tmp_path / "whole"), **given)
    run = run_of(own, output_path=str(tmp_path / "reused"), **given)
    assert run.scores == whole.scores
    for name, rows in whole._kept.rows.items():
        assert [one["resps"] for one in run._kept.rows[name]] == [one["resps"] for one in rows]
    signed = {name: own["prefill"] for name, own in run._kept.signatures.items()}
    reused = None if kind in NEVER else "reused"
    assert set(signed.values()) == {None, reused}
    assert signed["longbench_pro_t1_1"] == reused  # three answers to each question
    assert {own["prefill"] for own in whole._kept.signatures.values()} == {None}


def test_a_run_that_goes_on_knows_what_was_reused(model, tmp_path):
    given = {
        "tasks": ["longbench_pro_t1_1"],
        "output_path": str(tmp_path),
        "limit": 1,
        "name": "tiny",
    }
    first = run_of(model(), **given)
    again = run_of(model(), **given)
    assert first.signature == again.signature
    (signed,) = again._kept.signatures.values()
    assert signed["prefill"] == "reused"
    replies = [
        reply for row in again._kept.rows["longbench_pro_t1_1"] for reply in row["doc"]["replies"]
    ]
    assert [bool(reply.get("cached_tokens")) for reply in replies] == [False, True, True]
