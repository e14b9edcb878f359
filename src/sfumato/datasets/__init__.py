"""Data sets for examples, tests and benchmarks: synthetic people, and UCI Adult for those who have its files.

>>> from sfumato import datasets
>>> datasets.census(3, seed=1).height
3
"""

from sfumato.datasets.synthetic_blood import blood, blood_hierarchy
from sfumato.datasets.synthetic_census import census, census_hierarchies
from sfumato.datasets.synthetic_city import city
from sfumato.datasets.synthetic_icu import icu
from sfumato.datasets.synthetic_metro import metro
from sfumato.datasets.synthetic_patients import patients, patients_hierarchies
from sfumato.datasets.synthetic_quest import quest
from sfumato.datasets.uci_adult import adult

__all__ = [
    "adult",
    "blood",
    "blood_hierarchy",
    "census",
    "census_hierarchies",
    "city",
    "icu",
    "metro",
    "patients",
    "patients_hierarchies",
    "quest",
]
