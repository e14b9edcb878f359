"""Estimators in pipelines: fitted on some records, applied to others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from sfumato.core.errors import DataError, Infeasible, ParameterError
from sfumato.sklearn import BottomUpGeneralizer, FullDomainGeneralizer, TopDownSpecializer

ESTIMATORS = (TopDownSpecializer, BottomUpGeneralizer, FullDomainGeneralizer)


def records(rows: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    job = np.array(["doctor", "lawyer", "mover", "janitor"])[rng.integers(0, 4, rows)]
    age = rng.integers(20, 60, rows)
    rich = np.isin(job, ["doctor", "lawyer"]) & (age >= 40)
    return pd.DataFrame({"job": job, "age": age, "ill": rng.choice(["flu", "cold", "hiv"], rows)}), np.where(
        rich, "high", "low"
    )


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_pipeline_learns_from_recoded_records(make: type) -> None:
    x, y = records()
    tree = {"tree": {"Any": {"white": ["doctor", "lawyer"], "blue": ["mover", "janitor"]}}}
    ages = {"kind": "intervals", "widths": [10, 20], "low": 0, "high": 100}
    options = {"score": "information"} if make is BottomUpGeneralizer else None
    estimator = make({"k_anonymity": 5}, hierarchies={"job": tree, "age": ages}, sensitive="ill", options=options)
    scores = cross_val_score(make_pipeline(estimator, DecisionTreeClassifier(random_state=0)), x, y, cv=3)
    assert scores.mean() > 0.9
    assert clone(estimator).get_params()["sensitive"] == "ill"


def test_parameters_can_be_searched() -> None:
    x, y = records(200)
    pipe = make_pipeline(TopDownSpecializer(), DecisionTreeClassifier(random_state=0))
    grid = {"topdownspecializer__privacy": [{"k_anonymity": 2}, {"k_anonymity": 50}]}
    found = GridSearchCV(pipe, grid, cv=2).fit(x.drop(columns="ill"), y)
    assert found.best_params_["topdownspecializer__privacy"]["k_anonymity"] in (2, 50)


def test_labels_come_back_as_the_frame_that_went_in() -> None:
    x, y = records(100)
    for frame in (x, pl.from_pandas(x)):
        estimator = TopDownSpecializer(output="labels", sensitive="ill").fit(frame, y)
        shown = estimator.transform(frame)
        assert type(shown) is type(frame)
        assert list(shown.columns) == ["job", "age", "ill"]
        assert list(estimator.get_feature_names_out()) == ["job", "age", "ill"]
    told = TopDownSpecializer(sensitive="ill").fit(x, y)
    assert told.transform(x).shape == (100, len(told.get_feature_names_out()))


def test_arrays_have_columns_by_number() -> None:
    x = np.array([[20, 1], [21, 1], [40, 2], [41, 2]] * 5)
    estimator = TopDownSpecializer({"k_anonymity": 4}).fit(x, ["a", "a", "b", "b"] * 5)
    assert estimator.n_features_in_ == 2
    assert estimator.transform(x).shape[0] == 20
    with pytest.raises(DataError, match="dimensions"):
        estimator.transform(np.array([1, 2, 3]))


def test_values_that_were_not_fitted_say_nothing() -> None:
    x, y = records(100)
    flat = FullDomainGeneralizer({"k_anonymity": 1}, sensitive="ill", output="labels").fit(x, y)
    new = x.head(1).assign(job="astronaut")
    assert flat.transform(new)["job"].iloc[0] == "*"
    strict = FullDomainGeneralizer({"k_anonymity": 1}, sensitive="ill", outside="refuse").fit(x, y)
    with pytest.raises(DataError, match="astronaut"):
        strict.transform(new)


def test_wrong_input_is_told() -> None:
    x, y = records(50)
    with pytest.raises(Infeasible):
        TopDownSpecializer({"k_anonymity": 51}, sensitive="ill").fit(x, y)
    with pytest.raises(ParameterError, match="sensitive"):
        TopDownSpecializer(sensitive="nothing").fit(x, y)
    with pytest.raises(ParameterError, match="hierarchies"):
        TopDownSpecializer(hierarchies={"zip": {"kind": "flat"}}).fit(x, y)
    with pytest.raises(ParameterError, match="as many as"):
        TopDownSpecializer().fit(x, y[:3])
    with pytest.raises(DataError, match="no column 'age'"):
        TopDownSpecializer(sensitive="ill").fit(x, y).transform(x.drop(columns="age"))
    with pytest.raises(DataError, match="no rows"):
        TopDownSpecializer().fit(x.head(0))


def test_missing_numbers_and_an_index_survive() -> None:
    x, y = records(100)
    x = x.drop(columns="ill").set_index(np.arange(1000, 1100))
    holes = x.astype({"age": float})
    holes.iloc[3, 1] = np.nan
    estimator = TopDownSpecializer(output="labels").fit(x, y)
    shown = estimator.transform(holes)
    assert list(shown.index) == list(x.index)
    assert (shown.drop(index=1003) == estimator.transform(x).drop(index=1003)).all(axis=None)
    told = TopDownSpecializer().fit(np.array([[1.0, np.nan], [2.0, 3.0]] * 10), ["a", "b"] * 10)
    assert told.transform(np.array([[1.0, np.nan]])).shape[0] == 1
    numbered = x.set_axis([0, 1], axis=1)
    assert TopDownSpecializer().fit(numbered, y).transform(numbered).shape[0] == 100
    with pytest.raises(DataError, match="no rows"):
        estimator.transform(x.head(0))
    with pytest.raises(ParameterError, match="classes must be a list"):
        TopDownSpecializer().fit(x, 3)
