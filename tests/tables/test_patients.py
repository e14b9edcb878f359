"""The synthetic patients have what patients have, and diagnoses that suit them."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from sfumato.core.errors import ParameterError
from sfumato.tables.datasets.synthetic_patients import TODAY, patients

PATIENTS = patients(20_000, seed=5)
AGE = (pl.lit(TODAY) - pl.col("birth_date")).dt.total_days() / 365.25


def values(diagnosis: str) -> pl.DataFrame:
    return PATIENTS.filter(diagnosis=diagnosis).with_columns(age=AGE)


def test_columns_and_types() -> None:
    expected = dict.fromkeys(["name", "birth_date", "postal_code", "sex", "job", "diagnosis"], pl.String())
    expected["birth_date"] = pl.Date()  # type: ignore[assignment]
    assert dict(PATIENTS.schema) == expected
    assert dict(patients(0, seed=1).schema) == expected
    assert sum(PATIENTS.null_count().row(0)) == 0


def test_equal_seeds_give_equal_patients() -> None:
    assert patients(300, seed=1).equals(patients(300, seed=1))
    assert not patients(300, seed=1).equals(patients(300, seed=2))


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ParameterError, match="rows must be at least 0, not -1"):
        patients(-1, seed=1)


def test_postal_codes_are_five_digits_in_forty_regions() -> None:
    codes = PATIENTS["postal_code"]
    assert codes.str.contains(r"^\d{5}$").all()
    assert 0.1 < codes.str.starts_with("0").mean() < 0.4  # type: ignore[operator]
    assert codes.str.head(3).n_unique() == 40
    assert codes.n_unique() > 2_000


def test_names_collide_and_follow_the_sex() -> None:
    assert PATIENTS["name"].str.contains(r"^\w+ \w+$").all()
    assert 2_000 < PATIENTS["name"].n_unique() < PATIENTS.height / 2
    given = PATIENTS.with_columns(pl.col("name").str.extract(r"^(\w+)")).group_by("name").agg(pl.col("sex").n_unique())
    assert given["sex"].max() == 1


def test_birth_dates_lie_within_a_life() -> None:
    assert date(1928, 1, 1) < PATIENTS["birth_date"].min()  # type: ignore[operator]
    assert PATIENTS["birth_date"].max() <= TODAY  # type: ignore[operator]


def test_diagnoses_suit_age_and_sex() -> None:
    assert set(values("C61")["sex"]) == set(values("N40.0")["sex"]) == {"Male"}
    assert set(values("O80")["sex"]) == {"Female"}
    assert values("G30.9")["age"].median() > 65  # type: ignore[operator]
    assert values("J06.9")["age"].median() < 30  # type: ignore[operator]
    assert PATIENTS["diagnosis"].str.contains(r"^[A-Z]\d{2}(\.\d)?$").all()


def test_jobs_suit_the_age() -> None:
    aged = PATIENTS.with_columns(age=AGE)
    assert set(aged.filter(pl.col("age") < 17)["job"]) == {"Pupil"}
    assert aged.filter(job="Retired")["age"].min() > 44  # type: ignore[operator]
    assert aged["job"].n_unique() >= 20
