"""Synthetic patients: names, dates of birth, postal codes, jobs and diagnoses."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.core.arguments import at_least
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.draws import Codes, Weights, choose, choose_any, labels, per_group
from sfumato.tables.hierarchy_files import hierarchy_files

# The hand-written weights behind the synthetic patients: names, regions, jobs and diagnoses.


_WOMEN = (
    "Alice Amelia Ana Anna Beatriz Carla Chloe Clara Diana Elena Ella Emma Eva Fatima Grace Hannah Ines Ingrid "
    "Irene Julia Karin Laura Lea Lena Lucia Maria Marta Mei Mia Nadia Nina Nora Olga Paula Rosa Sara Sofia Yuki Zoe"
)
WOMEN = tuple(_WOMEN.split())
_MEN = (
    "Adam Ahmed Alex Andre Anton Ben Bruno Carlos Daniel David Diego Emil Erik Felix Finn George Hugo Ivan Jakob "
    "James Jan Jonas Karl Leo Liam Lucas Luis Marco Martin Max Mehmet Noah Oliver Omar Otto Paul Peter Samuel Tom"
)
MEN = tuple(_MEN.split())
_FAMILIES = (
    "Adler Alvarez Baker Bauer Becker Berg Brown Carter Chen Clark Costa Cruz Davies Diaz Dubois Evans Fischer "
    "Flores Garcia Gomez Gray Haas Hansen Hill Hughes Ito Jones Kaya Keller Kim Klein Kowalski Lang Larsen Lee "
    "Lewis Lopez Meyer Miller Moore Moretti Nguyen Novak Olsen Ortega Park Patel Perez Petrov Reed Ricci Rossi "
    "Roy Santos Schmidt Silva Singh Smith Sousa Suzuki Taylor Torres Turner Vega Vogel Walker Wang Weber White "
    "Wilson Wolf Wood Wright Yilmaz Young Zhang Ziegler"
)
FAMILIES = tuple(_FAMILIES.split())

_REGIONS = (
    "010 011 017 021 024 028 031 038 041 048 060 063 071 078 085 100 104 112 117 121 135 142 151 163 191 "
    "200 212 233 275 303 331 377 432 481 554 606 640 733 802 941"
)
REGIONS = tuple(_REGIONS.split())
"""The first three digits of postal codes; the regions grow from the first to the last."""

AGE_POINTS = (0, 5, 18, 30, 45, 60, 75, 85, 95)
AGE_WEIGHTS = (14, 9, 8, 10, 13, 18, 20, 11, 1)
AGE_BANDS = (6, 18, 25, 45, 65)
"""A patient belongs to band i when i of these ages have been reached."""

# groups: the six age bands
JOBS: Weights = {
    "Pupil": (100, 100, 4, 0, 0, 0),
    "Student": (0, 0, 35, 4, 0, 0),
    "Retired": (0, 0, 0, 0, 9, 92),
    "Unemployed": (0, 0, 9, 7, 8, 0),
    "Nurse": (0, 0, 4, 6, 6, 0.2),
    "Physician": (0, 0, 0, 2.5, 2.5, 1),
    "Pharmacist": (0, 0, 0.2, 1, 1, 0.2),
    "Teacher": (0, 0, 1, 7, 7, 0.3),
    "Lecturer": (0, 0, 0.2, 1.5, 1.5, 0.4),
    "Clerk": (0, 0, 7, 12, 12, 0.5),
    "Accountant": (0, 0, 1, 4, 4, 0.4),
    "Lawyer": (0, 0, 0, 2, 2, 0.8),
    "Engineer": (0, 0, 1, 6, 5, 0.4),
    "Programmer": (0, 0, 3, 7, 3, 0.1),
    "Carpenter": (0, 0, 3, 3, 3, 0.1),
    "Electrician": (0, 0, 4, 4, 3, 0.1),
    "Plumber": (0, 0, 3, 3, 3, 0.1),
    "Driver": (0, 0, 4, 6, 7, 0.5),
    "Mechanic": (0, 0, 4, 4, 4, 0.1),
    "Cook": (0, 0, 5, 4, 3, 0.1),
    "Cleaner": (0, 0, 3, 4, 6, 0.6),
    "Salesperson": (0, 0, 9, 8, 7, 0.4),
    "Farmer": (0, 0, 1, 2, 3, 1.5),
    "Gardener": (0, 0, 1.5, 2, 2, 0.3),
}

# groups: men in the six age bands, then women in the six age bands
DIAGNOSES: Weights = {
    "A09.9": (14, 6, 3, 2, 1, 1, 14, 6, 3, 2, 1, 1),
    "B18.2": (0, 0, 0.5, 1.5, 1.5, 0.5, 0, 0, 0.3, 1, 1, 0.4),
    "B20": (0, 0.1, 1, 1.5, 0.8, 0.1, 0, 0.1, 0.4, 0.6, 0.3, 0.1),
    "C18.9": (0, 0, 0, 0.3, 2, 3.5, 0, 0, 0, 0.3, 1.5, 3),
    "C34.9": (0, 0, 0, 0.2, 2.5, 3, 0, 0, 0, 0.2, 1.5, 2),
    "C50.9": (0, 0, 0, 0, 0, 0.1, 0, 0, 0.1, 1.5, 5, 4),
    "C61": (0, 0, 0, 0, 2.5, 5, 0, 0, 0, 0, 0, 0),
    "E03.9": (0.2, 0.5, 0.5, 0.8, 1.2, 1.5, 0.3, 1, 2, 3, 4, 4),
    "E10.9": (0.8, 4, 2.5, 1.5, 1, 0.5, 0.8, 4, 2.5, 1.5, 1, 0.5),
    "E11.9": (0, 0.2, 0.6, 3, 9, 10, 0, 0.2, 0.6, 2.5, 7, 9),
    "E66.9": (0.3, 3, 3, 4, 3, 1, 0.3, 3, 4, 5, 4, 1.5),
    "E78.5": (0, 0, 0.6, 4, 8, 7, 0, 0, 0.5, 3, 7, 7),
    "F10.2": (0, 0.3, 4, 5, 4, 1, 0, 0.3, 1.5, 2, 1.5, 0.4),
    "F32.9": (0, 3, 7, 6, 4, 2, 0, 6, 12, 10, 7, 4),
    "F41.1": (0, 3, 6, 5, 3, 1, 0, 5, 10, 8, 5, 2),
    "F90.0": (3, 12, 3, 1, 0.2, 0, 1, 5, 2, 0.8, 0.2, 0),
    "G30.9": (0, 0, 0, 0, 0.2, 5, 0, 0, 0, 0, 0.2, 7),
    "G40.9": (2, 3, 2, 1.2, 1, 1, 2, 3, 2, 1.2, 1, 1),
    "G43.9": (0.1, 2, 2.5, 2.5, 1.5, 0.4, 0.1, 4, 7, 7, 4, 0.8),
    "I10": (0, 0.3, 2, 7, 15, 17, 0, 0.3, 1.5, 5, 13, 18),
    "I21.9": (0, 0, 0, 1, 4, 4, 0, 0, 0, 0.3, 1.5, 3),
    "I25.1": (0, 0, 0, 0.8, 5, 8, 0, 0, 0, 0.3, 2, 5),
    "I48.9": (0, 0, 0.1, 0.5, 3, 7, 0, 0, 0.1, 0.3, 1.8, 6),
    "I50.9": (0, 0, 0, 0.3, 2, 6, 0, 0, 0, 0.2, 1.3, 6),
    "I63.9": (0, 0, 0, 0.4, 2, 4, 0, 0, 0.1, 0.4, 1.5, 4),
    "J06.9": (34, 18, 12, 8, 4, 2, 34, 18, 12, 8, 4, 2),
    "J18.9": (10, 4, 2, 1.5, 2, 5, 10, 4, 2, 1.5, 2, 4),
    "J44.9": (0, 0, 0.1, 1, 4, 6, 0, 0, 0.1, 0.8, 3, 4),
    "J45.9": (12, 12, 6, 4, 2.5, 1.5, 9, 10, 7, 6, 4, 2),
    "K21.9": (1, 1.5, 3, 5, 5, 4, 1, 1.5, 3, 5, 5, 4),
    "K35.8": (1, 6, 5, 2.5, 1, 0.4, 0.8, 5, 4, 2, 0.8, 0.4),
    "K50.9": (0.1, 1.5, 2.5, 1.6, 0.8, 0.4, 0.1, 1.5, 2.5, 1.6, 0.8, 0.4),
    "M17.1": (0, 0, 0.1, 1, 4, 6, 0, 0, 0.1, 1, 5, 8),
    "M54.5": (0, 2, 8, 14, 12, 6, 0, 2, 8, 13, 12, 7),
    "M81.0": (0, 0, 0, 0.1, 0.4, 1, 0, 0, 0, 0.2, 3, 7),
    "N18.3": (0.1, 0.1, 0.2, 0.7, 2, 5, 0.1, 0.1, 0.2, 0.7, 2, 5),
    "N39.0": (1, 0.6, 0.6, 0.7, 1.2, 3, 3, 4, 7, 6, 5, 6),
    "N40.0": (0, 0, 0, 0.4, 5, 8, 0, 0, 0, 0, 0, 0),
    "N80.9": (0, 0, 0, 0, 0, 0, 0, 0.6, 3, 4, 0.6, 0),
    "O24.4": (0, 0, 0, 0, 0, 0, 0, 0.1, 1.2, 2, 0, 0),
    "O80": (0, 0, 0, 0, 0, 0, 0, 0.5, 8, 12, 0.1, 0),
    "S52.5": (4, 10, 3, 2, 1.5, 1.2, 3, 6, 2, 1.5, 3, 4),
    "S72.0": (0.1, 0.1, 0.2, 0.3, 0.6, 3, 0.1, 0.1, 0.1, 0.2, 0.9, 6),
}


# Synthetic patients: names, dates of birth, postal codes, jobs and diagnoses, for examples and tests.


TODAY = date(2025, 1, 1)
"""The day on which the patients have their ages."""

_BANDS = len(AGE_BANDS) + 1


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
    band = np.searchsorted(AGE_BANDS, age, side="right")
    columns = [
        _full_names(rng, sex).alias("name"),
        _birth_dates(rng, age).alias("birth_date"),
        _postal_codes(rng, rows).alias("postal_code"),
        labels(("Male", "Female"), sex).alias("sex"),
        labels(JOBS, choose(rng, per_group(JOBS), band)).alias("job"),
        labels(DIAGNOSES, choose(rng, per_group(DIAGNOSES), band + _BANDS * sex)).alias("diagnosis"),
    ]
    return pl.DataFrame(columns)


def patients_hierarchies() -> dict[str, Path]:
    """The hierarchy files of job and diagnosis; lines read ``leaf;parent;...;*``."""
    return hierarchy_files("patients")


def _ages(rng: np.random.Generator, rows: int) -> Codes:
    ages = np.arange(AGE_POINTS[0], AGE_POINTS[-1] + 1)
    return ages[choose_any(rng, np.interp(ages, AGE_POINTS, AGE_WEIGHTS).tolist(), rows)]


def _full_names(rng: np.random.Generator, sex: Codes) -> pl.Series:
    """Given and family name; the first family names of the list are the most frequent."""
    given = np.zeros((2, len(MEN) + len(WOMEN)))
    given[0, : len(MEN)] = 1
    given[1, len(MEN) :] = 1
    first = labels((*MEN, *WOMEN), choose(rng, given, sex))
    frequent = (1 / (5 + rank) for rank in range(len(FAMILIES)))
    return first + " " + labels(FAMILIES, choose_any(rng, list(frequent), sex.size))


def _birth_dates(rng: np.random.Generator, age: Codes) -> pl.Series:
    """A day in the year in which a person of that age was born."""
    days = TODAY.toordinal() - date(1970, 1, 1).toordinal() - np.floor((age + rng.random(age.size)) * 365.25)
    return pl.Series(days.astype(np.int32)).cast(pl.Date)


def _postal_codes(rng: np.random.Generator, rows: int) -> pl.Series:
    """A region, and in it mostly the lower of its hundred districts."""
    region = labels(REGIONS, choose_any(rng, range(8, 8 + len(REGIONS)), rows))
    district = np.floor(100 * rng.random(rows) ** 2).astype(np.int64)
    return region + labels((f"{number:02d}" for number in range(100)), district)
