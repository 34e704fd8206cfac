"""The lines on the output budget."""

import pytest

from lm_eval_longbench.doctor.model import budget_lines
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.model import Lengths
from lm_eval_longbench.harness.limit import Limit


@pytest.fixture
def lines(a_task):
    def make(budget=128, official=128, template=None, **more):
        facts = a_task(
            generation={"max_gen_toks": budget},
            official_generation={"max_gen_toks": official},
            **more,
        )
        return list(budget_lines(facts, Lengths(10, 10, template)))

    return make


def test_the_official_number(lines):
    (line,) = lines()
    assert (line.status, "official number" in line.found) == (OK, True)


@pytest.mark.parametrize("budget", [127, 129])
def test_any_other_is_no_longer_official(lines, budget):
    (line,) = lines(budget)
    assert line.status == WARNING
    assert "no longer the official protocol" in line.found


def test_pro_has_published_budgets_of_several_models(lines):
    assert lines(32768, 8192, benchmark="pro")[0].status == OK
    assert lines(999, 8192, benchmark="pro")[0].status == WARNING


def test_the_models_length_is_told(lines):
    (line,) = lines(limit=Limit(1856, 1920, "the model's config"))
    assert "1,920 of the model's length" in line.found


@pytest.mark.parametrize(("template", "status"), [(5, [OK]), (6, [OK, ERROR])])
def test_an_official_limit_must_fit_with_the_template(lines, template, status):
    limit = Limit(3500, 3505, "truncate_to=3500", official=True)
    found = lines(limit=limit, template=template)
    assert [line.status for line in found] == status


def test_a_refused_budget_is_the_tasks_problem(lines):
    assert lines("many", limit=None) == []
