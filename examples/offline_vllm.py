"""Offline vLLM over `lm_eval_longbench.load`: the official prompts in one batch, and the figures.

pip install lm-eval-longbench vllm
python examples/offline_vllm.py MODEL longbench_v2 120000 [sample]
"""

import sys

from vllm import LLM, SamplingParams

import lm_eval_longbench as lb
from lm_eval_longbench.benchmarks.registry import find_task

if __name__ == "__main__":
    model, task, limit, *folder = sys.argv[1:]
    own, documents = find_task(task), lb.load(task, data_dir=folder[0] if folder else None)
    llm = LLM(model, max_model_len=int(limit) + own.budget + 64, seed=1234)  # 64: chat template
    prompts = [
        str(lb.prompt(task, doc, tokenizer=model, truncate_to=int(limit))) for doc in documents
    ]
    sampling = SamplingParams(
        max_tokens=own.budget,
        temperature=own.generation.get("temperature", 0.0),
        stop=list(own.generation["until"]),
    )
    chats = [[{"role": "user", "content": prompt}] for prompt in prompts]
    outputs = llm.chat(chats, sampling) if own.chat else llm.generate(prompts, sampling)
    answers = [output.outputs[0].text for output in outputs]
    judged = [lb.judge(task, doc, text) for doc, text in zip(documents, answers, strict=True)]
    for figure in lb.figures(judged, intervals=True):
        if figure.value is not None:
            shown = (figure.section, figure.name, figure.value, figure.low, figure.high)
            sys.stdout.write("\t".join(map(str, shown)) + "\n")
