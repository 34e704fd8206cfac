"""Reasons and notes in Chinese, by the English sentences that the package makes.

The package makes each sentence once, in English: JSON, CSV and logs hold it, whatever the user's
language. Where a person reads it, `in_chinese` finds the template that it was made from. `{}` in a
template is what was filled in: it stays, or is a sentence itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence


class Phrases:
    """Templates with their Chinese, and the one that a text was made from."""

    def __init__(self, templates: Mapping[str, str]) -> None:
        self._templates = templates

    @functools.cached_property
    def _words(self) -> list[tuple[list[str], str]]:
        """The words of each template between what is filled in, longest first; its Chinese."""
        ordered = sorted(self._templates.items(), key=lambda own: -len(own[0].replace("{}", "")))
        return [(english.split("{}"), chinese) for english, chinese in ordered]

    def fitting(self, text: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the Chinese template of a text, and what was filled in; None: it has none."""
        for words, chinese in self._words:
            slots = _slots(words, text)
            if slots is not None:
                return chinese, slots
        return None


def _slots(words: Sequence[str], text: str) -> tuple[str, ...] | None:
    """Return what stands between words in a text, each as short as can be and never empty.

    No regular expression: of a forged name it might try every way to share it out.
    """
    first, last = words[0], words[-1]
    if len(words) == 1:
        return () if text == first else None
    if not text.startswith(first) or not text.endswith(last):
        return None
    start, end, slots = len(first), len(text) - len(last), []
    for word in words[1:-1]:
        place = text.find(word, start + 1, end)
        if place < 0:
            return None
        slots.append(text[start:place])
        start = place + len(word)
    return (*slots, text[start:end]) if start < end else None


