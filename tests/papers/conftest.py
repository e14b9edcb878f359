"""Experiments on few rows: whether they run and say something is tested here, their figures are measured elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from sfumato.algorithms.diffgen import DiffGen
from sfumato.mining.diversity_experiment import Diversity, diversity_study
from sfumato.mining.experiment import Experiment
from sfumato.mining.records import read_records
from sfumato.mining.sharing_experiment import Trials, sharing_study
from sfumato.papers import (
    bottom_up,
    diffgen_adult,
    diffgen_compared,
    diffgen_health,
    graded_adult,
    joint_adult,
    lkc,
    setup,
    shared_trees,
    trajectories,
)
from sfumato.papers.setup import AdultData
from sfumato.papers.trajectories import Paths
from sfumato.tables.datasets.synthetic_census import census
from sfumato.tables.datasets.synthetic_city import city
from sfumato.tables.datasets.synthetic_metro import metro


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
        bottom_up,
        bottom_up,
        diffgen_adult,
        diffgen_compared,
        diffgen_adult,
        graded_adult,
        joint_adult,
        lkc,
    )
    for module in adults:
        monkeypatch.setattr(module, "adult_data", lambda: few)
    monkeypatch.setattr(diffgen_adult, "adult_trial", diffgen_adult.adult_trial.__wrapped__)
    monkeypatch.setattr(diffgen_adult, "varied", lambda frame, rows, kept: setup.varied(frame, rows // 100, kept))
    monkeypatch.setattr(lkc, "varied", lambda frame, rows, kept: setup.varied(frame, rows // 100, kept))
    monkeypatch.setattr(bottom_up, "_counted", lambda frame, full: [])
    monkeypatch.setattr(trajectories, "_ks", lambda full: (10, 30, 50))
    monkeypatch.setattr(lkc, "RECORDS", 900)
    monkeypatch.setattr(diffgen_health, "RECORDS", 900)
    monkeypatch.setattr(diffgen_adult, "SCORES", {"max": "Max", "gain": "InfoGain"})
    monkeypatch.setattr(diffgen_adult, "DiffGen", few_steps)
    town = Paths.of("city", city(200, seed=1), "diagnosis", "HIV")
    trains = Paths.of("metro", metro(150, seed=1), "status", "Unemployed")
    monkeypatch.setattr(trajectories, "city_paths", lambda full: town)
    monkeypatch.setattr(trajectories, "metro_paths", lambda full: trains)
    monkeypatch.setattr(trajectories, "metro", lambda rows, seed: metro(rows // 100, seed=seed))
    monkeypatch.setattr(shared_trees, "_found", lambda full, work: few_trees())
    diffgen_health._split.cache_clear()
    graded_adult.adult_pair.cache_clear()
    yield
    diffgen_health._split.cache_clear()
    graded_adult.adult_pair.cache_clear()
