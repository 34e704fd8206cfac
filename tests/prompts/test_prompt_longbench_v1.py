"""The exact prompt of a document."""

import hashlib
import json
from pathlib import Path

import pytest
from longbench_v1_facts import DATASETS
from v1_tasks import BY_FILE

from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.errors import PromptError

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "prompts.jsonl"
# Everything a careless substitution trips over.
DOCUMENT = {
    "context": "Passage 1:\nA {brace}, {{two}}, {input} and {context}. 100%s\r\n段落2：故事🙂 \n",
    "input": "What {context} is $Q$?\n  答案 ",
}
# Of the official templates with these values put in.
PROMPTS = {
    "narrativeqa": "58094426185b25c37055356490001407331b7014421b7d2e1dae56cb1d10faac",
    "qasper": "58319b7972f668b34ab7b74f093e84de50684196de8be7170df2706412f4d80d",
    "multifieldqa_en": "9bd1473d79195f8f9eb56d17a696e8be49596de969ea888770e3a4d7406c71ad",
    "multifieldqa_zh": "8e5a137d11c0360e77e1f541e81a337a60cde700281fe54a0f008a228bc49470",
    "hotpotqa": "b3723855b53a5c6227f2f89a2b58f8c2ec992bdad3f03de5cc6bb0baa701e968",
    "2wikimqa": "b3723855b53a5c6227f2f89a2b58f8c2ec992bdad3f03de5cc6bb0baa701e968",
    "musique": "b3723855b53a5c6227f2f89a2b58f8c2ec992bdad3f03de5cc6bb0baa701e968",
    "dureader": "1f78011a92eaf748d65ca91bc40ecddafd18273e1e76a91ccecc00c7b5325275",
    "gov_report": "164449e1077f87100b427ac36ddcfe022ad31a75d051c9ed308db23532111837",
    "qmsum": "bfd17b8628eecc57eeafa8bf61f9a2ff4f760c4b6977a4f44685875c6f798ab5",
    "multi_news": "d08d45068aa33f6370754a0e4c4e0bb0043643d99c78e9a37b664aca14e14423",
    "vcsum": "3e5e7b58667704159960038e74fd51683f5b18607b400cc3c32b2f425c748bb8",
    "trec": "ab11d92e3e5f9cdc403dcedbe2b4cb800caa56faf51093124c85ea32eafd1508",
    "triviaqa": "31bed1e917204bf5e7de15a398d39800e5b99c9c953f7a9c973b298b047f3e62",
    "samsum": "fb4f4d81d59f053c1c531c899eb5741d827157e50dc66c28affec0216373f0ac",
    "lsht": "113030b520a0e533d7b1faf9d5f42c42eeafb19172dd132c1ac36faa019d5688",
    "passage_count": "e9a6d99a63cc961d2b5eeb7abd04dceb717892530cb433306fdffe84721384cd",
    "passage_retrieval_en": "328cd859606bd4a584284fd024261c8cf568846e25d5c04d91f07cc5bde4107e",
    "passage_retrieval_zh": "6eab8807d85b68fc3bd9830099ca2941c3ef64a7187605192a83dc375265d5f9",
    "lcc": "5bbb1a218cd3c2fe46b31a1241abe756c5e6a18051eacd6c7693bc598984d3d2",
    "repobench-p": "602b8a494397b143fa620db9dacb7f2de3017b198654573832c30b437a0ec92b",
}


def render(dataset, document):
    return V1.render(BY_FILE[dataset], document)


def golden():
    if not GOLDEN.is_file():
        return []
    rows = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").split("\n") if line]
    return [row for row in rows if row["benchmark"] == "longbench_v1"]


@pytest.mark.parametrize(("dataset", "sha256"), PROMPTS.items())
def test_carried_prompts(dataset, sha256):
    assert hashlib.sha256(render(dataset, DOCUMENT).encode()).hexdigest() == sha256


@pytest.mark.skipif(not GOLDEN.is_file(), reason="no shared/golden folder beside this repository")
def test_golden_prompts():
    rows = golden()
    assert len(rows) == 84
    assert {row["dataset"] for row in rows} == DATASETS.keys()
    differing = [
        (number, row["dataset"])
        for number, row in enumerate(rows)
        if render(row["dataset"], row["doc"]) != row["prompt"]
    ]
    assert differing == []
    assert all(DATASETS[row["dataset"]].budget == row["max_gen_toks"] for row in rows)


def test_values_are_never_templates():
    prompt = render("trec", {"context": "{input}", "input": "{context}"})
    assert prompt.endswith("questions.\n\n{input}\n{context}")
    prompt = render("trec", {"context": r"\1 \g<1> {0} %s", "input": "{input!r}"})
    assert prompt.endswith("questions.\n\n\\1 \\g<1> {0} %s\n{input!r}")


def test_a_field_the_template_does_not_use_may_be_missing():
    document = {"context": "x"}
    assert "x" in render("gov_report", document)
    assert render("gov_report", document) == render("gov_report", {**document, "input": "y"})


@pytest.mark.parametrize("name", ["context", "input"])
def test_a_missing_field(name):
    document = {"context": "C", "input": "I"}
    del document[name]
    with pytest.raises(PromptError, match=f"qasper prompt needs the field '{name}'.*no such field"):
        render("qasper", document)


@pytest.mark.parametrize("value", [None, 1, ["C"], {"C": 1}, b"C", True])
def test_a_field_that_is_no_text(value):
    with pytest.raises(PromptError, match="needs the field 'context' as a text") as caught:
        render("qasper", {"context": value, "input": "I"})
    assert type(value).__name__ in str(caught.value)