# Chinese by English template; {0}, {1}, ... are what stands at each {}.
TEMPLATES = {
    # ------------------------------------------------ departures from the official protocol
    "an output budget of {} tokens (officially {})": "输出预算为 {0} 个 token（官方为 {1}）",
    "stop strings (officially none)": "设置了停止字符串（官方没有）",
    "the generation argument {} (officially left out)": "生成参数 {0}（官方不设置）",
    "generation arguments {}": "生成参数 {0}",
    "other data than {}": "数据不是 {0}",
    "prompts cut by {} (officially by {})": "提示词按 {0} 截断（官方按 {1}）",
    "no limit of prompts (officially cut at {})": "提示词长度不限（官方截断到 {0}）",
    "prompts cut at {} tokens (officially cut at {})": (
        "提示词截断到 {0} 个 token（官方截断到 {1}）"
    ),
    "overlength {} (officially truncate)": "overlength 为 {0}（官方为 truncate）",
    "chat template {} (officially {})": "对话模板 {0}（官方为 {1}）",
    "prompts of this package, which are not official": "提示词是本软件包自拟的，不是官方的",
    "parts of documents chosen by this package (officially by others)": (
        "文档片段由本软件包选取（官方由其他程序选取）"
    ),
    "reasoning taken out of answers (officially scored with them)": (
        "评分前去掉了答案中的推理内容（官方连同推理一起评分）"
    ),
    "prompts without a beginning-of-text token (officially as the tokenizer has them)": (
        "提示词前没有起始 token（官方按分词器的设置）"
    ),
    "model settings {}": "模型设置 {0}",
    "the field {} beside prompts (officially left out)": "请求另含字段 {0}（官方不设置）",
    "a system instruction (officially none)": "设置了系统指令（官方没有）",
    "filters of answers (officially none)": "对答案使用了过滤器（官方没有）",
    "{} answer to each question (officially {})": "每题 {0} 次回答（官方为 {1} 次）",
    "{} answers to each question (officially {})": "每题 {0} 次回答（官方为 {1} 次）",
    "scored with version {} of the metrics (here {})": "按指标版本 {0} 评分（此处为 {1}）",
    "{} (officially left out)": "{0}（官方不设置）",
    "{} (officially {})": "{0}（官方为 {1}）",
    "the model's own temperature, above 0": "模型自己的温度，大于 0",
    "temperature {}": "温度 {0}",
    "greedy": "贪心解码",
    "the server's own temperature": "服务器自己的温度",
    "temperature {} without sampling, at which servers sample": (
        "温度 {0} 但不采样，服务器会按此温度采样"
    ),
    # ------------------------------------------------ why there is no rank
    "its data is not the official set (data: {})": "数据不是官方数据（数据：{0}）",
    "it is incomplete: {} questions lack repeats": "不完整：{0} 道题缺少重复回答",
    "it is incomplete: {}": "不完整：{0}",
    "its questions are not distinct: {}": "题目有重复：{0}",
    "{} has {} of {} questions": "{0} 有 {1} / {2} 道题",
    "{} cannot be told, for its lines do not state their length": (
        "{0} 无法判断，因为各行没有写明长度"
    ),
    "{} of {} of {} are copies": "{2} 的 {1} 道题中有 {0} 道是重复的",
    "not known: {}": "未知：{0}",
    "protocol not known": "协议未知",
    "the first pass": "第一轮",
    "not stated": "未说明",
    "data": "数据",
    "generation arguments": "生成参数",
    "it has no such figure (a sample is unscored)": "没有这个数值（有回答未评分）",
    "no published figure of this mode can be counted": "这一模式没有可以计入的已发表数值",
    "no figures of {} are published here": "此处没有 {0} 的已发表数值",
    "it is no run of the official protocol: {}": "不是按官方协议运行的：{0}",
    "an official summary, which does not tell its protocol": "官方汇总文件，其中没有写明协议",
    "its columns do not add up to its overall score": "各分项与总分不符",
    "people, and no model": "这是人，不是模型",
    "guessed at random, and no model": "这是随机猜测，不是模型",
    "FullKV row of a paper on KV caches, whose means follow from its datasets": (
        "KV 缓存论文中的 FullKV 行，平均值由其数据集得出"
    ),
    "FullKV row of a paper on KV caches, without Passage Count": (
        "KV 缓存论文中的 FullKV 行，不含 Passage Count"
    ),
    "third-party table that LongBench v2 does not confirm": "LongBench v2 未确认的第三方表格",
    "the results tables of LongBench": "LongBench 的结果表",
    "the leaderboard of LongBench Pro, December 2025": "LongBench Pro 排行榜，2025 年 12 月",
    "LongBench v2 leaderboard, {}": "LongBench v2 排行榜，{0}",
    "SnapKV, its table of LongBench ({})": "SnapKV 的 LongBench 结果表（{0}）",
    # ------------------------------------------------ notes on a run's table
    "data {}": "数据 {0}",
    "{} questions x {} repeats": "{0} 道题 x {1} 次回答",
    "{} questions": "{0} 道题",
    "not known how many are missing": "不知道缺多少题",
    "{} of {} official ones missing": "官方题目缺 {0} / {1}",
    "not known which questions share a document, so that intervals and p-values treat all as "
    "independent and are too sure": (
        "不知道哪些题共用一篇文档，因此区间和 p 值把各题视为独立，偏于乐观"
    ),
    "{} documents, and {} questions whose document is not known": (
        "{0} 篇文档，另有 {1} 道题不知道属于哪篇文档"
    ),
    "{} documents": "{0} 篇文档",
    "merged from {} runs as of one model: {}": "由 {0} 次运行合并，视为同一模型：{1}",
    "embedding model {}": "嵌入模型 {0}",
    "failed {}: {}": "失败 {0}：{1}",
    "{} failed": "{0} 个失败",
    "{} unscored": "{0} 个未评分",
    "{} truncated": "{0} 个提示词被截断",
    "{} capped": "{0} 个达到输出上限",
    "{} unparsed": "{0} 个无法解析",
    "{} inconsistent": "{0} 道题缺少重复回答",
    "{} malformed rows": "{0} 行格式错误",
    "{} duplicate rows": "{0} 行重复",
    "{} foreign rows": "{0} 行不属于这些任务",
    "{} {} rows": "{0} 行 {1}",
    "{} of {} answers hold reasoning (<think>...</think>), which the figures keep": (
        "{1} 个回答中有 {0} 个含推理内容（<think>...</think>），数值中予以保留"
    ),
    "{} of {} answers hold reasoning (<think>...</think>), which the figures drop": (
        "{1} 个回答中有 {0} 个含推理内容（<think>...</think>），数值中予以去除"
    ),
    "those with reasoning dropped have rows of their own": "去除推理内容的数值另列一行",
    "those with reasoning kept have rows of their own": "保留推理内容的数值另列一行",
    # ------------------------------------------------ notes under a table
    "Shares of 1, as in the official summary, shown times 100 with two decimals, as published.": (
        "与官方汇总一致，为 0 到 1 的比例；显示时乘以 100，保留两位小数，与发表的一致。"
    ),
    "Percent, two decimals.": "百分数，两位小数。",
    "Percent, two decimals; relative figures are 100 * (x/y - 1).": (
        "百分数，两位小数；相对值为 100 * (x/y - 1)。"
    ),
    "Percent, one decimal.": "百分数，一位小数。",
    "{} more figures with --format csv or json.": "另有 {0} 个数值，用 --format csv 或 json 查看。",
    "Warning, {}: {}.": "警告，{0}：{1}。",
    "Warning: {}.": "警告：{0}。",
    "Remark: {}": "备注：{0}",
    "{} of {} answers ({}%) ended at the output budget (capped): what is scored may be missing in "
    "them. This run had a smaller budget than official ones. Official runs have {}": (
        "{1} 个回答中有 {0} 个（{2}%）用完了输出预算，被评分的内容可能还没有写出来。"
        "本次运行的预算小于官方。官方为 {3}"
    ),
    "{} of {} answers ({}%) ended at the output budget (capped): what is scored may be missing in "
    "them. A larger budget (--gen_kwargs max_gen_toks=TOKENS) gives them room, but it is another "
    "protocol, and its scores are not comparable with these. Official runs have {}": (
        "{1} 个回答中有 {0} 个（{2}%）用完了输出预算，被评分的内容可能还没有写出来。"
        "加大预算（--gen_kwargs max_gen_toks=TOKENS）可以写完，但那是另一种协议，"
        "得分与现在的不可比。官方为 {3}"
    ),
    "{}, and {} for thinking scores": "{0}，思考模式的得分为 {1}",
    "{} tokens, each dataset its own": "{0} 个 token，每个数据集各有其值",
    "{} tokens": "{0} 个 token",
    "No difference {}: {}.": "{0}：没有差异值，因为{1}。",
    "Difference {}: on the {} questions that both have.": "差异 {0}：基于双方都有的 {1} 道题。",
    "Difference {}: on the {} questions that both have, paired by their line in the prediction "
    "files: right only if both files have their lines in one order.": (
        "差异 {0}：基于双方都有的 {1} 道题，按预测文件的行配对：两个文件的行序相同时才正确。"
    ),
    "they have no question in common; one was scored from prediction files, which know a question "
    "by its line, the other from logs, which know its id": (
        "双方没有共同的题目：一方由预测文件评分，按行识别题目；另一方由日志评分，按 id 识别"
    ),
    "they have no question in common": "双方没有共同的题目",
    "{} of their common questions differ in {}: they are not the same questions": (
        "共同的题目中有 {0} 道的 {1} 不同，不是相同的题目"
    ),
    "{}: the runs differ in {} ({}).": "{0}：各次运行的{1}不同（{2}）。",
    "{}, {} is made of runs that are not comparable: {}": "{0}，{1} 由不可比的运行合并而成：{2}",
    "{}, not comparable: {}": "{0}，不可比：{1}",
    "{} differs ({}): {}.": "{0} 不同（{1}）：{2}。",
    "repeats": "重复次数",
    "embedding model": "嵌入模型",
    # ------------------------------------------------ ranks and sources
    "{}: no rank, because {}.": "{0}：没有名次，因为{1}。",
    "{} less {}": "{0} 减 {1}",
    "{}: rank {} of {}, tied with {}.": "{0}：第 {1} 名，共 {2} 个，与 {3} 并列。",
    "{}: rank {} of {} (counts if the model was thinking) ({}).": (
        "{0}：第 {1} 名，共 {2} 个（模型思考时才算）（{3}）。"
    ),
    "{}: rank {} of {} (counts if the model was thinking).": (
        "{0}：第 {1} 名，共 {2} 个（模型思考时才算）。"
    ),
    "{}: rank {} of {} ({}).": "{0}：第 {1} 名，共 {2} 个（{3}）。",
    "{}: rank {} of {}.": "{0}：第 {1} 名，共 {2} 个。",
    "{} among {} figures": "{0}（{1} 的数值中）",
    "No rank: {}.": "没有名次：{0}。",
    "this report, not ranked": "本次结果，不参与排名",
    "this report": "本次结果",
    "not ranked: mode not stated": "不参与排名：未说明模式",
    "not ranked: {}": "不参与排名：{0}",
    "Source: {}.": "来源：{0}。",
    "Source of {}: {}.": "{0} 的来源：{1}。",
    "Published for {}": "{0} 的已发表数值",
}

