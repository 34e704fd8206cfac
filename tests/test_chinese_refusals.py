"""Why a submission is refused, in Chinese: each template that can stand there has one."""

import ast
import re
import time
from pathlib import Path

import pytest
from texts_in_code import texts_in

from lm_eval_longbench import chinese_refusals as module
from lm_eval_longbench.chinese_refusals import refusal_in_chinese
from lm_eval_longbench.language import chinese_of
from lm_eval_longbench.verify.check import EDITED

ROOT = Path(module.__file__).parent
# Modules whose texts can be a reason, and what of them cannot.
MODULES = {
    **{
        f"verify/{name}.py": ()
        for name in ("data", "figures", "log", "prompts", "results", "scored", "settings")
    },
    **{f"verify/{name}.py": () for name in ("subject", "verify")},
    "verify/check.py": ("summary_line",),
    "lock/check.py": ("", "require_lock", "_check", "_todo"),
    "lock/lock.py": ("", "lock_now", "lock_text"),
    "logs/results_file.py": (),
    "logs/sample_log.py": (),
    "shapes.py": (),
    "input_files.py": (),
    "page/leaderboard.py": ("leaderboard_data",),
    "options.py": ("read_seed",),
    "figures/answers.py": (),
}
# Of other modules the functions that make a reason.
FUNCTIONS = {
    "errors.py": ("UnknownNameError", "few"),
    "scoring/plan.py": ("_check_repeats", "_check_settings"),
    "scoring/scan.py": ("_check",),
    "scoring/problems.py": ("check_scored",),
    "benchmarks/base.py": ("question_problem",),
    "benchmarks/longbench_v1.py": ("question_problem",),
    "benchmarks/longbench_v2.py": ("question_problem",),
    "benchmarks/longbench_pro.py": ("question_problem", "render"),
    "prompts/render.py": ("text_field",),
}
LINE = "different: a.json, longbench_v1_trec: {}: found {}, expected {}. {}"
PLAIN = "There are not so many questions."
AGAIN = "Write it anew: lm-eval-longbench lock --tasks TASKS"
NOT_READ = "a.jsonl, line 3, is no row of a sample log: "
# Texts that are parts of one, or are filled with words, in such a one.
WHOLE = [
    *(LINE.format(kind, "5 rows", "0 rows", PLAIN) for kind in chinese_of("kinds")),
    LINE.format("groups copy of score,none", 0.5, None, PLAIN),
    LINE.format("log rows n-samples original", 5, 6, "The results state no version."),
    LINE.format("counts kept of asked", False, True, "There are not that many questions."),
    LINE.format("task version of this package", "1.1", "1.1 data: local-1", PLAIN),
    LINE.format("settings filters", "file sha256 1", "not there", PLAIN),
    LINE.format(
        "repeats",
        "7 of 6: line 1 (id) has 1 answers; line 2 (id) has 3 answers; and 5 more",
        "2 answers to each question",
        f"Answers were lost or added. {EDITED}",
    ),
    LINE.format(
        "sample scores",
        "1 of 6: line 1 (a. b) has score 1.0, recomputed 0.5. No; it is so.",
        "follows from the answers",
        "A score in the log does not follow from its answer: one of them was edited. Recomputed "
        "with other versions: jieba 0.42.0, here 0.42.1; numpy 1, here 2.",
    ),
    "different: a.json, t_1: entries results: found t_1. It was taken out of the results.",
    "not checkable: 2 tasks: official figures: The official figure is not known yet (NaN).",
    "not checkable: t_1: official figures model, machine, packages: It is put together by 'sum', "
    "officially by 'mean'.",
    "It is put together by 'median', which this package does not know.",
    "It is the error of 'median', which this package does not know.",
    "samples_t_1.jsonl is not beside a.json: its figures cannot be recomputed. Put it there.",
    "samples_t_1.jsonl is not beside a.json: its figures cannot be recomputed. Run with "
    "--log_samples to have one.",
    "Scored by other rules than this package's. Install the version that the signature names to "
    "verify its scores.",
    "a.lock is not of this run: data.longbench_v1.sha256.trec: not in the lock, here 12",
    f"a.lock is not of this run: a.lock: data is missing. Undo the change, or: {AGAIN}",
    f"a.lock: extra is unknown. Undo the change, or: {AGAIN}",
    f"a.lock: data must be a block of lines 'name: value'. Undo the change, or: {AGAIN}",
    f"a.lock: tasks has a wrong line: t_1 must be a text: put it in quotes. Undo the change, or: "
    f"{AGAIN}",
    f"a.lock: data has a wrong line: t_1 must be source and sha256. Undo the change, or: {AGAIN}",
    f"a.lock: options has a wrong value: Option 'only' must give 'language' a text or a list of "
    f"texts, not 7.. Undo the change, or: {AGAIN}",
    "a.json is no sound results file: 'results' is not a JSON object.",
    "a.json is no sound results file: it has a whole number beyond 7.",
    "a.json is no sound results file: its objects and lists are nested deeper than 40.",
    "a.json is no sound results file: 'configs.t_1.repeats' is 0, not a whole number from 1.",
    "a.json is no report of `score`: 'tables' is 7, of no type it may be.",
    "about.json is no description of a run: 'model' is 3, not a text.",
    f"{NOT_READ}'filtered_resps' has no answers, or some are no texts.",
    f"{NOT_READ}'resps' is not a list of 1 or more.",
    f"{NOT_READ}'resps' is not a list.",
    f"{NOT_READ}'doc' has no 'prompt'.",
    f"{NOT_READ}'score' is 'x', not a number from -1 to 1.",
    "samples.jsonl, line 3, is no sample: 'failed' is 1, not true or false.",
    "samples.jsonl, line 3, is no sample of longbench_v1: it has no 'score'.",
    "scores.json has no figures: it is not a JSON object.",
    "a.json cannot be read: it is a named pipe, not a regular file",
    "a.json cannot be read: it is a link that leads to no file",
    "a.json cannot be read: it is longer than 128 MiB",
    "a.json is not JSON: Expecting ',' delimiter: line 1 column 2 (char 3)",
    "has no prompt: x needs the field 'input' as a text; the document has no such field.",
    "has no prompt: x needs the field 'input' as a text; the document has int.",
    "This package takes no such options: Unknown longbench option 'x'. Did you mean 'y'? Or 'z' or "
    "'a'? Valid: only, repeats.",
    "Unknown metadata key 'longbenc'. Did you mean 'longbench'? Valid: longbench.",
    "Unknown dimension of 'only' 'x'. Did you mean 'y'? Or 'z' or 'a'? There are 30.",
    "Unknown language of 'only' 'x'. Did you mean 'y'? Or 'z' or 'a'? There are 30.",
    "Unknown task 'x'. Did you mean 'y'? Or 'z' or 'a'? There are 90; `lm-eval-longbench tasks` "
    "lists ours.",
]
# Keys, values and names stay.
STAYS = re.compile(
    r"`[^`]*`|'[^']*'|\"[^\"]*\"|\{[^}]*\}|--?[a-z_-]+( TASKS| FILE)?|[\w./<>*-]+\.(jsonl?|lock|py)"
    r"|\b[a-z]+(_[a-z0-9]+)+\b|\b(data|tasks)\.[\w.]+|LongBench(-E| Pro)?|lm-eval-longbench lock"
    r"|harness|tokens?\b|tokenizers|sha256|JSON|NaN|jieba|numpy|MiB|true|false|null|gzip|longbench"
    r"|index|kept|asked|source|target|metadata|document|\bint\b|n-samples original|file sha256"
    r"|(score|data|language|only|repeats|options|tasks|extra|results|filters|local|none)\b"
)


