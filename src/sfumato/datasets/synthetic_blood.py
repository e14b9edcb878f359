"""Synthetic transfusion records: a stand-in with the attributes that are stated of a set that nobody may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from sfumato.datasets.draws import choose_any, labels
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance

GROUPS = ("O+", "A+", "B+", "AB+", "O-", "A-", "B-", "AB-")
"""Blood groups, the class; the first has 56 % of the records."""
_SHARES = (56, 17, 13, 5, 4, 2.5, 1.5, 1)
DIAGNOSES = tuple(f"diagnosis {n:02}" for n in range(1, 16))
"""Categories of diagnoses, the sensitive attribute: the most frequent has 12 % of the records."""
QUASI = tuple(f"fact {n:02}" for n in range(1, 42))
"""The 41 quasi-identifiers."""
OTHERS = tuple(f"finding {n:02}" for n in range(1, 20))
"""The 19 attributes that are neither."""
_LEAVES = (2, 4, 8)
"""How many values quasi-identifiers have, in turn."""
_TELLING = 12
"""How many of them depend on the class."""
_STRENGTH = 0.38
"""How often such a one has the value that its record's class leads to."""


def blood(rows: int, seed: int) -> pl.DataFrame:
    """Records with 62 attributes: 41 quasi-identifiers, a blood group (8), a diagnosis (15) and 19 findings.

    Nothing is known of the original but these numbers, its 10,000 records, and how well its blood groups can be
    predicted: with the quasi-identifiers for about 78 % of the records, without them for 56 %. The dependence of some
    facts on the class is set so that the same holds here.
    """
    at_least("rows", rows, 0)
    at_least("seed", seed, 0)
    rng = Chance(seed=seed).generator()
    group = choose_any(rng, _SHARES, rows)
    columns = {}
    for place, name in enumerate(QUASI):
        many = _LEAVES[place % len(_LEAVES)]
        usual = rng.dirichlet(np.full(many, 1.5))
        value = rng.choice(many, rows, p=usual)
        if place < _TELLING:
            leads = rng.integers(0, many, len(GROUPS))
            leads[1:4] = (leads[0] + 1 + rng.permutation(3)) % many  # frequent groups differ from the most frequent
            value = np.where(rng.random(rows) < _STRENGTH, leads[group], value)
        columns[name] = pl.Series([leaf(n) for n in range(many)], dtype=pl.String).gather(value)
    weights = np.linspace(1.8, 0.4, len(DIAGNOSES))
    found = {
        **columns,
        "blood group": labels(GROUPS, group),
        "diagnosis": labels(DIAGNOSES, choose_any(rng, weights.tolist(), rows)),
        **{name: pl.Series(rng.integers(0, 5, rows)).cast(pl.String) for name in OTHERS},
    }
    return pl.DataFrame(found)


def leaf(number: int) -> str:
    """The name of a value.

    >>> leaf(0), leaf(7)
    ('v1', 'v8')
    """
    return f"v{number + 1}"


def blood_hierarchy(name: str) -> dict[str, Any]:
    """The taxonomy of a quasi-identifier as a plan has it: halves of halves."""
    many = _LEAVES[QUASI.index(name) % len(_LEAVES)]
    return {"kind": "flat"} if many == 2 else {"tree": _halves([leaf(n) for n in range(many)])}


def _halves(leaves: list[str]) -> Mapping[str, Any] | list[str]:
    if len(leaves) <= 2:
        return leaves
    middle = len(leaves) // 2
    return {f"{part[0]} to {part[-1]}": _halves(part) for part in (leaves[:middle], leaves[middle:])}
