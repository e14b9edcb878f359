"""The people of a well-known benchmark of classifiers, in groups by one of five functions.

Source: Agrawal, Imielinski and Swami 1993 (the attributes); Agrawal and Srikant 2000 (the five functions, on which they
    measured what learners make of randomized values).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from sfumato.datasets.draws import Flags, Reals
from sfumato.ground.arguments import at_least, between, whole
from sfumato.ground.chance import Chance

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
GROUPS = ("A", "B")


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
    found = (_first, _second, _third, _fourth, _fifth)[function - 1](columns)
    return pl.DataFrame({**columns, "group": np.where(found, *GROUPS)})


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
