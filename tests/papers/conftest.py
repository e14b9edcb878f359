"""Experiments on few rows: whether they run and say something is tested here, their figures are measured elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from sfumato.datasets.synthetic_census import census
from sfumato.datasets.synthetic_city import city
from sfumato.datasets.synthetic_metro import metro
from sfumato.mine.diversity_experiment import Diversity, diversity_study
from sfumato.mine.experiment import Experiment
from sfumato.mine.records import read_records
from sfumato.mine.sharing_experiment import Trials, sharing_study
from sfumato.papers import (
    bottom_up_adult,
    bottom_up_scaling,
    diffgen_adult,
    diffgen_compared,
    diffgen_health,
    diffgen_trial,
    graded_adult,
    inputs,
    joint_adult,
    lkc_adult,
    lkc_blood,
    path_losses,
    shared_trees,
)
from sfumato.papers.inputs import AdultData
from sfumato.papers.paths_measured import Paths
from sfumato.publish.diffgen import DiffGen


@cache
def few_trees() -> Experiment:
    """What the experiments of document 004 measure, on a few people."""
    columns = ["age", "education", "marital-status", "sex"]
    records = read_records(census(300, seed=2), target="income", columns=columns)
    trials = Trials(folds=2, tested=1, passes=1, sources=(1, 3))
    asked = (Diversity(c=5, l=2), Diversity(l=2))
    ends = replace(trials, sources=(1, 10))
    return Experiment(
        quick=True,
        rows=(),
        sharing=sharing_study("census", records, trials, learners=("tree", "bayes", "rule")),
        diversity=diversity_study("census", records, asked, ends, quasi=["age", "sex"], seconds=0.1),
    )


def few_steps(**asked: Any) -> DiffGen:
    """DiffGen with so few specializations that there are few groups to count."""
    return DiffGen(**{**asked, "specializations": 4})


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every data set as a handful of rows."""
    few = AdultData(frame=census(900, seed=1), folder=None, words="A few synthetic rows.")
    adults = (
        bottom_up_adult,
        bottom_up_scaling,
        diffgen_adult,
        diffgen_compared,
        diffgen_trial,
        graded_adult,
        joint_adult,
        lkc_adult,
    )
    for module in adults:
        monkeypatch.setattr(module, "adult_data", lambda: few)
    monkeypatch.setattr(diffgen_adult, "adult_trial", diffgen_trial.adult_trial.__wrapped__)
    monkeypatch.setattr(diffgen_adult, "varied", lambda frame, rows, kept: inputs.varied(frame, rows // 100, kept))
    monkeypatch.setattr(lkc_adult, "varied", lambda frame, rows, kept: inputs.varied(frame, rows // 100, kept))
    monkeypatch.setattr(bottom_up_scaling, "_counted", lambda frame, full: [])
    monkeypatch.setattr(path_losses, "_ks", lambda full: (10, 30, 50))
    monkeypatch.setattr(lkc_blood, "RECORDS", 900)
    monkeypatch.setattr(diffgen_health, "RECORDS", 900)
    monkeypatch.setattr(diffgen_adult, "SCORES", {"max": "Max", "gain": "InfoGain"})
    monkeypatch.setattr(diffgen_adult, "DiffGen", few_steps)
    town = Paths.of("city", city(200, seed=1), "diagnosis", "HIV")
    trains = Paths.of("metro", metro(150, seed=1), "status", "Unemployed")
    monkeypatch.setattr(path_losses, "city_paths", lambda full: town)
    monkeypatch.setattr(path_losses, "metro_paths", lambda full: trains)
    monkeypatch.setattr(path_losses, "metro", lambda rows, seed: metro(rows // 100, seed=seed))
    monkeypatch.setattr(shared_trees, "_found", lambda full, work: few_trees())
    diffgen_health._split.cache_clear()
    graded_adult.adult_pair.cache_clear()
    yield
    diffgen_health._split.cache_clear()
    graded_adult.adult_pair.cache_clear()
