"""Synthetic patients: names, dates of birth, postal codes, jobs and diagnoses, for examples and tests."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.data.bundled import hierarchy_files
from sfumato.datasets import patients_shape as shape
from sfumato.datasets.draws import Codes, choose, choose_any, labels, per_group
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance

TODAY = date(2025, 1, 1)
"""The day on which the patients have their ages."""

_BANDS = len(shape.AGE_BANDS) + 1


def patients(rows: int, seed: int) -> pl.DataFrame:
    """Patients who do not exist, drawn from hand-written tables; equal seeds give equal patients.

    The job depends on the age, the diagnosis (an ICD-10 code) on age and sex. Postal codes are text:
    one in five begins with a zero.

    >>> patients(1, seed=1).columns
    ['name', 'birth_date', 'postal_code', 'sex', 'job', 'diagnosis']
    """
    at_least("rows", rows, 0)
    at_least("seed", seed, 0)
    rng = Chance(seed=seed).generator()
    sex = choose_any(rng, (46, 54), rows)
    age = _ages(rng, rows)
    band = np.searchsorted(shape.AGE_BANDS, age, side="right")
    columns = [
        _full_names(rng, sex).alias("name"),
        _birth_dates(rng, age).alias("birth_date"),
        _postal_codes(rng, rows).alias("postal_code"),
        labels(("Male", "Female"), sex).alias("sex"),
        labels(shape.JOBS, choose(rng, per_group(shape.JOBS), band)).alias("job"),
        labels(shape.DIAGNOSES, choose(rng, per_group(shape.DIAGNOSES), band + _BANDS * sex)).alias("diagnosis"),
    ]
    return pl.DataFrame(columns)


def patients_hierarchies() -> dict[str, Path]:
    """The hierarchy files of job and diagnosis; lines read ``leaf;parent;...;*``."""
    return hierarchy_files("patients")


def _ages(rng: np.random.Generator, rows: int) -> Codes:
    ages = np.arange(shape.AGE_POINTS[0], shape.AGE_POINTS[-1] + 1)
    return ages[choose_any(rng, np.interp(ages, shape.AGE_POINTS, shape.AGE_WEIGHTS).tolist(), rows)]


def _full_names(rng: np.random.Generator, sex: Codes) -> pl.Series:
    """Given and family name; the first family names of the list are the most frequent."""
    given = np.zeros((2, len(shape.MEN) + len(shape.WOMEN)))
    given[0, : len(shape.MEN)] = 1
    given[1, len(shape.MEN) :] = 1
    first = labels((*shape.MEN, *shape.WOMEN), choose(rng, given, sex))
    frequent = (1 / (5 + rank) for rank in range(len(shape.FAMILIES)))
    return first + " " + labels(shape.FAMILIES, choose_any(rng, list(frequent), sex.size))


def _birth_dates(rng: np.random.Generator, age: Codes) -> pl.Series:
    """A day in the year in which a person of that age was born."""
    days = TODAY.toordinal() - date(1970, 1, 1).toordinal() - np.floor((age + rng.random(age.size)) * 365.25)
    return pl.Series(days.astype(np.int32)).cast(pl.Date)


def _postal_codes(rng: np.random.Generator, rows: int) -> pl.Series:
    """A region, and in it mostly the lower of its hundred districts."""
    region = labels(shape.REGIONS, choose_any(rng, range(8, 8 + len(shape.REGIONS)), rows))
    district = np.floor(100 * rng.random(rows) ** 2).astype(np.int64)
    return region + labels((f"{number:02d}" for number in range(100)), district)
