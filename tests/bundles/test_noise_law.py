"""Stated deviations are those of the noise that the ledger buys; smaller ones are caught."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

from sfumato.bundles.checks.mechanisms import NOISES, noise_fits, variance

PARTS = [
    {"what": "marginal of age", "rho": "1/200"},
    {"what": "marginal of age", "rho": "1/200"},
    {"what": "rows of every class", "epsilon": "1/10"},
    {"what": "choice of a pair", "rho": "1/2"},
]


def stated(age: float, kind: float) -> dict[str, Any]:
    columns = {"age": {"deviations": {"[0-50)": age, "[50-100]": age}}, "sex": {"deviations": {"*": 3.0}}}
    return {"recoding": {"columns": columns, "classes": {"N": kind, "Y": kind}}, "search": {}}


def check(**found: Any) -> dict[str, Any]:
    return found


RIGHT = sqrt(50.0), sqrt(variance({"epsilon": "1/10"}))


@pytest.mark.parametrize(
    ("age", "kind", "wrong"),
    [
        (*RIGHT, ""),
        (RIGHT[0] / 2, RIGHT[1], "age"),
        (RIGHT[0], RIGHT[1] / 2, "the class"),
        (RIGHT[0] * 2, RIGHT[1] * 1.01, "age, the class"),
    ],
)
def test_noise_is_what_the_ledger_buys(age: float, kind: float, wrong: str):
    """Two looks at age count together; sex was not measured by itself, so its noise cannot be told from the ledger."""
    found = noise_fits(stated(age, kind), PARTS, check)
    assert found["holds"] == (not wrong)
    assert wrong in found["detail"]


def test_a_release_without_a_class_states_no_noise_of_one():
    manifest = stated(*RIGHT)
    del manifest["recoding"]["classes"]
    assert noise_fits(manifest, PARTS, check)["holds"]


def test_several_noises_in_a_count_add_up():
    """Where each of two parties adds a whole noise, a count has twice the variance."""
    manifest = stated(*(sqrt(2) * one for one in RIGHT)) | {"search": {NOISES: 2.0}}
    assert noise_fits(manifest, PARTS, check)["holds"]
    assert not noise_fits(stated(*RIGHT) | {"search": {NOISES: 2.0}}, PARTS, check)["holds"]
