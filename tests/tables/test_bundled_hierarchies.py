"""Every bundled hierarchy covers its column, has one depth, and gives each value one parent."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sfumato.tables.datasets.synthetic_census import (
    COUNTRY,
    EDUCATION,
    MARITAL,
    OCCUPATION,
    RACE,
    RELATIONSHIP,
    SEX,
    WORKCLASS,
    census,
    census_hierarchies,
)
from sfumato.tables.datasets.synthetic_patients import DIAGNOSES, JOBS, patients, patients_hierarchies
from sfumato.tables.datasets.uci_adult import adult, adult_folder

FILES = {**census_hierarchies(), **patients_hierarchies()}
DRAWABLE: dict[str, set[str]] = {
    "age": {str(age) for age in range(17, 91)},
    "workclass": set(WORKCLASS),
    "education": set(EDUCATION),
    "marital-status": set(MARITAL),
    "occupation": set(OCCUPATION),
    "relationship": set(RELATIONSHIP),
    "race": set(RACE),
    "sex": set(SEX),
    "native-country": set(COUNTRY),
    "job": set(JOBS),
    "diagnosis": set(DIAGNOSES),
}


def paths(file: Path) -> list[list[str]]:
    return [line.split(";") for line in file.read_text(encoding="utf-8").splitlines()]


def leaves(name: str) -> set[str]:
    return {path[0] for path in paths(FILES[name])}


@pytest.mark.parametrize("name", FILES)
def test_every_value_that_can_be_drawn_is_covered(name: str) -> None:
    assert leaves(name) >= DRAWABLE[name]


@pytest.mark.parametrize("name", FILES)
def test_the_file_is_a_tree(name: str) -> None:
    lines = paths(FILES[name])
    assert len({len(line) for line in lines}) == 1
    assert {line[-1] for line in lines} == {"*"}
    assert len({line[0] for line in lines}) == len(lines)
    assert all(label and label == label.strip() for line in lines for label in line)
    for level in range(len(lines[0]) - 1):
        steps = {(line[level], line[level + 1]) for line in lines}
        assert len(steps) == len({below for below, _ in steps}), f"a value of level {level} has two parents"
        assert len({above for _, above in steps}) < len(steps) or level == 0


@pytest.mark.parametrize("frame", [census(3_000, seed=1), patients(3_000, seed=1)], ids=["census", "patients"])
def test_what_is_drawn_is_covered(frame: pl.DataFrame) -> None:
    for name in set(FILES) & set(frame.columns):
        assert set(frame[name].cast(pl.String)) <= leaves(name)


@pytest.mark.skipif(
    adult_folder() is None, reason="the UCI Adult files are not on this machine (see sfumato.tables.datasets.uci_adult)"
)
def test_the_real_adult_is_covered_too() -> None:
    people = adult()
    for name in census_hierarchies():
        assert set(people[name].cast(pl.String)) <= leaves(name)
