import subprocess
import sys

import numpy as np
import pytest

from lm_eval_longbench.retrieval.chunks import scores, words


def test_the_document_with_the_rare_word_wins():
    documents = [["the", "cat"], ["the", "lighthouse"], ["the", "the"]]
    found = scores(documents, ["the", "lighthouse"])
    assert int(np.argmax(found)) == 1
    assert found.shape == (3,)


def test_equals_the_librarys_index_by_words():
    import bm25s

    documents = [["a", "b", "b"], ["c"], ["a", "d", "e", "f"], []]
    index = bm25s.BM25()
    index.index(documents, show_progress=False)
    assert scores(documents, ["a", "b", "x"]) == pytest.approx(index.get_scores(["a", "b", "x"]))


ORDER = """
import sys
import lm_eval_longbench.harness.run
assert not {"bm25s", "numba"} & set(sys.modules), "imported before it is used"
from lm_eval_longbench.retrieval.chunks import scores, words
scores([["a", "b"], ["c"]], ["a"])
loaded = list(sys.modules)
assert loaded.index("multiprocessing.util") < loaded.index("bm25s")
if "numba" in loaded:
    assert loaded.index("multiprocessing.util") < loaded.index("numba")
"""


def test_numba_comes_late_and_behind_multiprocessing():
    """Its exit handler would otherwise run after the one that ends an engine's processes."""
    subprocess.run([sys.executable, "-c", ORDER], check=True, timeout=200)


def test_words_are_lower_cased_without_punctuation():
    assert words("The U.S. Navy's ship!") == ["the", "u", "s", "navy", "s", "ship"]
    assert words("灯塔建造，谁") == ["灯塔", "塔建", "建造", "谁"]
    assert words("用BERT模型") == ["用", "bert", "模型"]
    assert words("") == words(" ...\n。") == []
