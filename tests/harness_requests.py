"""Requests of the harness, built by hand."""

from lm_eval.api.instance import Instance


def generation_request(prompt, generation, doc=None, number=0):
    """A request of a task to generate."""
    return Instance(
        request_type="generate_until",
        doc=doc or {},
        arguments=(prompt, generation),
        idx=number,
        metadata=("a task", 0, 1),
    )


def image_request(prompt, generation):
    """The same with an image."""
    request = generation_request(prompt, generation)
    request.arguments = (prompt, generation, {"visual": []})
    return request
