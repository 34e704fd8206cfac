"""The questions of a task as a plain `datasets` table, and the scores of answers from one.

    pip install lm-eval-longbench
    python examples/datasets_iteration.py longbench_v2 sample

The rows stay in a file on disk: a loop reads one long prompt at a time.
"""

import sys

from datasets import Dataset

import lm_eval_longbench as lb


def rows(name, data_dir=None):
    """Yield each question with its official prompt and its gold answers."""
    for doc in lb.load(name, data_dir=data_dir):
        question = {key: value for key, value in doc.items() if key != "context"}
        yield {"id": doc.id, "prompt": str(doc.prompt), "golds": doc.golds, "question": question}


def table(name, data_dir=None):
    """Return a Dataset of a task's questions."""
    return Dataset.from_generator(rows, gen_kwargs={"name": name, "data_dir": data_dir})


def scored(dataset, name, model):
    """Return the table with a model's answer to each prompt, and the official score of it."""

    def add(row):
        answer = model(row["prompt"])
        return {"answer": answer, "score": lb.score(name, row["question"], answer)}

    return dataset.map(add)


if __name__ == "__main__":
    task, *folder = sys.argv[1:]
    done = scored(table(task, *folder), task, lambda prompt: "The correct answer is (B)")
    for one in done:
        sys.stdout.write(f"{one['id']} {len(one['prompt'])} {one['score']}\n")
    sys.stdout.write(f"mean {sum(done['score']) / len(done)}\n")
