"""A synthetic population with the columns of the UCI Adult data set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.core.arguments import at_least
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.draws import Codes, Flags, Reals, Weights, choose, choose_any, labels, per_group
from sfumato.tables.hierarchy_files import hierarchy_files

# The hand-written weights behind the synthetic census: round numbers for a plausible working population.
#
# Every table gives, for each label, one weight per group; the comment over a table names its groups.


SEX: Weights = {"Male": (66,), "Female": (34,)}

AGE_POINTS = (17, 20, 23, 30, 36, 42, 48, 55, 62, 66, 72, 80, 89, 90)
AGE_WEIGHTS = (11, 23, 26, 27, 28, 25, 20, 14, 9, 6, 3, 1, 0.2, 1)

AGE_BANDS = (20, 25, 30, 38, 50, 65)
"""A person belongs to band i when i of these ages have been reached."""

# groups: men in the seven age bands, then women in the seven age bands
MARITAL: Weights = {
    "Never-married": (96, 72, 45, 24, 10, 6, 5, 94, 66, 40, 24, 13, 7, 6),
    "Married-civ-spouse": (3, 24, 46, 61, 70, 74, 74, 3, 16, 27, 30, 29, 30, 20),
    "Divorced": (0.4, 2, 6, 10, 15, 13, 9, 1, 9, 20, 30, 37, 35, 18),
    "Separated": (0.2, 1, 2, 3, 3, 2, 1, 1, 5, 7, 8, 7, 5, 2),
    "Widowed": (0, 0.1, 0.2, 0.4, 1, 3, 9, 0.1, 0.5, 1, 2, 7, 18, 50),
    "Married-spouse-absent": (0.4, 0.9, 1, 1.2, 1.2, 1.5, 1.5, 0.8, 2, 2, 2, 2, 2, 2),
    "Married-AF-spouse": (0, 0.1, 0.1, 0.05, 0, 0, 0, 0.2, 0.4, 0.2, 0.1, 0, 0, 0),
}

MARRIED = ("Married-civ-spouse", "Married-AF-spouse")
"""Those who live with a spouse."""

# groups: married men, married women, never married and below 25, never married and older,
# formerly married men, formerly married women
RELATIONSHIP: Weights = {
    "Husband": (98.5, 0, 0, 0, 0, 0),
    "Wife": (0, 93, 0, 0, 0, 0),
    "Own-child": (0.5, 2, 66, 22, 8, 5),
    "Not-in-family": (0.2, 1, 22, 60, 66, 43),
    "Other-relative": (0.8, 4, 7, 6, 5, 4),
    "Unmarried": (0, 0, 5, 12, 21, 48),
}

# groups: the seven age bands
EDUCATION: Weights = {
    "Preschool": (0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.3),
    "1st-4th": (0.1, 0.2, 0.3, 0.3, 0.4, 0.8, 1.6),
    "5th-6th": (0.3, 0.6, 0.8, 0.8, 0.8, 1.5, 2.5),
    "7th-8th": (1, 0.6, 0.8, 1, 1.5, 4, 8),
    "9th": (2, 1.2, 1.2, 1.2, 1.2, 2, 3),
    "10th": (8, 2, 2, 2, 2, 3.5, 4),
    "11th": (17, 3, 2.5, 2.3, 2, 2.5, 3),
    "12th": (6, 1.8, 1.2, 1, 0.8, 0.8, 0.8),
    "HS-grad": (28, 33, 33, 34, 31, 33, 32),
    "Some-college": (36, 36, 20, 19, 20, 17, 16),
    "Assoc-voc": (0.8, 3.5, 5, 5.5, 5, 3.5, 2),
    "Assoc-acdm": (0.5, 3, 4, 4, 3.6, 2.3, 1.6),
    "Bachelors": (0.2, 14, 23, 19, 18, 14, 12),
    "Masters": (0, 0.8, 4, 5.5, 8.5, 8, 6.5),
    "Prof-school": (0, 0.1, 1.2, 2, 2.4, 2.4, 2.8),
    "Doctorate": (0, 0, 0.4, 1, 1.8, 2.2, 2.4),
}
"""In the order of education-num, which counts from 1."""

# groups: up to 8 years of school, up to grade 12, high school, some college, associate, bachelor, above
TIERS = (0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4, 4, 5, 6, 6, 6)
"""The group of every education, in its order."""
OCCUPATION: Weights = {
    "Adm-clerical": (2, 6, 10, 14, 12, 8, 3),
    "Armed-Forces": (0, 0, 0.05, 0.05, 0, 0.02, 0.02),
    "Craft-repair": (24, 22, 26, 19, 19, 5, 1),
    "Exec-managerial": (2, 4, 8, 13, 14, 26, 21),
    "Farming-fishing": (12, 5, 4, 2, 2.5, 1.5, 1),
    "Handlers-cleaners": (9, 11, 6, 4, 1.5, 0.8, 0.2),
    "Machine-op-inspct": (18, 13, 10, 4, 4, 1.3, 0.3),
    "Other-service": (20, 20, 12, 10, 7, 3, 0.8),
    "Priv-house-serv": (3, 1, 0.5, 0.3, 0.3, 0.1, 0.05),
    "Prof-specialty": (0.8, 1.2, 2.2, 6, 13, 29, 64),
    "Protective-serv": (0.6, 1.2, 2, 3, 2.5, 2, 0.6),
    "Sales": (4, 10, 10, 14, 10, 16, 5),
    "Tech-support": (0.2, 0.5, 1.5, 4, 10, 4, 2),
    "Transport-moving": (9, 10, 8, 4, 2.5, 1, 0.2),
}
"""Weights of men; those of women are multiplied by the next table."""
WOMEN: dict[str, float] = {
    "Adm-clerical": 2.5,
    "Armed-Forces": 0.1,
    "Craft-repair": 0.15,
    "Exec-managerial": 0.9,
    "Farming-fishing": 0.15,
    "Handlers-cleaners": 0.3,
    "Machine-op-inspct": 0.8,
    "Other-service": 2.2,
    "Priv-house-serv": 6.0,
    "Prof-specialty": 1.2,
    "Protective-serv": 0.3,
    "Sales": 1.1,
    "Tech-support": 1.3,
    "Transport-moving": 0.12,
}

# groups: below 25, 25 to 49, 50 and older; each without and then with a bachelor's degree
WORKCLASS: Weights = {
    "Federal-gov": (1, 2, 3, 4, 3.5, 4.5),
    "Local-gov": (4, 8, 6, 11, 7, 14),
    "Private": (88, 79, 76, 63, 65, 49),
    "Self-emp-inc": (0.5, 1, 2.5, 6, 5, 10),
    "Self-emp-not-inc": (2.5, 3, 8.5, 8, 15, 14),
    "State-gov": (4, 7, 4, 8, 4.5, 8.5),
    "Without-pay": (0.1, 0, 0.02, 0, 0.1, 0),
}

# groups: born in the United States or in Europe, in Latin America, in the Caribbean, in Asia
RACE: Weights = {
    "Amer-Indian-Eskimo": (1, 0.8, 0.2, 0.3),
    "Asian-Pac-Islander": (1, 0.5, 1, 84),
    "Black": (9.5, 5, 78, 1.2),
    "Other": (0.5, 11, 2, 2.5),
    "White": (88, 82.7, 18.8, 12),
}

COUNTRY: Weights = {
    "United-States": (900,),
    "Mexico": (21,),
    "Philippines": (7,),
    "Germany": (5,),
    "Canada": (4.5,),
    "Puerto-Rico": (4.5,),
    "El-Salvador": (4,),
    "India": (4,),
    "Cuba": (3.5,),
    "England": (3.5,),
    "China": (3.5,),
    "Jamaica": (3,),
    "South": (3,),
    "Italy": (3,),
    "Dominican-Republic": (2.5,),
    "Vietnam": (2.5,),
    "Guatemala": (2.5,),
    "Japan": (2.5,),
    "Poland": (2,),
    "Columbia": (2,),
    "Haiti": (2,),
    "Portugal": (1.5,),
    "Iran": (1.5,),
}
_LATIN = ("Mexico", "Puerto-Rico", "El-Salvador", "Cuba", "Guatemala", "Columbia")
_CARIBBEAN = ("Jamaica", "Haiti", "Dominican-Republic")
_ASIAN = ("Philippines", "India", "China", "South", "Vietnam", "Japan")
REGIONS = {**dict.fromkeys(_LATIN, 1), **dict.fromkeys(_CARIBBEAN, 2), **dict.fromkeys(_ASIAN, 3)}
"""The group of the table of races, for countries that are not in group 0."""


# Hours, gains, losses and income of the synthetic census.


WORK: dict[str, tuple[float, float]] = {
    "Adm-clerical": (38, -0.9),
    "Armed-Forces": (42, 0.0),
    "Craft-repair": (43, 0.3),
    "Exec-managerial": (47, 1.9),
    "Farming-fishing": (50, -1.5),
    "Handlers-cleaners": (37, -1.3),
    "Machine-op-inspct": (41, -0.7),
    "Other-service": (33, -1.7),
    "Priv-house-serv": (31, -3.0),
    "Prof-specialty": (43, 1.5),
    "Protective-serv": (43, 0.9),
    "Sales": (42, 0.8),
    "Tech-support": (40, 1.1),
    "Transport-moving": (45, 0.1),
}
"""Mean hours of those who do not work exactly 40, and what the occupation adds to the score of income."""

GAINS = (1500, 2500, 3000, 3500, 4500, 5500, 7500, 8500, 10000, 15000, 20000, 99999)
GAIN_WEIGHTS = (4, 9, 12, 10, 9, 8, 22, 6, 5, 12, 2, 1)
LOSSES = (1300, 1500, 1600, 1750, 1850, 1900, 2000, 2200, 2400)
LOSS_WEIGHTS = (4, 9, 14, 12, 14, 24, 13, 7, 3)

_SHARPNESS = 1.1
_THRESHOLD = 4.3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workers:
    """What income depends on, one entry per person."""

    age: Codes
    """Years."""
    schooling: Codes
    """education-num."""
    occupation: Codes
    """Index into the occupations."""
    married: Flags
    """Whether a spouse lives there."""
    male: Flags
    """Whether a man."""


def hours_per_week(rng: np.random.Generator, people: Workers) -> Codes:
    """Forty for nearly half of all; the others by occupation, fewer for the young, the old and women."""
    age = people.age
    mean = np.array([hours for hours, _ in WORK.values()])[people.occupation] - 4 * ~people.male
    mean = mean - 12 * (age < 20) - 4 * ((age >= 20) & (age < 24)) - 11 * (age >= 66)
    drawn = np.round(rng.normal(mean, 11) / 5) * 5 + choose_any(rng, (80, 5, 5, 5, 5), age.size)
    usual = rng.random(age.size) < 0.48 - 0.3 * ((age < 20) | (age >= 66))
    return np.where(usual, 40, np.clip(drawn, 1, 99)).astype(np.int64)


def gains_and_losses(rng: np.random.Generator, people: Workers) -> tuple[Codes, Codes]:
    """Zero for most, never both; the older and the learned have them more often."""
    rows = people.age.size
    lean = np.clip((people.age - 20) / 60, 0, 1) + np.clip((people.schooling - 8) / 8, 0, 1)
    gained = rng.random(rows) < 0.03 + 0.07 * lean
    lost = ~gained & (rng.random(rows) < 0.025 + 0.03 * lean)
    gain = np.array(GAINS)[choose_any(rng, GAIN_WEIGHTS, rows)]
    loss = np.array(LOSSES)[choose_any(rng, LOSS_WEIGHTS, rows)]
    return np.where(gained, gain, 0), np.where(lost, loss, 0)


def earns_more(rng: np.random.Generator, people: Workers, *, hours: Codes, gain: Codes, loss: Codes) -> Flags:
    """Who earns more than 50K: a logistic draw on a score of everything above."""
    score = _score_of_person(people) + _score_of_year(hours, gain, loss)
    chance = 1 / (1 + np.exp(-_SHARPNESS * (score - _THRESHOLD)))
    return np.asarray(rng.random(score.size) < chance)


def _score_of_person(people: Workers) -> Reals:
    age = people.age
    work = np.array([score for _, score in WORK.values()])[people.occupation]
    grown = 0.05 * (np.clip(age, 17, 52) - 38) - 0.04 * np.clip(age - 62, 0, 15)
    return np.asarray(2.6 * people.married + 0.25 * people.male + 0.42 * (people.schooling - 9) + 0.8 * work + grown)


def _score_of_year(hours: Codes, gain: Codes, loss: Codes) -> Reals:
    capital = 4.5 * (gain > 5000) - 0.6 * ((gain > 0) & (gain <= 5000)) + 1.6 * (loss > 1800)
    return np.asarray(capital + 0.035 * (np.clip(hours, 10, 60) - 40))


# A synthetic population with the columns of the UCI Adult data set, for examples, tests and benchmarks.


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
    "workclass": tuple(WORKCLASS),
    "education": tuple(EDUCATION),
    "marital-status": tuple(MARITAL),
    "occupation": tuple(OCCUPATION),
    "relationship": tuple(RELATIONSHIP),
    "race": tuple(RACE),
    "sex": tuple(SEX),
    "native-country": tuple(COUNTRY),
    "income": ("<=50K", ">50K"),
}
_BANDS = len(AGE_BANDS) + 1


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
    country = choose(rng, per_group(COUNTRY), np.zeros(rows, np.int64))
    regions = [REGIONS.get(name, 0) for name in COUNTRY]
    race = choose(rng, per_group(RACE), np.array(regions)[country])
    weight = np.clip(rng.lognormal(12.0, 0.55, rows), 12_000, 1_500_000).astype(np.int64)
    return {"native-country": country, "race": race, "fnlwgt": weight}


def _life(rng: np.random.Generator, rows: int) -> dict[str, Codes]:
    """Sex, age, and what depends on them at home and at school."""
    sex = choose(rng, per_group(SEX), np.zeros(rows, np.int64))
    ages = np.arange(AGE_POINTS[0], AGE_POINTS[-1] + 1)
    age = ages[choose_any(rng, np.interp(ages, AGE_POINTS, AGE_WEIGHTS).tolist(), rows)]
    band = np.searchsorted(AGE_BANDS, age, side="right")
    marital = choose(rng, per_group(MARITAL), band + _BANDS * sex)
    relationship = choose(rng, per_group(RELATIONSHIP), _households(age, sex, marital))
    education = choose(rng, per_group(EDUCATION), band)
    return {
        "age": age,
        "sex": sex,
        "marital-status": marital,
        "relationship": relationship,
        "education": education,
        "education-num": education + 1,
    }


def _married(marital: Codes) -> Flags:
    return np.asarray(np.array([name in MARRIED for name in MARITAL])[marital])


def _households(age: Codes, sex: Codes, marital: Codes) -> Codes:
    """The group of the table of relationships."""
    never = marital == list(MARITAL).index("Never-married")
    return np.select([_married(marital), never], [sex, 2 + (age >= 25)], 4 + sex)


def _work(rng: np.random.Generator, life: dict[str, Codes]) -> dict[str, Codes]:
    """Occupation, class of worker, hours, gains, losses and income."""
    age, sex = life["age"], life["sex"]
    tier = np.array(TIERS)[life["education"]]
    men = per_group(OCCUPATION)
    weights = np.vstack([men, men * np.array([WOMEN[name] for name in OCCUPATION])])
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
        "workclass": choose(rng, per_group(WORKCLASS), stage),
        "hours-per-week": hours,
        "capital-gain": gain,
        "capital-loss": loss,
        "income": earns_more(rng, people, hours=hours, gain=gain, loss=loss).astype(np.int64),
    }