# Whole sentences that are the same in every report; why two signatures cannot be compared.
TEMPLATES |= {
    "another benchmark asks other questions": "基准不同，题目不同",
    "other tasks have other questions": "任务不同，题目不同",
    "a task's version is raised with every change that can move a score": (
        "凡是可能影响得分的改动都会提高任务版本"
    ),
    "other data, other questions": "数据不同，题目不同",
    "the documents were read from another file": "文档取自另一个文件",
    "the questions were put in other words": "提问的措辞不同",
    "prompts were cut, and this decides what the model read": (
        "提示词被截断过，而这一项决定模型读到什么"
    ),
    "longer prompts were cut on one side and left out on the other": (
        "过长的提示词，一方截断，另一方跳过"
    ),
    "arguments of a model changed requests, or what is left of answers": (
        "模型参数改变了请求，或改变了答案中保留的内容"
    ),
    "a system instruction on one side only, or another one": (
        "只有一方设置了系统指令，或系统指令不同"
    ),
    "prompts were wrapped in a chat template on one side only": "只有一方的提示词套用了对话模板",
    "something else stood around the prompts: another chat template of the same model, or a system "
    "instruction": "提示词前后的内容不同：同一模型的另一种对话模板，或系统指令",
    "other sampling or another output budget gives other answers": (
        "采样方式或输出预算不同，回答就不同"
    ),
    "best-of-N and pass@N need the same N": "best-of-N 和 pass@N 需要相同的 N",
    "something else of the answers was scored": "评分的是回答的不同部分",
    "reasoning was scored with the answers on one side only": "只有一方把推理内容计入评分",
    "the same answers are scored by other rules": "同样的回答按不同的规则评分",
    "another embedding model gives other similarities": "嵌入模型不同，相似度就不同",
    "another retriever finds other chunks": "检索器不同，找到的片段就不同",
    "prompts hold another number of chunks": "提示词中的片段数不同",
    "other questions were asked, or in another order": "所问的题目或其顺序不同",
    "other questions were asked": "所问的题目不同",
    "questions were left out for their length, and not the same": "因过长而跳过的题目不同",
    "the means are over other questions": "平均值所含的题目不同",
    "other versions of packages that scores depend on": "得分所依赖的软件包版本不同",
    "Chinese answers are segmented by another version before they are scored": (
        "中文回答在评分前由另一版本分词"
    ),
    "nothing is known of what depends on this package": "不知道什么依赖于这个软件包",
    # ------------------------------------------------ how intervals are made
    "Intervals are 95%: the bias-corrected and accelerated bootstrap ({} resamples, seed {}; for "
    "means of means each dataset by itself), its levels widened for small samples, or Wilson's for "
    "pass@N and, with one answer a question, the accuracies of LongBench v2. What is resampled are "
    "documents, each with all of its questions; where documents are not known, or no two questions "
    "share one, questions. n counts questions, failed (no answer) and unscored count samples. A "
    "figure that lacks a dataset or a score has no value. [n<{}]: fewer than {} questions (or "
    "documents), in one of its datasets if it is a mean of several, say too little about others "
    "for an interval or a p-value.": (
        "区间为 95%：偏差校正加速（BCa）自助法（重采样 {0} 次，种子 {1}；均值的均值按各数据集分别"
        "重采样），小样本时放宽水平；pass@N 以及每题一次回答时 LongBench v2 的准确率用 Wilson "
        "区间。"
        "重采样的单位是文档及其全部题目；文档未知或没有两题共用一篇时，单位是题目。n 是题数，失败"
        "（没有回答）和未评分按回答计数。缺数据集或缺得分的指标没有数值。[n<{2}]：题目（或文档）"
        "少于 {3} 个（指标是多个数据集的平均时，指其中一个），不足以给出区间或 p 值。"
    ),
    "Differences are on the questions that both runs have: paired, by Student's t over documents; "
    "p is two-sided, and below 0.05 where the interval leaves out 0. [few differ]: less than {} "
    "questions differ, too few for either.": (
        "差异基于双方都有的题目：配对，按文档作 t 检验；p 为双侧，区间不含 0 时小于 0.05。"
        "[few differ]：得分不同的题目少于 {0} 道，不足以给出区间和 p 值。"
    ),
    "not known": "未知",
    "content filter": "内容过滤",
    "ended at the budget": "达到输出上限",
    "empty answer": "回答为空",
    "nothing to score": "没有可评分的内容",
    "other reasons": "其他原因",
    "{} x {}": "{0} 个{1}",
}
_PHRASES = Phrases(TEMPLATES)
_COLUMN_NOTE = re.compile(r"(.+?): (data .+?)\.(?: Signature (.+))?", re.DOTALL)
_IN_TASKS = re.compile(r"(.+) in ([a-z0-9_]+(?:, [a-z0-9_]+)*)(?: and (\d+) more tasks?)?")
_MORE = re.compile(r"(.+) and (\d+) more(?: tasks)?")
_ANY_OF = re.compile(r"([\d, ]+) or (\d+)")


