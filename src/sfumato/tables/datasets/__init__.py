"""Data sets for examples, tests and benchmarks: synthetic people, and UCI Adult for those who have its files.

>>> from sfumato import datasets
>>> datasets.census(3, seed=1).height
3
"""

from sfumato.tables.datasets.stand_ins import blood, blood_hierarchy, icu, quest
from sfumato.tables.datasets.synthetic_census import census, census_hierarchies
from sfumato.tables.datasets.synthetic_city import city
from sfumato.tables.datasets.synthetic_metro import metro
from sfumato.tables.datasets.synthetic_patients import patients, patients_hierarchies
from sfumato.tables.datasets.uci_adult import adult

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
