"""What a verification finds, in Chinese, by the English templates of `verify`; see `chinese`."""

from __future__ import annotations

# What a check is of. Names of single figures and keys stay.
KINDS = {
    "answers": "回答",
    "around the prompts": "提示词前后的内容",
    "counts": "计数",
    "cut prompts": "截断的提示词",
    "data": "数据",
    "document hashes": "文档哈希",
    "documents": "文档",
    "duplicate rows": "重复的行",
    "entries": "条目",
    "figures": "数值",
    "filters": "过滤器",
    "foreign rows": "别的运行的行",
    "format": "格式",
    "gold answers": "参考答案",
    "groups": "任务组",
    "higher is better": "是否越高越好",
    "ingredients": "签名的组成项",
    "limit": "题数限制",
    "limit of the cut": "截断长度",
    "limit places": "题数限制内的位置",
    "log hash": "日志哈希",
    "log rows": "日志行数",
    "metrics version": "指标版本",
    "official figures": "官方数值",
    "packages": "软件包",
    "places": "题目位置",
    "prompts": "提示词",
    "prompts in requests": "请求中的提示词",
    "questions": "题目",
    "questions asked": "所问的题目",
    "reasoning": "推理内容",
    "repeats": "重复回答",
    "requests": "请求",
    "row fields": "行的字段",
    "run": "运行",
    "sample log": "样本日志",
    "sample scores": "各回答的得分",
    "scored rows": "评分的行",
    "seeds": "种子",
    "sent prompts": "发送的提示词",
    "settings": "设置",
    "shared ids": "重复的 id",
    "signature": "签名",
    "stated": "写明的内容",
    "table": "表格",
    "task": "任务",
    "task version": "任务版本",
    "template": "模板",
    "template in the log": "日志中的模板",
}
# Chinese by English template; {0}, {1}, ... are what stands at each {}.
FOUND = {
    # ------------------------------------------------ what a row is, and should be
    "is no question of the data": "不是数据中的题目",
    "is not the question in place {} of the data": "不是数据中位置 {0} 的题目",
    "is not in the data": "不在数据中",
    "is in place {}": "位于位置 {0}",
    "is the question of line {}": "与第 {0} 行是同一道题",
    "is of {}, data {}": "属于 {0}，数据 {1}",
    "has no figures": "没有数值",
    "has no score: {}": "没有得分：{0}",
    "has no prompt: {}": "没有提示词：{0}",
    "has the id of line {}": "与第 {0} 行的 id 相同",
    "has {} answers": "有 {0} 个回答",
    "has {} texts": "有 {0} 段文本",
    "has template {}": "的模板是 {0}",
    "has {} beside what is known": "多出了 {0}",
    "has another document than was hashed": "的文档不是算哈希时的文档",
    "has another target than was hashed": "的参考答案不是算哈希时的参考答案",
    "has another target than its document": "的参考答案与其文档不同",
    "has another prompt than was hashed": "的提示词不是算哈希时的提示词",
    "has another beginning, end or length": "的开头、结尾或长度不同",
    "has {} {}, recomputed {}": "的 {0} 为 {1}，重算为 {2}",
    "has {} {}": "的 {0} 为 {1}",
    "had another prompt": "的提示词不同",
    "was not cut though it has {} tokens, and the limit is {}": (
        "没有截断，但有 {0} 个 token，而上限为 {1}"
    ),
    "was asked with {}": "提问时用了 {0}",
    "was asked with other seeds": "提问时用了别的种子",
    "sent another prompt than its document has": "发送的提示词与其文档中的不同",
    "sent it bare": "发送的提示词前后没有内容",
    "scored another text than was generated": "评分的文本不是生成的文本",
    "doc_id is {} where index is not, or the reverse": "doc_id 与 index 不同：{0}",
    "the filters {} are over other questions": "过滤器 {0} 所含的题目不同",
    "there is a question {}, but they are numbered below {}": "有编号 {0} 的题目，但编号应小于 {1}",
    "fields as in the data": "字段与数据一致",
    "an id each": "每题一个 id",
    "one of the first {}": "前 {0} 题之一",
    "follows from the answers": "由回答算得",
    "figures in each": "每行都有数值",
    "can be scored": "可以评分",
    "what the harness writes": "harness 所写的字段",
    "each question once": "每题一次",
    "the numbers of the questions asked": "所问题目的编号",
    "doc_hash of the document": "文档的 doc_hash",
    "target and target_hash of the document": "文档的 target 和 target_hash",
    "prompt_hash of each request": "各请求的 prompt_hash",
    "prompt_hash is that of the prompt, with {} around it": (
        "prompt_hash 是提示词的哈希，其前后有{0}"
    ),
    "what the model gave is what was scored": "评分的就是模型给出的",
    "{} answers to each question": "每题 {0} 个回答",
    "asked with {}": "提问时用 {0}",
    "the hash of the rendered prompt": "所生成提示词的哈希",
    "the hash of the prompt, cut again": "重新截断的提示词的哈希",
    "the ends of what was sent": "所发送内容的首尾",
    "as in the configuration": "与配置一致",
    "figures of the results": "结果中的数值",
    "figures of the report": "报告中的数值",
    # ------------------------------------------------ what it means
    "The log was changed after the run, or it is of another run.": (
        "日志在运行后被改动过，或属于另一次运行。"
    ),
    "The log has no row that tells.": "日志中没有能说明这一点的行。",
    "What tells it was taken out of these rows, or never was in them.": (
        "这些行中能说明这一点的内容被删除了，或从未有过。"
    ),
    "The data {} is pinned by another version of this package.": (
        "数据 {0} 由本软件包的另一版本指定。"
    ),
    "The hash does not belong to the label of the data: one of them was edited.": (
        "哈希与数据的标签不符：其中之一被改动过。"
    ),
    "The result was not made from the data in --data-dir, {}.": (
        "结果不是由 --data-dir 中的数据 {0} 得出的。"
    ),
    "Here is other data, {}.": "此处的数据不同：{0}。",
    "The label does not say which questions were chosen, as the options do.": (
        "选项写明选了哪些题目，标签没有写明。"
    ),
    "The results state another number of questions than the task has.": (
        "结果写的题数与任务的题数不同。"
    ),
    "The log has other questions or gold answers than the data it names.": (
        "日志中的题目或参考答案与其所写的数据不同。"
    ),
    "One question stands in the places of others.": "一道题占了别的题目的位置。",
    "Whether they are copies of one question can be told with the data only.": (
        "它们是否同一道题，只有用数据才能判断。"
    ),
    "The run was to ask other questions than the log has.": "运行要问的题目与日志中的不同。",
    "The log has another number of them.": "日志中的题数不同。",
    "Skipped questions are not in the log, and the data is not here to tell them.": (
        "跳过的题目不在日志中，而此处没有数据，无法得知。"
    ),
    "Skipped questions are not in the log: which were chosen cannot be told.": (
        "跳过的题目不在日志中：无法得知选了哪些题。"
    ),
    "The harness takes no such --limit.": "harness 不接受这样的 --limit。",
    "The questions are not the first ones that --limit leaves.": (
        "这些题目不是 --limit 所留的前几题。"
    ),
    "The results do not state how many questions there are.": "结果没有写明有多少题。",
    "There are not so many questions.": "没有这么多题。",
    "There are not that many questions.": "没有这么多题。",
    "Not all questions, and no --limit: --samples chose, which the results do not state.": (
        "不是全部题目，又没有 --limit：由 --samples 选择，而结果没有写明。"
    ),
    "the document cannot be scored: {}.": "文档无法评分：{0}。",
    "the embedding model is needed to compute it again": "重算需要嵌入模型",
    "the log states the mean similarity of the repeats, and this needs each of them": (
        "日志只写了各次回答的平均相似度，而这需要每一次的相似度"
    ),
    "whether pass one gave a reasoning cannot be told from a prompt that was cut": (
        "提示词被截断，无法判断第一遍是否给出了推理"
    ),
    "Scored with metrics {}; this package has {}.": "按指标版本 {0} 评分；本软件包的是 {1}。",
    "Recomputed with jieba {} instead of {}, which segments the answers.": (
        "用 jieba {0} 而不是 {1} 重算，回答由它分词。"
    ),
    "Recomputed with other versions: {}.": "用别的版本重算：{0}。",
    "{} {}, here {}": "{0} {1}，此处为 {2}",
    "The run was made with --predict_only: nothing was scored.": (
        "运行时加了 --predict_only：没有评分。"
    ),
    "Its figures were taken out.": "其数值被删除了。",
    "A score in the log does not follow from its answer: one of them was edited.": (
        "日志中有得分与其回答不符：其中之一被改动过。"
    ),
    "Documents in the log were damaged.": "日志中的文档被损坏了。",
    "Some rows of the log cannot be scored.": "日志中有些行无法评分。",
    "No such figure follows from the log: it was added.": "日志中得不出这个数值：它是添加的。",
    "The figure was taken out of the results.": "这个数值从结果中被删除了。",
    "It is the error of {}, which this package does not know.": (
        "它是 {0} 的误差，而本软件包不认识它。"
    ),
    "It is put together by {}, which this package does not know.": (
        "它由 {0} 汇总，而本软件包不认识它。"
    ),
    "The harness gives no standard error of this figure: it was added.": (
        "harness 不给出这个数值的标准误差：它是添加的。"
    ),
    "It follows from the logged values, but these cannot be recomputed: {}.": (
        "它由日志中的值算得，但这些值无法重算：{0}。"
    ),
    "The results do not follow from the answers: one of them was edited.": (
        "结果与回答不符：其中之一被改动过。"
    ),
    "No official figure was recomputed: there is no log, or nothing was scored.": (
        "没有重算官方数值：没有日志，或没有评分。"
    ),
    "The official figure is not known yet (NaN).": "官方数值尚不可知（NaN）。",
    "It is put together by {}, officially by {}.": "它由 {0} 汇总，官方则由 {1} 汇总。",
    "The group contains itself, which the harness cannot build.": (
        "这个组包含自身，harness 无法构建。"
    ),
    "A group of this package has this name, and other members.": (
        "本软件包中同名的组有不同的成员。"
    ),
    "Its tasks are counted more than {} times.": "其任务被计入超过 {0} 次。",
    "Its tasks have another number of questions.": "其任务的题数不同。",
    "The group's figure was taken out of the results.": "这个组的数值从结果中被删除了。",
    "'groups' states other figures than 'results': one of them was edited.": (
        "'groups' 中的数值与 'results' 中的不同：其中之一被改动过。"
    ),
    "Its tasks have no such figure: it was added.": "其任务没有这个数值：它是添加的。",
    "Its tasks have no number of questions.": "其任务没有写明题数。",
    "It follows from its tasks, of which {} were not recomputed.": (
        "它由其任务算得，其中 {0} 个没有重算。"
    ),
    "The group's figure is no mean of its tasks' figures: one of them was edited.": (
        "这个组的数值不是其任务数值的平均：其中之一被改动过。"
    ),
    "Not all of its tasks have a number, so that the group has none.": (
        "并非其所有任务都有数字，因此这个组没有。"
    ),
    "The results state no number.": "结果没有写明数目。",
    "Rows were lost or added.": "有行丢失或被添加。",
    "It counts twice.": "它被计入两次。",
    "Rows are not where the run had them.": "行的位置与运行时不同。",
    "The log was made with other filters than the configuration has.": (
        "日志所用的过滤器与配置中的不同。"
    ),
    "These are of another run.": "它们属于另一次运行。",
    "What the harness hashed is not what stands there now.": (
        "现在的内容不是 harness 算哈希时的内容。"
    ),
    "A gold answer or another field was edited.": "参考答案或别的字段被改动过。",
    "What stood around the prompts is not what the signature says.": (
        "提示词前后的内容与签名所写的不同。"
    ),
    "The results file has no hash of this log, which the harness writes beside it.": (
        "结果文件中没有这份日志的哈希，而 harness 会写入它。"
    ),
    "The log's rows are not those the results were made from.": "日志的行不是得出结果的那些行。",
    "Answers were lost or added.": "有回答丢失或被添加。",
    "More texts than answers: of several ranks the one with fewer questions asks its last one "
    "again. Nothing else tells where they come from; they are not scored.": (
        "文本多于回答：多进程运行时，题目较少的进程会重复问最后一题。"
        "没有别的线索说明其来源；它们不评分。"
    ),
    "A filter of the user's own stands between what the model wrote and what was scored.": (
        "模型所写与所评分的内容之间有用户自己的过滤器。"
    ),
    "A response was edited.": "有回答被改动过。",
    "The signature does not state with which arguments answers were asked for.": (
        "签名没有写明请求回答时的参数。"
    ),
    "Other arguments.": "参数不同。",
    "No request of the log has it: a backend took it out, or it was edited out.": (
        "日志中没有一个请求有它：被后端去掉了，或被删除了。"
    ),
    "The server refused it: it was left out of requests that the log has it in.": (
        "服务器拒绝了它：日志中有它的请求，发送时没有带它。"
    ),
    "The server refused seeds: they were left out of requests that the log has them in.": (
        "服务器拒绝了种子：日志中有种子的请求，发送时没有带种子。"
    ),
    "The signature names other seeds than the requests have.": "签名中的种子与请求中的不同。",
    "The signature counts other questions than the log has.": "签名的题数与日志的不同。",
    "Prompts were cut, though the signature says that none was.": (
        "签名写着没有截断提示词，但有提示词被截断。"
    ),
    "Nothing was scored, so nothing was counted.": "没有评分，因此没有计数。",
    "The signature counts capped answers, and nothing tells how answers ended.": (
        "签名中有达到输出上限的回答数，而没有内容说明回答如何结束。"
    ),
    "The task's metric_list has no {}, so that nobody counted.": (
        "任务的 metric_list 中没有 {0}，因此没有计数。"
    ),
    "It does not follow from the log alone.": "单凭日志无法得知。",
    "The signature counts other {} answers than the log has.": "签名中 {0} 的回答数与日志的不同。",
    "Other prompts were sent than the log, the data and the options say.": (
        "发送的提示词与日志、数据和选项所说的不同。"
    ),
    "The tokenizer {} is not on this machine: name it with --tokenizer.": (
        "分词器 {0} 不在这台机器上：请用 --tokenizer 指定。"
    ),
    "The tokenizer {} here is another than the one that cut: sha256 {} instead of {}. Name the "
    "right one with --tokenizer.": (
        "此处的分词器 {0} 不是截断时所用的：sha256 为 {1}，不是 {2}。请用 --tokenizer 指定正确的。"
    ),
    "They hold retrieved chunks, which the log does not keep.": (
        "其中有检索到的片段，而日志不保存它们。"
    ),
    "They are from another version of the template.": "它们出自另一版本的模板。",
    "The signature names no known truncation rule and limit.": "签名没有写明已知的截断规则和上限。",
    "They were cut again with tokenizers {} instead of {}.": (
        "重新截断时用的是 tokenizers {0}，不是 {1}。"
    ),
    "They are not cut at the limit nor within {} tokens of it. A long system instruction or chat "
    "template may have taken more room.": (
        "它们既不是在上限处截断，也不是在其 {0} 个 token 以内。"
        "较长的系统指令或对话模板可能占了更多长度。"
    ),
    "No prompt was cut at just this limit.": "没有提示词恰好在这个上限处截断。",
    "The log shows other prompts than were sent.": "日志显示的提示词不是发送的提示词。",
    "The log does not show where the prompt stands in what was sent.": (
        "日志没有显示提示词在所发送内容中的位置。"
    ),
    "Around the prompts stands something else than the signature says.": (
        "提示词前后的内容与签名所写的不同。"
    ),
    "What it wrote of its run was taken out, so that nothing of it can be checked.": (
        "它写下的运行信息被删除了，因此无法检查。"
    ),
    "It belongs to no task and no group of the file: it was added.": (
        "它不属于文件中的任何任务或组：它是添加的。"
    ),
    "It was taken out of the results.": "它从结果中被删除了。",
    "The table shows it otherwise than the configuration has it.": "表格所示与配置不同。",
    "The table shows it otherwise than that of its tasks.": "表格所示与其任务的不同。",
    "This package has the group under another version or another name in the table.": (
        "本软件包中这个组的版本或在表格中的名称不同。"
    ),
    "Its version and its name in the table stand in the group's own file only.": (
        "其版本和在表格中的名称只写在这个组自己的文件中。"
    ),
    "The file does not state it, so that nothing could be compared with it.": (
        "文件没有写明，因此无从比较。"
    ),
    "The hash is not that of the {} beside it: one of them was edited.": (
        "哈希与旁边的 {0} 不符：其中之一被改动过。"
    ),
    "The model is named in two ways: one of them was edited.": (
        "模型有两种写法：其中之一被改动过。"
    ),
    "The signatures name another version of the harness than the file.": (
        "签名中的 harness 版本与文件中的不同。"
    ),
    "Nothing in the files tells which model answered, on which machine, when, and with which "
    "packages: they are only stated.": (
        "文件无法证明是哪个模型、在哪台机器上、何时、用哪些软件包作答：它们只是写明的。"
    ),
    "The report does not follow from the samples: one of them was edited.": (
        "报告与样本不符：其中之一被改动过。"
    ),
    "What was not scored is not in the samples; score the inputs again to count it.": (
        "没有评分的内容不在样本中；要计数请重新评分。"
    ),
    "It is as the inputs stated it: verify the inputs.": "它照输入所写：请验证输入。",
    "Samples hold no questions, so that nothing tells which are copies.": (
        "样本中没有题目，因此无法判断哪些重复。"
    ),
    "Nothing here tells the runs apart that were merged.": "此处无法区分被合并的各次运行。",
    "Any version could have written it.": "任何版本都可能写出它。",
    "The inputs are not here: score them again to compare their hashes.": (
        "输入不在此处：要比较哈希请重新评分。"
    ),
    "This version does not know this part, so that it says nothing of it.": (
        "本版本不认识这一部分，因此不作判断。"
    ),
    "{} is of the table {}, which the report does not have.": (
        "{0} 属于表 {1}，而报告中没有这个表。"
    ),
    "`score` writes the format {}: it was edited, or another version wrote it.": (
        "`score` 写的格式是 {0}：它被改动过，或由另一版本写出。"
    ),
    "No answer holds reasoning, so that nothing tells what would have happened to it.": (
        "没有回答含推理内容，因此无法判断会如何处理它。"
    ),
    "Samples hold no answers, so their scores cannot be recomputed: score the inputs again.": (
        "样本中没有回答，因此得分无法复算：请重新评分。"
    ),
    "Signature, data and model are as the inputs stated them: verify the inputs.": (
        "签名、数据和模型照输入所写：请验证输入。"
    ),
    "Nothing such follows from the samples: it was added.": "样本中得不出它：它是添加的。",
    "The counts of the tasks and of the table contradict each other: one was edited.": (
        "任务的计数与表的计数矛盾：其中之一被改动过。"
    ),
    "{} is not there; the report has the same figures.": "没有 {0}；报告中有同样的数值。",
    "It has other figures than the report: one of them was edited.": (
        "其中的数值与报告不同：其中之一被改动过。"
    ),
    "No cut prompt could be compared: what cuts had nothing to decide, or cannot be told.": (
        "没有截断的提示词可供比较：没有需要截断的，或无法得知。"
    ),
    "Only requests and the data together tell what stood around the prompts.": (
        "只有请求和数据一起才能说明提示词前后有什么。"
    ),
    "Only the requests in the log tell.": "只有日志中的请求能说明。",
    "The signature and what the file says of chat templates do not go together.": (
        "签名与文件中关于对话模板的内容不符。"
    ),
    "The signature and the configuration say different things: one of them was edited.": (
        "签名与配置不符：其中之一被改动过。"
    ),
    "Written by version {}, whose signatures have no {}.": "由版本 {0} 写出，其签名没有 {1}。",
    "The ingredients {} were taken out of the results file.": (
        "签名的组成项 {0} 从结果文件中被删除了。"
    ),
    "The line does not belong to the ingredients beside it: one of them was edited.": (
        "签名行与旁边的组成项不符：其中之一被改动过。"
    ),
    "This package has no such task of such a benchmark: nothing else can be checked.": (
        "本软件包没有这个基准的这个任务：其余都无法检查。"
    ),
    "Another version of the task than this package's, {}, or a number of a user's own.": (
        "任务版本不是本软件包的 {0}，或是用户自己的编号。"
    ),
    "The results state no version.": "结果没有写明版本。",
    "The version shown in the table does not belong to the signature.": "表格中的版本与签名不符。",
    "Scored by other rules than this package's. Install the version that the signature names to "
    "verify its scores.": "评分规则与本软件包的不同。要验证得分，请安装签名所写的版本。",
    "The prompts were made from another version of the template.": "提示词由另一版本的模板生成。",
    "The prompts in the log are from another template than the signature says.": (
        "日志中提示词的模板与签名所写的不同。"
    ),
    "A note: recomputed with {} {} instead of {}.": "说明：用 {0} {1} 而不是 {2} 重算。",
    "The task's name, its dataset and its signature are of different questions.": (
        "任务名、数据集和签名所指的题目不同。"
    ),
    "This package takes no such options: {}": "本软件包不接受这样的选项：{0}",
    "Similarities are as the log states them.": "相似度照日志所写。",
    "Retrieved chunks are not in the log.": "检索到的片段不在日志中。",
    "Only the log of pass one tells.": "只有第一遍的日志能说明。",
    "The log of pass one has other reasoning.": "第一遍日志中的推理内容不同。",
    "It is a file of the user's own: name it with --data-dir.": (
        "它是用户自己的文件：请用 --data-dir 指定。"
    ),
    "{} is not on this machine: `lm-eval-longbench prepare` downloads it, or name a copy with "
    "--data-dir.": (
        "{0} 不在这台机器上：可用 `lm-eval-longbench prepare` 下载，或用 --data-dir 指定副本。"
    ),
    "The data cannot be opened: {}": "数据无法打开：{0}",
    "Which questions were chosen cannot be told: {}": "无法得知选了哪些题：{0}",
    "The task embeds no reasoning.": "这个任务不嵌入推理内容。",
    "Pass one was another run: its log was named by cot_samples.": (
        "第一遍是另一次运行：其日志由 cot_samples 指定。"
    ),
    "The log of pass one cannot be read: {}": "第一遍的日志无法读取：{0}",
    "Pass one was another run: its log is not beside these results.": (
        "第一遍是另一次运行：其日志不在这些结果旁边。"
    ),
    "{} is not beside {}: its figures cannot be recomputed. Put it there.": (
        "{0} 不在 {1} 旁边：其数值无法复算。请把它放在那里。"
    ),
    "{} is not beside {}: its figures cannot be recomputed. Run with --log_samples to have one.": (
        "{0} 不在 {1} 旁边：其数值无法复算。运行时加 --log_samples 才会有日志。"
    ),
    "The log was damaged or cut short after the run; its figures cannot be recomputed.": (
        "日志在运行后被损坏或截断；其数值无法复算。"
    ),
    "The log is empty: its rows were lost after the run.": "日志是空的：其行在运行后丢失了。",
}
