"""Synthetic episodes of intensive care: a stand-in with the attributes that are stated of MIMIC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sfumato.datasets.draws import choose_any, labels
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance

FACTS: Mapping[str, Mapping[str, float]] = {
    "marital status": {"married": 46, "single": 27, "widowed": 14, "divorced": 7, "separated": 2, "unknown": 4},
    "gender": {"M": 56, "F": 44},
    "ethnic": {"white": 70, "black": 9, "hispanic": 4, "asian": 3, "other": 4, "unknown": 10},
    "payment": {"Medicare": 48, "private": 35, "Medicaid": 10, "government": 4, "self pay": 3},
    "religion": {"catholic": 36, "protestant": 13, "jewish": 9, "other": 12, "unspecified": 30},
    "admission type": {"emergency": 71, "elective": 14, "newborn": 13, "urgent": 2},
    "admission source": {"emergency room": 42, "referral": 27, "transfer": 17, "clinic": 14},
}
"""The seven categorical attributes, with weights that are made up."""
CLASS = "mortality"
_CODES = 4
"""How many codes a chapter has, chapters a kind, and kinds there are."""
_DEATHS = 0.115


def icu(rows: int, seed: int) -> pl.DataFrame:
    """Episodes who do not exist: seven facts, a set of codes, and whether the patient died (about 11 %).

    The attributes are those that the thesis on private data sharing states of its 36,000 episodes; everything else is
    made up. Death depends on how somebody came, on who pays, and on codes of two chapters.

    >>> icu(1, seed=1).columns[-2:]
    ['codes', 'mortality']
    """
    at_least("rows", rows, 0)
    at_least("seed", seed, 0)
    rng = Chance(seed=seed).generator()
    facts = {name: choose_any(rng, tuple(shares.values()), rows) for name, shares in FACTS.items()}
    names = list(code_paths())
    weights = 1.0 / np.arange(2, len(names) + 2) ** 0.7
    usual = rng.permutation(weights / weights.sum())
    held = rng.random((rows, len(names))) < np.minimum(5.0 * usual, 0.6)
    held[~held.any(axis=1), 0] = True
    grave = held[:, [n for n, code in enumerate(names) if code.startswith(("1.2", "3.1"))]].sum(axis=1)
    score = (
        1.3 * grave - 1.6 * (facts["admission type"] != 0) + 0.5 * (facts["payment"] == 0) + rng.logistic(0, 1, rows)
    )
    died = score > np.quantile(score, 1 - _DEATHS) if rows else score > 0
    sets = [" ".join(names[n] for n in np.flatnonzero(one)) for one in held]
    found = {name: labels(tuple(FACTS[name]), codes) for name, codes in facts.items()}
    died_ = pl.Series(np.where(died, "died", "lived"), dtype=pl.String)
    return pl.DataFrame({**found, "codes": pl.Series(sets, dtype=pl.String), CLASS: died_})


def code_paths() -> dict[str, Sequence[str]]:
    """Every code with its chapter and its kind.

    >>> code_paths()["2.3.1"]
    ('2.3', '2')
    """
    numbers = range(1, _CODES + 1)
    return {f"{a}.{b}.{c}": (f"{a}.{b}", f"{a}") for a in numbers for b in numbers for c in numbers}
