"""A taskset of verifiers whose reward is the official score of an answer, from 0 to 1.

    pip install lm-eval-longbench verifiers
    PYTHONPATH=examples vf-eval verifiers_env -m MODEL -n 20 --env.taskset.task-name longbench_v2 \\
        --env.agent.harness.id null --env.agent.runtime.type subprocess \\
        --client.base-url http://127.0.0.1:8000/v1 --client.api-key-var OPENAI_API_KEY

The prompts are the official ones, cut where `tokenizer` and `truncate_to` are given. Summaries of
LongBench Pro (T4) have no reward without an embedding model: `score` says so.
"""

import verifiers.v1 as vf

import lm_eval_longbench as lb


class LongBenchData(vf.TaskData):
    """A question: the name of its task, and all of its row but the document."""

    longbench: str
    question: dict


class LongBenchTask(vf.Task[LongBenchData]):
    """What an answer to it is worth."""

    @vf.reward
    async def official(self, trace: vf.Trace) -> float:
        """Return the official score of the last reply; reasoning in <think> does not count."""
        return lb.score(self.data.longbench, self.data.question, trace.last_reply)


class LongBenchConfig(vf.TasksetConfig):
    """Which questions, and how their prompts are cut."""

    task_name: str = "longbench_v2"
    data_dir: str | None = None
    tokenizer: str | None = None
    truncate_to: int | None = None


class LongBenchTaskset(vf.Taskset[LongBenchTask, LongBenchConfig]):
    """The questions of one task."""

    def load(self):
        """Yield each question with its official prompt."""
        own = self.config
        for doc in lb.load(own.task_name, data_dir=own.data_dir):
            text = lb.prompt(
                own.task_name, doc, tokenizer=own.tokenizer, truncate_to=own.truncate_to
            )
            question = {name: value for name, value in doc.items() if name != "context"}
            yield LongBenchTask(
                LongBenchData(
                    id=doc.id, prompt=str(text), longbench=own.task_name, question=question
                ),
                own.task,
            )


__all__ = ["LongBenchTaskset"]
