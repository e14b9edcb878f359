"""A synthetic population with the columns of the UCI Adult data set, for examples, tests and benchmarks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from sfumato.data.bundled import hierarchy_files
from sfumato.datasets import census_shape as shape
from sfumato.datasets.census_work import Workers, earns_more, gains_and_losses, hours_per_week
from sfumato.datasets.draws import Codes, Flags, choose, choose_any, labels, per_group
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
"""The columns of UCI Adult, in its order."""

_TABLES = {
    "workclass": tuple(shape.WORKCLASS),
    "education": tuple(shape.EDUCATION),
    "marital-status": tuple(shape.MARITAL),
    "occupation": tuple(shape.OCCUPATION),
    "relationship": tuple(shape.RELATIONSHIP),
    "race": tuple(shape.RACE),
    "sex": tuple(shape.SEX),
    "native-country": tuple(shape.COUNTRY),
    "income": ("<=50K", ">50K"),
}
_BANDS = len(shape.AGE_BANDS) + 1


def census(rows: int, seed: int) -> pl.DataFrame:
    """People who do not exist, drawn from hand-written tables; equal seeds give equal people.

    Columns and spellings are those of UCI Adult, and so is the kind of dependence between them: a
    classifier can learn the income from the rest.

    >>> census(2, seed=1).columns[:4]
    ['age', 'workclass', 'fnlwgt', 'education']
    """
    at_least("rows", rows, 0)
    at_least("seed", seed, 0)
    rng = Chance(seed=seed).generator()
    origin = _origin(rng, rows)
    life = _life(rng, rows)
    codes = {**origin, **life, **_work(rng, life)}
    return pl.DataFrame([_spelt(name, codes[name]) for name in COLUMNS])


def census_hierarchies() -> dict[str, Path]:
    """A hierarchy file for every quasi-identifier of the census, under the column's name.

    Lines read ``leaf;parent;...;*``. They cover the values of the real Adult data set as well.
    """
    return hierarchy_files("census")


def _spelt(name: str, codes: Codes) -> pl.Series:
    """The column under its name: numbers as they are, codes as their labels."""
    table = _TABLES.get(name)
    return pl.Series(name, codes) if table is None else labels(table, codes).alias(name)


def _origin(rng: np.random.Generator, rows: int) -> dict[str, Codes]:
    """Where people come from, their race, and how many people each stands for."""
    country = choose(rng, per_group(shape.COUNTRY), np.zeros(rows, np.int64))
    regions = [shape.REGIONS.get(name, 0) for name in shape.COUNTRY]
    race = choose(rng, per_group(shape.RACE), np.array(regions)[country])
    weight = np.clip(rng.lognormal(12.0, 0.55, rows), 12_000, 1_500_000).astype(np.int64)
    return {"native-country": country, "race": race, "fnlwgt": weight}


def _life(rng: np.random.Generator, rows: int) -> dict[str, Codes]:
    """Sex, age, and what depends on them at home and at school."""
    sex = choose(rng, per_group(shape.SEX), np.zeros(rows, np.int64))
    ages = np.arange(shape.AGE_POINTS[0], shape.AGE_POINTS[-1] + 1)
    age = ages[choose_any(rng, np.interp(ages, shape.AGE_POINTS, shape.AGE_WEIGHTS).tolist(), rows)]
    band = np.searchsorted(shape.AGE_BANDS, age, side="right")
    marital = choose(rng, per_group(shape.MARITAL), band + _BANDS * sex)
    relationship = choose(rng, per_group(shape.RELATIONSHIP), _households(age, sex, marital))
    education = choose(rng, per_group(shape.EDUCATION), band)
    return {
        "age": age,
        "sex": sex,
        "marital-status": marital,
        "relationship": relationship,
        "education": education,
        "education-num": education + 1,
    }


def _married(marital: Codes) -> Flags:
    return np.asarray(np.array([name in shape.MARRIED for name in shape.MARITAL])[marital])


def _households(age: Codes, sex: Codes, marital: Codes) -> Codes:
    """The group of the table of relationships."""
    never = marital == list(shape.MARITAL).index("Never-married")
    return np.select([_married(marital), never], [sex, 2 + (age >= 25)], 4 + sex)


def _work(rng: np.random.Generator, life: dict[str, Codes]) -> dict[str, Codes]:
    """Occupation, class of worker, hours, gains, losses and income."""
    age, sex = life["age"], life["sex"]
    tier = np.array(shape.TIERS)[life["education"]]
    men = per_group(shape.OCCUPATION)
    weights = np.vstack([men, men * np.array([shape.WOMEN[name] for name in shape.OCCUPATION])])
    occupation = choose(rng, weights, tier + len(men) * sex)
    stage = 2 * ((age >= 25) * 1 + (age >= 50)) + (tier >= 5)
    people = Workers(
        age=age,
        schooling=life["education-num"],
        occupation=occupation,
        married=_married(life["marital-status"]),
        male=sex == 0,
    )
    hours = hours_per_week(rng, people)
    gain, loss = gains_and_losses(rng, people)
    return {
        "occupation": occupation,
        "workclass": choose(rng, per_group(shape.WORKCLASS), stage),
        "hours-per-week": hours,
        "capital-gain": gain,
        "capital-loss": loss,
        "income": earns_more(rng, people, hours=hours, gain=gain, loss=loss).astype(np.int64),
    }
