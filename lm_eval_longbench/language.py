"""English or Chinese: in which language headings, reasons and notes are printed.

Names of tasks, figures and options are the same in both; so are JSON, CSV, LaTeX and errors.
"""

from __future__ import annotations

import locale
import os

from lm_eval_longbench.chinese import in_chinese
from lm_eval_longbench.errors import UnknownNameError

ENGLISH, CHINESE = "en", "zh"
LANGUAGES = (ENGLISH, CHINESE)
VARIABLE = "LONGBENCH_LANG"

# By the English text, which is also the key.
_CHINESE = {
    "and {} more": "另有 {} 项",
    "Options": "选项",
    "Options of {}": "{} 的选项",
    "answers": "答案",
    "capped": "达到输出上限",
    "difference [95%] p n": "差异 [95%] p 题数",
    "failed": "失败",
    "figure": "指标",
    "headline": "总分",
    "log": "日志",
    "model": "模型",
    "next": "下一步",
    "no value": "无数值",
    "none": "无",
    "none, all are at their default": "无，全部为默认值",
    "note": "说明",
    "no, because": "否，原因",
    "not known": "未知",
    "not written: give --output_path": "未保存：请加 --output_path",
    "means over tasks": "各任务的均值",
    "official protocol": "官方协议",
    "results": "结果",
    "signature": "签名",
    "truncated": "截断",
    "unscored": "未评分",
    "value [95%] n/failed/unscored": "数值 [95%] 题数/失败/未评分",
    "yes": "是",
    "{} of {} tasks are not in this run: {}. Without them these have no value: {}.": (
        "本次运行缺少 {} / {} 个任务：{}。因此没有数值：{}。"
    ),
}


def language() -> str:
    """Return the language of the user: LONGBENCH_LANG, or else that of the locale.

    Raises:
        UnknownNameError: LONGBENCH_LANG names none that there is.
    """
    own = os.environ.get(VARIABLE)
    if own:
        if own not in LANGUAGES:
            raise UnknownNameError(f"language in {VARIABLE}", own, LANGUAGES)
        return own
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(name):
            return CHINESE if os.environ[name].lower().startswith("zh") else ENGLISH
    found = locale.getlocale()[0] or ""
    return CHINESE if found.lower().startswith(("zh", "chinese")) else ENGLISH


def said(text: str, *parts: object) -> str:
    """Return a text of ours in the user's language, its `{}` filled in."""
    if language() == CHINESE:
        text = _CHINESE[text]
    return text.format(*parts) if parts else text


def told(text: str) -> str:
    """Return a reason or a note, made elsewhere in English, in the user's language."""
    return in_chinese(text) if language() == CHINESE else text
