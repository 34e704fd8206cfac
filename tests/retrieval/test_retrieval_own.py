import pytest

from lm_eval_longbench.benchmarks.modes import retrieved_document
from lm_eval_longbench.errors import PromptError
from lm_eval_longbench.retrieval.chunks import SIZE, chunks, retrieve

FILLER = "cows eat grass . " * (SIZE // 4)
TEXT = f"{FILLER}Emma built the tower . {FILLER * 3}Tom fished by the river . {FILLER}"
ROW = {
    "context": f"\n {TEXT}\n",
    "question": " Who built the tower?\n",
    "choice_A": "Emma",
    "choice_B": "Ann",
    "choice_C": "Bob",
    "choice_D": "Zoe",
}


def test_the_chunk_that_holds_the_answer():
    (found,) = retrieve(ROW, 1)
    assert found == {"c_idx": 1, "content": chunks(TEXT)[1]}
    assert found["content"].startswith("Emma built the tower . cows")


def test_the_chunks_make_the_official_document():
    text = retrieved_document(retrieve({**ROW, "choice_D": "by the river"}, 2), 2)
    assert text.startswith("Retrieved chunk 1: Emma built")
    assert "\n\nRetrieved chunk 2: . cows eat grass . Tom fished" in text


def test_a_short_document_is_one_chunk_and_an_empty_one_none():
    assert retrieve({**ROW, "context": " Cows eat. "}, 4) == [{"c_idx": 0, "content": "Cows eat."}]
    assert retrieve({**ROW, "context": " \n"}, 4) == []


@pytest.mark.parametrize("name", ["context", "question", "choice_A", "choice_D"])
def test_a_row_without_a_text_is_refused(name):
    with pytest.raises(PromptError, match=f"'{name}' as a text; the row has no such field"):
        retrieve({key: value for key, value in ROW.items() if key != name}, 4)
    with pytest.raises(PromptError, match=f"'{name}' as a text; the row has NoneType"):
        retrieve({**ROW, name: None}, 4)
