"""Every look that DiffGen and marginals take at the rows passes the audit; with half of its noise none does.

Choices of whole releases take long: in the profile quick they are audited in fewer runs, which find a quarter.

An audit accuses the product with a probability of at most 1e-6, so all of them together with at most 1e-5. Twins are
drawn with fixed seeds: what they show is the same in every run.
"""

from __future__ import annotations

import pytest

from tests.algorithms.private_audits import ALARM, Case, choice_cases, counts_cases, step_cases
from tests.weights import thorough

QUICK = [*counts_cases(), *step_cases()]
LONG = choice_cases(long=thorough())
CASES = [
    *(pytest.param(case, id=case.name) for case in QUICK),
    *(pytest.param(case, id=case.name, marks=pytest.mark.slow) for case in LONG),
]


@pytest.mark.parametrize("case", CASES)
def test_the_product_keeps_what_it_states(case: Case):
    found = case.audited()
    assert not found.refuted, found
    assert found.confidence == 1 - ALARM
    assert found.factor is not None
    assert found.factor < case.less, "so few runs would not find so much less noise"


@pytest.mark.parametrize("case", CASES)
def test_too_little_noise_is_found(case: Case):
    found = case.audited_twin(seed=1)
    assert found.refuted, found
    assert case.declared < found.epsilon_low <= case.less * case.declared


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in QUICK])
def test_a_twin_with_all_of_its_noise_is_not_accused(case: Case):
    """What twins are accused of is their noise, not how they were made."""
    assert not case.audited_twin(seed=1, less=1.0).refuted
