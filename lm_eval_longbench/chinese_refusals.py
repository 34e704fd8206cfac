"""Why a submission is refused, in Chinese: what `verify` says, locks, files that are not read.

As in `chinese`, the package makes each reason once, in English, and `{}` is what was filled in.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from lm_eval_longbench.chinese import Phrases
from lm_eval_longbench.chinese_verify import FOUND, KINDS

# Single values and names of what is filled in.
WORDS = {
    "None": "无",
    "True": "是",
    "False": "否",
    "a device": "设备",
    "a folder": "文件夹",
    "a named pipe": "命名管道",
    "a number": "数字",
    "a socket": "套接字",
    "a text": "文本",
    "a text: put it in quotes": "文本：请加引号",
    "a whole number": "整数",
    "its task or data": "其任务或数据",
    "kept of asked": "kept 与 asked",
    "not looked for": "没有查找",
    "not set": "未设置",
    "not there": "没有",
    "nothing": "没有内容",
    "of this package": "与本软件包的",
    "something else": "其他东西",
    "source and sha256": "source 和 sha256",
    "it": "它",
    "true or false": "布尔值 true 或 false",
    "version, alias": "版本与别名",
    "model, machine, packages": "模型、机器和软件包",
    "a chat template or a system instruction": "对话模板或系统指令",
    "a task of this package by its name": "按名称是本软件包的任务",
    "a task of this package by its configuration": "按配置是本软件包的任务",
    "a task of this package by its log": "按日志是本软件包的任务",
}
_ANEW = "重新写入：lm-eval-longbench lock --tasks TASKS"
# Chinese by English template; {0}, {1}, ... are what stands at each {}.
REFUSALS = {
    # ------------------------------------------------ of a submission
    "no results of tasks of this package were found in it": "其中没有本软件包任务的结果",
    "{} holds scores and no answers, so that nothing can be recomputed. Submit the folder that the "
    "run wrote, with --log_samples.": (
        "{0} 只有得分，没有回答，因此无法复算。请提交运行所写的文件夹（运行时加 --log_samples）。"
    ),
    "and {} more": "另有 {0} 项",
    "{} is no description of a run: {}": "{0} 不是对运行的说明：{1}",
    "{} has {}; it may have {}.": "{0} 含有 {1}，而它只能有 {2}。",
    # ------------------------------------------------ places and values
    "{} rows": "{0} 行",
    "{} samples": "{0} 个样本",
    "{} tasks": "{0} 个任务",
    "{} files": "{0} 个文件",
    "{} entries": "{0} 个条目",
    "{} tasks and groups": "{0} 个任务和组",
    "line {} ({}) {}": "第 {0} 行（{1}）{2}",
    "line {}: {}": "第 {0} 行：{1}",
    "copy of {}": "{0} 的副本",
    "option {}": "选项 {0}",
    "template {}": "模板 {0}",
    "seeds {}": "种子 {0}",
    "of {}, data {}": "属于 {0}，数据 {1}",
    # ------------------------------------------------ locks
    "the run does not state {}, which a lock freezes": "运行没有写明 {0}，而锁文件固定了它",
    "{}: not in the lock": "{0}：不在锁文件中",
    "{}: not in the lock, here {}": "{0}：不在锁文件中，此处为 {1}",
    "{}: locked {}, here {}": "{0}：锁定为 {1}，此处为 {2}",
    "Write it anew: lm-eval-longbench lock --tasks TASKS": _ANEW,
    "{} stands there twice": "{0} 出现了两次",
    "There is no lock file {}. {} --output {}": "没有锁文件 {0}。{1} --output {2}",
    "The lock file {} cannot be read: {}": "锁文件 {0} 无法读取：{1}",
    "{} is not a lock file: it has no line 'format: {}'. {}": (
        "{0} 不是锁文件：没有 'format: {1}' 这一行。{2}"
    ),
    "{} is not a lock file: {}. {}": "{0} 不是锁文件：{1}。{2}",
    "{} has format {}; this version of lm-eval-longbench reads {}. Use the version that wrote it, "
    "or: {}": ("{0} 的格式为 {1}；本版本的 lm-eval-longbench 读取 {2}。请用写出它的版本，或：{3}"),
    "{}: {} is missing. Undo the change, or: {}": "{0}：缺少 {1}。请撤销改动，或：{2}",
    "{}: {} is unknown. Undo the change, or: {}": "{0}：不认识 {1}。请撤销改动，或：{2}",
    "{}: {} must be a block of lines 'name: value'. Undo the change, or: {}": (
        "{0}：{1} 必须是若干行 'name: value'。请撤销改动，或：{2}"
    ),
    "{}: {} has a wrong value: {}. Undo the change, or: {}": (
        "{0}：{1} 的值不对：{2}。请撤销改动，或：{3}"
    ),
    "{}: {} has a wrong value: {} Undo the change, or: {}": (
        "{0}：{1} 的值不对：{2}请撤销改动，或：{3}"
    ),
    "{}: {} has a wrong line: {} must be {}. Undo the change, or: {}": (
        "{0}：{1} 有一行不对：{2} 必须是：{3}。请撤销改动，或：{4}"
    ),
    # ------------------------------------------------ files that cannot be read
    "{} is no results file of the harness: it has no 'results' and 'configs'. Name a "
    "results_*.json, a run folder, or a folder that `lm-eval-longbench score` wrote.": (
        "{0} 不是 harness 的结果文件：没有 'results' 和 'configs'。请给出 results_*.json、"
        "运行的文件夹，或 `lm-eval-longbench score` 所写的文件夹。"
    ),
    "{} is no sound results file: {}": "{0} 不是完好的结果文件：{1}",
    "{} is no report of `score`: {}": "{0} 不是 `score` 的报告：{1}",
    "{} is no sample: {}": "{0} 不是样本：{1}",
    "{} is no sample of {}: {}": "{0} 不是 {1} 的样本：{2}",
    "{} has no figures: {}": "{0} 没有数值：{1}",
    "{} does not exist, or is neither a file nor a folder.": (
        "{0} 不存在，或既不是文件也不是文件夹。"
    ),
    "{} holds no results: neither results_<date>.json of the harness nor a folder with {} and {} "
    "of `lm-eval-longbench score`.": (
        "{0} 中没有结果：既没有 harness 的 results_<date>.json，"
        "也没有 `lm-eval-longbench score` 所写的含 {1} 和 {2} 的文件夹。"
    ),
    "{} is no row of a sample log: {}": "{0} 不是样本日志的行：{1}",
    "'filtered_resps' has no answers, or some are no texts.": (
        "'filtered_resps' 中没有回答，或有的不是文本。"
    ),
    "{}, line {},": "{0} 第 {1} 行",
    "{}, line {}": "{0}，第 {1} 行",
    "{} cannot be read: {}": "{0} 无法读取：{1}",
    "{} is not JSON: {}": "{0} 不是 JSON：{1}",
    "{} is not JSON: {}: line {} column {} (char {})": (
        "{0} 不是 JSON：第 {2} 行第 {3} 列（第 {4} 个字符）{1}"
    ),
    "{} is {}, not {}.": "{0} 为 {1}，不是{2}。",
    "{} is {}, not {} from {}.": "{0} 为 {1}，不是 {3} 以上的{2}。",
    "{} is {}, not {} from {} to {}.": "{0} 为 {1}，不是 {3} 到 {4} 的{2}。",
    "'{}' is {}, of no type it may be.": "'{0}' 为 {1}，不是允许的类型。",
    "it is {}, of no type it may be.": "它为 {0}，不是允许的类型。",
    "{} is not a list.": "{0} 不是列表。",
    "{} is not a list of {} or more.": "{0} 不是含 {1} 项以上的列表。",
    "{} is not a JSON object.": "{0} 不是 JSON 对象。",
    "it is not a JSON object.": "它不是 JSON 对象。",
    "it has no '{}'.": "它没有 '{0}'。",
    "{} has no '{}'.": "{0} 没有 '{1}'。",
    "it has a whole number beyond {}.": "其中有超过 {0} 的整数。",
    "its objects and lists are nested deeper than {}.": "其对象和列表的嵌套超过 {0} 层。",
    "it has more than {} commas and brackets outside of its texts": (
        "其文本之外的逗号和括号超过 {0} 个"
    ),
    "it is {}, not a regular file": "它是{0}，不是普通文件",
    "it is a link that leads to no file": "它是没有目标文件的链接",
    "it unpacks to more than {}, over {} times its size, and what follows is not read. If it is "
    "sound, unpack it yourself": (
        "解压后超过 {0}，是其大小的 {1} 倍以上，后面的内容没有读取。如果文件完好，请自行解压"
    ),
    "its gzip data is damaged ({}); what follows is lost": (
        "其 gzip 数据已损坏（{0}）；后面的内容丢失"
    ),
    "it ends in the middle of its gzip data; what followed is lost": (
        "文件在 gzip 数据中间结束；后面的内容丢失"
    ),
    "the line is longer than {}": "这一行超过 {0}",
    "it is longer than {}": "超过 {0}",
    "{}, at line {}": "{0}，在第 {1} 行",
    "{} bytes": "{0} 字节",
    # Of Python's JSON decoder.
    "Expecting value": "应为值",
    "Expecting property name enclosed in double quotes": "应为双引号内的键",
    "Expecting {} delimiter": "应为分隔符 {0}",
    "Extra data": "有多余的内容",
    "Invalid control character at": "有无效的控制字符",
    "Unterminated string starting at": "文本没有结束",
    # ------------------------------------------------ samples, questions, options
    "{} must be an object, not {}": "{0} 必须是对象，不是 {1}",
    "{} is no task of {}": "{0} 不是 {1} 的任务",
    "{} must be a text, not {}": "{0} 必须是文本，不是 {1}",
    "{} must be from 1 to {}, not {}": "{0} 必须在 1 到 {1} 之间，不是 {2}",
    "{} must be true or false, not {}": "{0} 必须是 true 或 false，不是 {1}",
    "{} must be true, false or null, not {}": "{0} 必须是 true、false 或 null，不是 {1}",
    "{} must be a number from 0 to 1 or null, not {}": "{0} 必须是 0 到 1 的数字或 null，不是 {1}",
    "{} must be 16 hexadecimal digits or null, not {}": (
        "{0} 必须是 16 位十六进制数或 null，不是 {1}"
    ),
    "{} must be one of {}, not {}": "{0} 必须是 {1} 之一，不是 {2}",
    "the same question and repeat as on line {}": "与第 {0} 行的题目和重复次数相同",
    "the question has another {} than on line {}": "该题的 {0} 与第 {1} 行的不同",
    "{} is not a list of one or more texts": "{0} 不是含一段以上文本的列表",
    "{} needs 'all_classes', a list of texts": "{0} 需要 'all_classes'，即文本的列表",
    "LongBench-E needs 'length', a whole number": "LongBench-E 需要 'length'，即整数",
    "no field {} with a text": "没有内容为文本的字段 {0}",
    "no field {}": "没有字段 {0}",
    "{} is not one of {}": "{0} 不是 {1} 之一",
    "{} is missing or not one of {}": "缺少 {0}，或它不是 {1} 之一",
    "{} is not a text": "{0} 不是文本",
    "{} is another task than {}": "{0} 不是任务 {1}",
    "has no answer": "没有答案",
    "The LongBench Pro prompt needs the field {}; the document lacks it.": (
        "LongBench Pro 的提示词需要字段 {0}，而文档中没有。"
    ),
    "{} needs the field {} as a text; the {} has no such field.": (
        "{0} 需要内容为文本的字段 {1}，而 {2} 没有这个字段。"
    ),
    "{} needs the field {} as a text; the {} has {}.": (
        "{0} 需要内容为文本的字段 {1}，而 {2} 中是 {3}。"
    ),
    "Option {} must be a non-empty string, not {}.": "选项 {0} 必须是非空的文本，不是 {1}。",
    "Option {} must be a whole number, not {}.": "选项 {0} 必须是整数，不是 {1}。",
    "Option {} must be at least {}, not {}.": "选项 {0} 至少为 {1}，不是 {2}。",
    "Option {} must be at most {}, not {}: more answers to one question are not scored.": (
        "选项 {0} 至多为 {1}，不是 {2}：一道题不评更多的回答。"
    ),
    "Option {} must be one of {}, not {}.": "选项 {0} 必须是 {1} 之一，不是 {2}。",
    "Option {} must be true or false, not {}.": "选项 {0} 必须是 true 或 false，不是 {1}。",
    "Option {} must be an object such as {}, not {}.": "选项 {0} 必须是如 {1} 的对象，不是 {2}。",
    "Option {} must give {} a text or a list of texts, not {}.": (
        "选项 {0} 给 {1} 的必须是文本或文本的列表，不是 {2}。"
    ),
    "Option 'embedding_url' needs 'embedding_model', the name of the model to ask the server for: "
    "another model gives other scores.": (
        "选项 'embedding_url' 需要 'embedding_model'，即向服务器请求的模型名："
        "模型不同，得分就不同。"
    ),
    "Option 'thinking' chooses between a preset's settings: give 'preset' too. Thinking itself is "
    "switched on in the model.": (
        "选项 'thinking' 用于选择预设的设置：请同时给出 'preset'。思考本身在模型中打开。"
    ),
    "metadata {} must be an object such as {}, not {}.": (
        "metadata 的 {0} 必须是如 {1} 的对象，不是 {2}。"
    ),
    "{} stands beside the model arguments. LongBench options go under one key: --metadata {}.": (
        "{0} 与模型参数并列。LongBench 的选项放在一个键下：--metadata {1}。"
    ),
    "Unknown {}. Did you mean {}? Valid: {}.": "不认识：{0}。是指 {1} 吗？可用的有：{2}。",
    "Unknown {}. Did you mean {}? Or {}? Valid: {}.": (
        "不认识：{0}。是指 {1} 吗？还是 {2}？可用的有：{3}。"
    ),
    "Unknown {}. Did you mean {}? Or {} or {}? Valid: {}.": (
        "不认识：{0}。是指 {1} 吗？还是 {2} 或 {3}？可用的有：{4}。"
    ),
    "Unknown {}. Did you mean {}? Or {} or {}? There are {}.": (
        "不认识：{0}。是指 {1} 吗？还是 {2} 或 {3}？共有 {4} 个。"
    ),
    "Unknown {}. Did you mean {}? Or {} or {}? There are {}; {} lists ours.": (
        "不认识：{0}。是指 {1} 吗？还是 {2} 或 {3}？共有 {4} 个；{5} 会列出我们的。"
    ),
    "longbench option {}": "longbench 选项 {0}",
    "metadata key {}": "metadata 的键 {0}",
    "dimension of 'only' {}": "'only' 的维度 {0}",
    "{} of 'only' {}": "'only' 的 {0} {1}",
    "task {}": "任务 {0}",
    # ------------------------------------------------ scoring what was verified
    "The logs are of several models, which are no repeats of one another: {}. Score each model's "
    "folder apart, and put them side by side with `lm-eval-longbench report`.": (
        "这些日志属于多个模型，不是彼此的重复：{0}。请分别为每个模型的文件夹评分，"
        "再用 `lm-eval-longbench report` 并列。"
    ),
    "data that {} does not name": "{0} 没有写明的数据",
    "the official data, as of all prediction files ({})": "官方数据，如所有预测文件（{0}）",
    "{}: the inputs are of different data and cannot be merged: {}. Score them apart.": (
        "{0}：输入的数据不同，不能合并：{1}。请分别评分。"
    ),
    "The runs together have {} answers to {}, question {}; at most {} are scored together. Score "
    "fewer runs at a time.": (
        "各次运行对 {1} 的题目 {2} 共有 {0} 个回答；一起评分的至多 {3} 个。请减少一次评分的运行。"
    ),
    "No line of the input can be scored, so nothing was written. If it is of another format than "
    "was recognised, say which with --benchmark.{}": (
        "输入中没有一行可以评分，因此没有写出任何内容。"
        "如果格式不是识别出的那种，请用 --benchmark 指定。{0}"
    ),
}
REFUSALS |= FOUND
_PHRASES = Phrases({**REFUSALS, **WORDS})
# What a difference means: no template that anything could begin.
_MEANINGS = Phrases(
    {own: chinese for own, chinese in REFUSALS.items() if own[0] in "`'" or own[0].isupper()}
)
_DIFFERENT = re.compile(r"different: (.+?): found (.+)", re.DOTALL)
_OPEN = re.compile(r"not checkable: ([^:]+): ([^:]+): (.+)", re.DOTALL)
_LOCKED = re.compile(r"(.+?) is not of this run: (.+)", re.DOTALL)
_COUNTED = re.compile(r"(\d+) of (\d+): (.+)", re.DOTALL)
_EXPECTED = ", expected "
# Characters of a reason that is looked at: two values of 300, their place and what they mean.
_LONGEST = 3000
# Without it the parts of a forged text would be looked at again and again.
_CACHED = 1 << 12
_VALUE = re.compile(r"'.*'|\".*\"|\[.*\]|\{.*\}", re.DOTALL)


def refusal_in_chinese(text: str) -> str:
    """Return a reason of a refusal in Chinese; what it does not know, as it is."""
    if len(text) > _LONGEST:
        return text
    try:
        return _told(text)
    except RecursionError:  # a forged text in which one thing is in another, many times
        return text


@functools.lru_cache(_CACHED)
def _told(text: str) -> str:
    return _line(text) or _known(text) or text


@functools.lru_cache(_CACHED)
def _known(text: str) -> str | None:
    """Return a text in Chinese; None where neither it nor all of its parts are known."""
    if _VALUE.fullmatch(text):
        return None
    listed = _all_known(text.split("; "))
    if listed is not None:
        return listed
    counted = _COUNTED.fullmatch(text)
    if counted is not None:
        return f"{counted[2]} 行中有 {counted[1]} 处：{_told(counted[3])}"
    return _filled(_PHRASES.fitting(text)) or _meaning(text)


def _filled(found: tuple[str, tuple[str, ...]] | None) -> str | None:
    return None if found is None else found[0].format(*map(_told, found[1]))


def _all_known(parts: Sequence[str]) -> str | None:
    """Return two or more parts in Chinese, or None; the last may be cut short."""
    known: list[str | None] = [_known(part) for part in parts] if len(parts) > 1 else [None]
    if known[-1] is None and parts[-1].endswith("..."):
        known[-1] = "……"
    return None if None in known else "；".join(own or "" for own in known)


@functools.lru_cache(_CACHED)
def _meaning(text: str) -> str | None:
    """Return one or more sentences in Chinese, or None: a full stop may be inside of one."""
    for place in re.finditer(r"\. ", text):
        first = _filled(_MEANINGS.fitting(text[: place.start() + 1]))
        rest = _meaning(text[place.end() :]) if first is not None else None
        if first is not None and rest is not None:
            return first + rest
    return _filled(_MEANINGS.fitting(text))


def _line(text: str) -> str | None:
    """Return a line about a lock or a check in Chinese: where, what, found, expected, meaning."""
    found = _LOCKED.fullmatch(text)
    if found is not None:
        return f"{found[1]} 不属于这次运行：{_told(found[2])}"
    found = _DIFFERENT.fullmatch(text)
    if found is not None:
        where, _, title = found[1].rpartition(": ")
        values, meaning = _before_meaning(found[2])
        value, mark, expected = values.rpartition(_EXPECTED)
        if not mark:
            value, expected = expected, ""
        wanted = f"，应为：{_told(expected)}" if mark else ""
        value = _told(value)
        return f"不符：{_where(where)}：{_title(title)}：现为：{value}{wanted}。{meaning}"
    found = _OPEN.fullmatch(text)
    if found is None:
        return None
    return f"无法检查：{_where(found[1])}：{_title(found[2])}：{_told(found[3])}"


def _before_meaning(text: str) -> tuple[str, str]:
    """Split what was found from its meaning, in Chinese: what was found may hold full stops."""
    ends = [place.span() for place in re.finditer(r"\. ", text)]
    for start, end in ends:
        meaning = _meaning(text[end:])
        if meaning is not None:
            return text[:start], meaning
    start, end = ends[0] if ends else (len(text), len(text))
    return text[:start], text[end:]


def _where(text: str) -> str:
    return "，".join(map(_told, text.split(", ")))


def _title(text: str) -> str:
    """Return what a check is of, and its name."""
    kinds = [kind for kind in KINDS if text == kind or text.startswith(f"{kind} ")]
    kind = max(kinds, key=len, default="")
    name = text[len(kind) :].strip()
    return " ".join(filter(None, (KINDS.get(kind, ""), _told(name) if name else "")))