def _filled(fitting: tuple[str, tuple[str, ...]]) -> str:
    chinese, slots = fitting
    return chinese.format(*map(in_chinese, slots))


def _listed(text: str) -> str | None:
    """Return a list of words, or of texts from one template, in Chinese; None for what is none."""
    parts = text.split(", ")
    words = [TEMPLATES.get(part, part if part.isidentifier() else "") for part in parts]
    if len(parts) > 1 and all(words) and words != parts:
        return "、".join(words)
    fitting = [_PHRASES.fitting(part) for part in parts]
    known = [own for own in fitting if own is not None]
    if len(known) < max(2, len(fitting)) or len({chinese for chinese, _ in known}) > 1:
        return None
    return "，".join(map(_filled, known))


# What stands before a note of any kind: a note that begins with a number would take it in.
_LABELS = ("Warning, {}: {}.", "Warning: {}.", "Remark: {}")


def in_chinese(text: str) -> str:
    """Return a reason or a note of the package in Chinese; what it does not know, as it is."""
    for label in _LABELS:
        slots = _slots(label.split("{}"), text)
        if slots is not None:
            return _filled((TEMPLATES[label], slots))
    note = _COLUMN_NOTE.fullmatch(text)
    if note:
        label, parts, signature = note.groups()
        end = f"签名 {signature}" if signature else ""
        return f"{label}：{'；'.join(map(in_chinese, parts.split('; ')))}。{end}"
    if "; " in text and not text.endswith(".") and text not in TEMPLATES:
        return "；".join(map(in_chinese, text.split("; ")))
    listed, fitting = _listed(text), _PHRASES.fitting(text)
    if listed is not None or fitting is not None:
        return listed or _filled(fitting or ("", ()))
    found = _IN_TASKS.fullmatch(text)
    if found and in_chinese(found[1]) != found[1]:
        names = found[2].split(", ")
        more = f" 等 {len(names) + int(found[3])} 个任务" if found[3] else ""
        return f"{'、'.join(names)}{more}：{in_chinese(found[1])}"
    if _ANY_OF.fullmatch(text):
        return text.replace(", ", "、").replace(" or ", " 或 ")
    found = _MORE.fullmatch(text)
    return f"{in_chinese(found[1])}，另有 {found[2]} 项" if found else text