def english_left(text):
    return re.findall(r"[A-Za-z]{3,}", STAYS.sub(" ", refusal_in_chinese(text)))


def made():
    for name, left_out in MODULES.items():
        tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
        body = [
            own
            for own in tree.body
            if isinstance(own, ast.FunctionDef | ast.ClassDef) or "" not in left_out
        ]
        tree.body = [own for own in body if getattr(own, "name", None) not in left_out]
        yield from texts_in(tree)
    for name, wanted in FUNCTIONS.items():
        tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
        kinds = ast.FunctionDef | ast.ClassDef
        found = [own for own in ast.walk(tree) if isinstance(own, kinds) and own.name in wanted]
        assert found, name
        for own in found:
            yield from texts_in(own)


MADE = sorted(set(made()))


def test_texts_are_found():
    assert len(MADE) > 250


def _lacks_chinese(text):
    pieces = [piece for piece in re.split(r"\{\}", text) if re.search("[a-z]{3}", piece)]
    if any(all(piece in own for piece in pieces) for own in WHOLE):
        return False
    return english_left(text.replace(". {}", f". {EDITED}").replace("{}", "7")) != []


def test_each_template_has_its_chinese():
    assert [text for text in MADE if _lacks_chinese(text)] == []


def test_put_together_they_have_it_too():
    assert [text for text in WHOLE if english_left(text)] == []


def test_what_is_filled_in_is_kept():
    for english, chinese in (*chinese_of("refusals").items(), *chinese_of("words").items()):
        slots = set(re.findall(r"\{(\d+)\}", chinese))
        assert slots == set(map(str, range(english.count("{}")))), english
        assert re.search("[\u4e00-\u9fff]", chinese), english


def test_a_text_without_chinese_is_seen():
    assert english_left("The moon was in another house.")
    assert english_left(LINE.format("figures", "1", "2", "The moon was in another house."))
    assert refusal_in_chinese("something nobody translated") == "something nobody translated"


@pytest.mark.parametrize(
    "piece",
    [
        "Here is other data, x. ",
        "line 1: ",
        " is , not  from  to ",
        "different: a: found ",
        "; x: ",
    ],
)
def test_a_forged_text_takes_no_time(piece):
    """Each ends so that no template fits: its ways to be shared out grow as powers."""
    began = time.process_time()
    for times in (10, 100):
        forged = f"{piece * times}!"
        assert "!" in refusal_in_chinese(forged)
        assert "!" in refusal_in_chinese(LINE.format("data", forged, "x", PLAIN))
    assert refusal_in_chinese(piece * 1000) == piece * 1000
    assert time.process_time() - began < 10


def test_values_stay_as_they_are():
    value = "['It was. There are not so many questions.', '3 rows; and 5 more']"
    text = LINE.format("gold answers x", value, "12 rows", PLAIN)
    assert refusal_in_chinese(text) == (
        f"不符：a.json，longbench_v1_trec：参考答案 x：现为：{value}，应为：12 行。没有这么多题。"
    )
