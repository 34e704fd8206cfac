"""A model that reports each answer the moment it has it, as those of the harness do."""

from lm_eval.api.model import LM


class AnsweringModel(LM):
    """Answers by a function of the request's number, counted from 0, and its prompt.

    fails_at: the number of the request at which the connection is lost.
    """

    tokenizer_name = "answering"
    reports = True

    def __init__(self, answer, fails_at=None):
        super().__init__()
        self.answer, self.fails_at = answer, fails_at
        self.asked = 0

    def generate_until(self, requests, disable_tqdm=False):
        texts = []
        if not self.reports and self.fails_at is not None and self.asked >= self.fails_at:
            raise ConnectionError("gone")
        for request in requests:
            if self.asked == self.fails_at:
                raise ConnectionError("gone")
            texts.append(self.answer(self.asked, request.args[0]))
            self.asked += 1
            if self.reports:
                self.cache_hook.add_partial("generate_until", request.args, texts[-1])
        return texts

    def loglikelihood(self, requests):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError
