"""Synthetic stand-ins for benchmark data: blood transfusions, intensive care (MIMIC) and Quest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sfumato.core.arguments import at_least, between, whole
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.draws import Flags, Reals, choose_any, labels

# Synthetic transfusion records: a stand-in with the attributes that are stated of a set that nobody may have.


BLOOD_GROUPS = ("O+", "A+", "B+", "AB+", "O-", "A-", "B-", "AB-")
"""Blood groups, the class; the first has 56 % of the records."""
_SHARES = (56, 17, 13, 5, 4, 2.5, 1.5, 1)
BLOOD_DIAGNOSES = tuple(f"diagnosis {n:02}" for n in range(1, 16))
"""Categories of diagnoses, the sensitive attribute: the most frequent has 12 % of the records."""
BLOOD_QUASI = tuple(f"fact {n:02}" for n in range(1, 42))
"""The 41 quasi-identifiers."""
BLOOD_OTHERS = tuple(f"finding {n:02}" for n in range(1, 20))
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
    for place, name in enumerate(BLOOD_QUASI):
        many = _LEAVES[place % len(_LEAVES)]
        usual = rng.dirichlet(np.full(many, 1.5))
        value = rng.choice(many, rows, p=usual)
        if place < _TELLING:
            leads = rng.integers(0, many, len(BLOOD_GROUPS))
            leads[1:4] = (leads[0] + 1 + rng.permutation(3)) % many  # frequent groups differ from the most frequent
            value = np.where(rng.random(rows) < _STRENGTH, leads[group], value)
        columns[name] = pl.Series([blood_leaf(n) for n in range(many)], dtype=pl.String).gather(value)
    weights = np.linspace(1.8, 0.4, len(BLOOD_DIAGNOSES))
    table_columns = {
        **columns,
        "blood group": labels(BLOOD_GROUPS, group),
        "diagnosis": labels(BLOOD_DIAGNOSES, choose_any(rng, weights.tolist(), rows)),
        **{name: pl.Series(rng.integers(0, 5, rows)).cast(pl.String) for name in BLOOD_OTHERS},
    }
    return pl.DataFrame(table_columns)


def blood_leaf(number: int) -> str:
    """The name of a value.

    >>> blood_leaf(0), blood_leaf(7)
    ('v1', 'v8')
    """
    return f"v{number + 1}"


def blood_hierarchy(name: str) -> dict[str, Any]:
    """The taxonomy of a quasi-identifier as a plan has it: halves of halves."""
    many = _LEAVES[BLOOD_QUASI.index(name) % len(_LEAVES)]
    return {"kind": "flat"} if many == 2 else {"tree": _halves([blood_leaf(n) for n in range(many)])}


def _halves(leaves: list[str]) -> Mapping[str, Any] | list[str]:
    if len(leaves) <= 2:
        return leaves
    middle = len(leaves) // 2
    return {f"{part[0]} to {part[-1]}": _halves(part) for part in (leaves[:middle], leaves[middle:])}


# Synthetic episodes of intensive care: a stand-in with the attributes that are stated of MIMIC.


ICU_FACTS: Mapping[str, Mapping[str, float]] = {
    "marital status": {"married": 46, "single": 27, "widowed": 14, "divorced": 7, "separated": 2, "unknown": 4},
    "gender": {"M": 56, "F": 44},
    "ethnic": {"white": 70, "black": 9, "hispanic": 4, "asian": 3, "other": 4, "unknown": 10},
    "payment": {"Medicare": 48, "private": 35, "Medicaid": 10, "government": 4, "self pay": 3},
    "religion": {"catholic": 36, "protestant": 13, "jewish": 9, "other": 12, "unspecified": 30},
    "admission type": {"emergency": 71, "elective": 14, "newborn": 13, "urgent": 2},
    "admission source": {"emergency room": 42, "referral": 27, "transfer": 17, "clinic": 14},
}
"""The seven categorical attributes, with weights that are made up."""
ICU_CLASS = "mortality"
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
    facts = {name: choose_any(rng, tuple(shares.values()), rows) for name, shares in ICU_FACTS.items()}
    names = list(icu_code_paths())
    weights = 1.0 / np.arange(2, len(names) + 2) ** 0.7
    usual = rng.permutation(weights / weights.sum())
    held = rng.random((rows, len(names))) < np.minimum(5.0 * usual, 0.6)
    held[~held.any(axis=1), 0] = True
    grave = held[:, [n for n, code in enumerate(names) if code.startswith(("1.2", "3.1"))]].sum(axis=1)
    score = (
        1.3 * grave - 1.6 * (facts["admission type"] != 0) + 0.5 * (facts["payment"] == 0) + rng.logistic(0, 1, rows)
    )
    died = score > np.quantile(score, 1 - _DEATHS) if rows else score > 0
    sets = [" ".join(names[n] for n in np.flatnonzero(flags)) for flags in held]
    columns = {name: labels(tuple(ICU_FACTS[name]), codes) for name, codes in facts.items()}
    died_ = pl.Series(np.where(died, "died", "lived"), dtype=pl.String)
    return pl.DataFrame({**columns, "codes": pl.Series(sets, dtype=pl.String), ICU_CLASS: died_})


def icu_code_paths() -> dict[str, Sequence[str]]:
    """Every code with its chapter and its kind.

    >>> icu_code_paths()["2.3.1"]
    ('2.3', '2')
    """
    numbers = range(1, _CODES + 1)
    return {f"{a}.{b}.{c}": (f"{a}.{b}", f"{a}") for a in numbers for b in numbers for c in numbers}


# The people of a well-known benchmark of classifiers, in groups by one of five functions.
#
# Source: Agrawal, Imielinski and Swami 1993 (the attributes); Agrawal and Srikant 2000 (the five functions, on which
#     they measured what learners make of randomized values).


QUEST_RANGES: Mapping[str, tuple[int, int]] = {
    "salary": (20_000, 150_000),
    "commission": (0, 75_000),
    "age": (20, 80),
    "elevel": (0, 4),
    "car": (1, 20),
    "zipcode": (1, 9),
    "hvalue": (50_000, 1_350_000),
    "hyears": (1, 30),
    "loan": (0, 500_000),
}
"""The public range of every attribute."""
QUEST_GROUPS = ("A", "B")


def quest(rows: int, *, function: int = 1, seed: int) -> pl.DataFrame:
    """So many people with nine attributes and the group that a function, 1 to 5, puts them into.

    >>> quest(3, function=1, seed=1).columns[-1]
    'group'
    """
    at_least("rows", rows, 1)
    between("function", whole("function", function), 1, 5)
    rng = Chance(seed=seed).generator()
    salary = rng.uniform(20_000, 150_000, rows)
    commission = np.where(salary >= 75_000, 0.0, rng.uniform(10_000, 75_000, rows))
    zipcode = rng.integers(1, 10, rows)
    columns = {
        "salary": salary,
        "commission": commission,
        "age": rng.uniform(20, 80, rows),
        "elevel": rng.integers(0, 5, rows),
        "car": rng.integers(1, 21, rows),
        "zipcode": zipcode,
        "hvalue": zipcode * 100_000 * rng.uniform(0.5, 1.5, rows),
        "hyears": rng.integers(1, 31, rows),
        "loan": rng.uniform(0, 500_000, rows),
    }
    in_group = (_first, _second, _third, _fourth, _fifth)[function - 1](columns)
    return pl.DataFrame({**columns, "group": np.where(in_group, *QUEST_GROUPS)})


def _within(values: Reals, low: float, high: float) -> Flags:
    return np.asarray((values >= low) & (values <= high))


def _first(of: Mapping[str, Reals]) -> Flags:
    return np.asarray((of["age"] < 40) | (of["age"] >= 60))


def _second(of: Mapping[str, Reals]) -> Flags:
    age, salary = of["age"], of["salary"]
    young, old = age < 40, age >= 60
    middle = ~young & ~old
    return np.asarray(
        (young & _within(salary, 50_000, 100_000))
        | (middle & _within(salary, 75_000, 125_000))
        | (old & _within(salary, 25_000, 75_000))
    )


def _third(of: Mapping[str, Reals]) -> Flags:
    age, salary, level = of["age"], of["salary"], of["elevel"]
    low, usual, high = (
        _within(salary, 25_000, 75_000),
        _within(salary, 50_000, 100_000),
        _within(salary, 75_000, 125_000),
    )
    young, old = age < 40, age >= 60
    return np.asarray(
        (young & ((_within(level, 0, 1) & low) | (_within(level, 2, 3) & usual)))
        | (~young & ~old & ((_within(level, 1, 3) & usual) | ((level == 4) & high)))
        | (old & ((_within(level, 2, 4) & usual) | ((level == 1) & low)))
    )


def _fourth(of: Mapping[str, Reals]) -> Flags:
    return np.asarray(0.67 * (of["salary"] + of["commission"]) - 0.2 * of["loan"] - 20_000 > 0)


def _fifth(of: Mapping[str, Reals]) -> Flags:
    equity = 0.1 * of["hvalue"] * np.maximum(of["hyears"] - 20, 0)
    return np.asarray(0.67 * (of["salary"] + of["commission"]) - 0.2 * of["loan"] + 0.2 * equity - 10_000 > 0)
