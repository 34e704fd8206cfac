"""Real runs to verify and to compare, made once; tests edit copies of them."""

import pytest
from json_server import JsonHandler, JsonServer, serving
from real_runs import EXTRACTIVE, AnsweringLM, Files, write_run

V1 = "own_single_doc_qa"
REASONING = "It may be (B). The correct answer is (A)."


def in_turn(number, prompt):
    """Letters, items, an empty answer and one with reasoning."""
    return (
        "The correct answer is (A)",
        "[Answer]\nB",
        "",
        "<think>hm</think>The correct answer is (C)",
    )[number % 4]


@pytest.fixture(scope="session")
def base_run(tmp_path_factory):
    """v1 with a group, E, v2, and Pro with three repeats."""
    folder = tmp_path_factory.mktemp("base")
    tasks = [V1, "longbench_v1_e_trec", "longbench_v2", "longbench_pro_t3_1", "longbench_pro_t6_2"]
    return write_run(folder, EXTRACTIVE, tasks)


@pytest.fixture
def base(base_run, tmp_path):
    """A copy of it to edit."""
    return Files.copy(base_run, tmp_path / "base")


@pytest.fixture(scope="session")
def v2_run(tmp_path_factory):
    """Every mode of LongBench v2 and its domains, chat; pass one fails for some questions."""
    folder = tmp_path_factory.mktemp("v2")

    def answer(number, prompt):
        if "step by step" in prompt:
            return "" if number % 5 == 0 else REASONING
        return in_turn(number, prompt)

    modes = ["longbench_v2_cot", "longbench_v2_cot_answer", "longbench_v2_no_context"]
    tasks = [*modes, "longbench_v2_rag", "longbench_v2_domains"]
    return write_run(folder, AnsweringLM(answer), tasks, apply_chat_template=True)


@pytest.fixture
def v2(v2_run, tmp_path):
    """A copy of it to edit."""
    return Files.copy(v2_run, tmp_path / "v2")


class ChatHandler(JsonHandler):
    """Answers chats with their seed, and embeds texts as counts of letters."""

    def do_POST(self):
        body = self.body()
        if "messages" in body:
            text = f"[Answer]\nanswer of seed {body['seed']}"
            message = {"role": "assistant", "content": text}
            reply = {"id": "x", "choices": [{"index": 0, "message": message}]}
        else:
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            data = [
                {"index": number, "embedding": [1.0 + text.count(letter) for letter in "aeinost"]}
                for number, text in enumerate(texts)
            ]
            reply = {"data": data, "model": body["model"]}
        self.reply(200, reply)


@pytest.fixture(scope="session")
def server_url():
    """An OpenAI-compatible server of chats and embeddings on loopback."""
    with serving(JsonServer(ChatHandler)) as server:
        yield server.url("/v1")
