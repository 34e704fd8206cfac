"""Settings among a model's arguments: what is stated of them."""

from lm_eval_longbench.signature.ingredients import less_own, model_settings


def test_what_is_no_setting_is_not_stated():
    arguments = {"model": "m", "base_url": "http://h/v1", "max_length": 9, "eos_string": None}
    assert model_settings({**arguments, "extra_body": {}, "chat_template_kwargs": "{}"}) is None


def test_objects_stand_in_place_of_their_json():
    given = {"extra_body": '{"user": "me"}', "chat_template_kwargs": {"enable_thinking": False}}
    assert model_settings({**given, "eos_string": "\n", "model": "m"}) == {
        "eos_string": "\n",
        "extra_body": {"user": "me"},
        "chat_template_kwargs": {"enable_thinking": False},
    }
    assert model_settings({"extra_body": "{"}) == {"extra_body": "{"}


def test_what_belongs_to_a_model():
    assert less_own(None) is None
    assert less_own({"chat_template_kwargs": {"a": 1}, "extra_body": {"user": "me"}}) is None
    assert less_own({"extra_body": {"user": "me", "grammar": "g"}}) == {
        "extra_body": {"grammar": "g"}
    }
