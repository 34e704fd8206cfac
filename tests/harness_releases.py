"""What tests have to know of the harness's releases: requests built by hand, and names."""

import lm_eval.api.task
from lm_eval.api.instance import Instance

# Whether this is 0.5 or later.
NEXT = hasattr(lm_eval.api.task, "GenerateTask")


def generation_request(prompt, generation, doc=None, number=0):
    """A request of a task to generate; 0.5 wants to know of which task and document."""
    more = {"task_name": "a task", "doc_id": 0} if NEXT else {"metadata": ("a task", 0, 1)}
    return Instance(
        request_type="generate_until",
        doc=doc or {},
        arguments=(prompt, generation),
        idx=number,
        **more,
    )


def image_request(prompt, generation):
    """The same with an image, for which each release has a place of its own."""
    request = generation_request(prompt, generation)
    if NEXT:
        request.additional_args = {"visual": []}
    else:
        request.arguments = (prompt, generation, {"visual": []})
    return request


def name_in(group, task):
    """The name in results of a task that is no LongBench task, in a group."""
    return f"{group}::{task}" if NEXT else task


def for_members(**keys):
    """What a group has to say so that all its members get some keys."""
    return {"include": keys} if NEXT else keys
