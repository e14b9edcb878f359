"""Searches under a cut give the same with compiled loops and without them."""

from __future__ import annotations

import pytest

from tests.golden.releases import adapter, comparing
from tests.golden.releases.plans import PLANS

STEPWISE = [name for name in PLANS if name.startswith(("diffgen", "marginals", "top-down"))]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", STEPWISE)
def test_the_rows_are_the_golden_ones(name: str, compiled: bool, monkeypatch: pytest.MonkeyPatch):
    for place in ("cell_cuts", "leaf_order"):
        monkeypatch.setattr(f"sfumato.group.{place}.worth_compiling", lambda cells: compiled)
    plan = adapter.plan_of(PLANS[name], comparing.HERE)
    private = "epsilon" in PLANS[name]["privacy"]
    rows = adapter.private_rows(plan) if private else adapter.made(plan).rows
    assert comparing.texts(rows).rows() == comparing.kept(name)[""].rows()
