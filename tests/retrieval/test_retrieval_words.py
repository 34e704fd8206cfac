import subprocess
import sys

from lm_eval_longbench.retrieval.chunks import words

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
