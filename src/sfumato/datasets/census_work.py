"""Hours, gains, losses and income of the synthetic census."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.datasets.draws import Codes, Flags, Reals, choose_any

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
