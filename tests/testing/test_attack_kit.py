"""Every attack of the catalog passes the kit; attacks that are known to be bad do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.linkage import Linkage
from sfumato.attacks.lowered_thresholds import SanitizedSubject
from sfumato.attacks.pseudonyms import PseudonymizedColumn
from sfumato.attacks.randomized_answers import Coin, CoinedQuestion, NoisyColumns, RandomizedAnswers
from sfumato.attacks.sparse_sets import ItemSubject
from sfumato.attacks.subject import Shifts, Subject
from sfumato.attacks.trees import ToldTree, TreeSubject
from sfumato.core.randomness import Chance
from sfumato.counts.sensitive_patterns import Pattern
from sfumato.counts.transactions import Transactions
from sfumato.models import KAnonymity
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.tables.datasets.synthetic_census import census
from sfumato.testing.attacks import (
    BrokenAttack,
    census_subject,
    check_attack,
    failed_trials_are_no_resistance,
    raw_subject,
    refuses,
)
from tests.attacks.test_definetti import COLUMNS, bucketized, made
from tests.attacks.test_minimality import HIV, naive_minimal, random_pairs
from tests.attacks.test_tree_attacks import merged_leaves

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")


@cache
def raw() -> Subject:
    """A census published as it is, with a tree over its sensitive column and people who are not in it."""
    people = census(1500, seed=1)
    jobs = people["occupation"].cast(pl.String).unique()
    trees = {"occupation": {job: ("low" if job < "M" else "high",) for job in jobs}}
    return raw_subject(people, QUASI, ("occupation", "hours-per-week"), control=census(1500, seed=2), trees=trees)


def homes(people: pl.DataFrame) -> pl.DataFrame:
    """Three neighbours in the table live together."""
    return people.with_columns(home=(pl.int_range(pl.len()) // 3).cast(pl.String))


def sets() -> ItemSubject:
    """Baskets published as they are."""
    draw = np.random.default_rng(1)
    people = pl.Series([draw.choice(60, 6, replace=False).astype(str).tolist() for _ in range(400)])
    return ItemSubject(released=people, people=people, covers={})


def noisy_factor() -> RandomizedAnswers:
    """A hundred columns that are one number, each with noise of three times its size."""
    draw = np.random.default_rng(4)
    shown = draw.normal(size=(800, 1)) + 3 * draw.normal(size=(800, 100))
    each = np.ones(100)
    names = tuple(map(str, range(100)))
    columns = NoisyColumns(names=names, shown=shown, deviation=3 * each, spread=each, span=4 * each)
    return RandomizedAnswers(rows=800, numbers=columns, questions=())


def kept_answers() -> RandomizedAnswers:
    """Four answers, equally frequent, that nearly everybody shows as they are."""
    coin = Coin(chances=np.eye(4) + 1e-3, shares=np.full(4, 0.25), codes=np.arange(400) % 4)
    question = CoinedQuestion(name="job", coins=(coin,), epsilon=7.0, promise="7")
    return RandomizedAnswers(rows=400, numbers=None, questions=(question,))


def bare_leaves() -> TreeSubject:
    """Two trees whose leaves have one class each, and people elsewhere who do not follow them."""
    truth = np.arange(800) % 2
    tree = ToldTree(shares=np.eye(2), sizes=np.array([400, 400]), inside=truth, outside=truth)
    return TreeSubject(trees=(tree,), earlier=(tree,), truth=truth, outside_truth=1 - truth)


def moved_visits() -> Subject:
    """Dates near both ends of a year, moved by up to a year."""
    dice = np.random.Generator(np.random.PCG64(4))
    person = np.repeat(np.arange(400), 2)
    true = 735_000 + np.tile([3, 362], 400)
    shifts = Shifts(
        people=400, person=person, day=true + np.repeat(dice.integers(-365, 366, 400), 2), days=365, weeks=False,
        first=735_000, last=735_365, weekdays=np.ones(7, np.bool_),
    )  # fmt: skip
    return replace(raw(), shifts=shifts)


def hidden_pairs() -> SanitizedSubject:
    """Fifteen pairs that go together a little less often than is looked for, and nothing else that does."""
    records = Transactions.of([[f"a{place % 15}", f"b{place % 15}"] for place in range(600)])
    pairs = tuple(Pattern.of([f"a{place}", f"b{place}"]) for place in range(15))
    return SanitizedSubject(sure=records, possible=records, patterns=pairs, min_support=0.1, min_confidence=0.5)


def coded(column: str, *, codes: bool) -> PseudonymizedColumn:
    """A column of a census with its own values for codes or aliases."""
    cells = tuple(raw().people[column].to_list())
    return PseudonymizedColumn(name=column, shown=cells, true=cells, codes=codes)


JOBS = ("confidence-bounding", {"templates": [{"column": "occupation", "value": "Sales", "limit": 0.2}]})
"""A claim that names a value."""
SUBJECTS: dict[str, Callable[[], Any]] = {
    "minimality": lambda: naive_minimal(random_pairs(1500, 0.3, seed=2), 2),
    "definetti": lambda: bucketized(made(2000, 1, together=True), "ill", 3, COLUMNS),
    "foreground": lambda: bucketized(made(2000, 1, together=True), "ill", 3, COLUMNS),
    "protected-values": lambda: replace(raw(), claims=(JOBS,)),
    "households": lambda: replace(raw(), people=homes(raw().people), together="home"),
    "membership": lambda: census_subject(1500),
    "linkability": census_subject,
    "inference": census_subject,
    "singling-out": census_subject,
    "sparse": sets,
    "lowered-thresholds": hidden_pairs,
    "known-plaintext": lambda: coded("age", codes=True),
    "frequency": lambda: coded("occupation", codes=False),
    "spectral": noisy_factor,
    "bayes-guess": kept_answers,
    **dict.fromkeys(("tree-inference", "tree-membership", "tree-combination"), bare_leaves),
    "tree-minimality": merged_leaves,
    "date-shift": moved_visits,
    "nearest-record": lambda: replace(raw(), own=np.arange(raw().release.height)),
    "nearest-neighbour": lambda: replace(raw(), synthetic=True),
}
"""Attacks that need a release of their own kind; all others are tried on a census as it is."""
SHOWN_ELSEWHERE = ("divergence",)
"""Groups that are unlike all others need not be in a plain table; its own tests have some."""


@pytest.mark.parametrize("name", catalog().attacks)
def test_every_attack_passes(name: str):
    attack = catalog().attacks[name].make(1000 if name in ("membership", "nearest-neighbour") else 200)
    attack = replace(attack, values=(HIV,)) if name == "minimality" else attack
    assert is_dataclass(attack)
    assert type(attack).name == name
    found = check_attack(attack, SUBJECTS.get(name, raw)(), works=name not in SHOWN_ELSEWHERE)
    assert found.attack == name
    refuses(type(attack), trials=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boaster(Linkage):
    """Never fails: says that it found everybody, whatever the release shows."""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        found = super(Boaster, self).run(subject, chance, limit)
        return replace(found, rate=Rate(hits=found.rate.trials, trials=found.rate.trials))


@dataclass(frozen=True, slots=True, kw_only=True)
class Idler(Linkage):
    """Never finds anybody."""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        found = super(Idler, self).run(subject, chance, limit)
        return replace(found, rate=Rate(hits=0, trials=found.rate.trials))


@dataclass(frozen=True, slots=True, kw_only=True)
class Roller(Linkage):
    """Has dice of its own."""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        return super(Roller, self).run(subject, Chance(), limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetful(Linkage):
    """Forgets what was promised."""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        return super(Forgetful, self).run(subject, chance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Praising(Linkage):
    """Says more than it knows."""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        return replace(super(Praising, self).run(subject, chance, limit), note="this release is safe")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choosy(Linkage):
    """Counts a trial that failed as one that was made and did not work."""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        found = super(Choosy, self).run(subject, chance, limit)
        return replace(found, rate=replace(found.rate, failed=0))


@pytest.mark.parametrize(
    ("attack", "law"),
    [
        (Boaster(trials=100), "learns nothing from a release that shows nothing"),
        (Idler(trials=100), "works on the raw table"),
        (Roller(trials=100), "equal seeds give equal findings"),
        (Forgetful(trials=100), "the limit that it is given"),
        (Praising(trials=100), "no finding says that a release resists"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_is_known_to_be_bad_is_caught(attack: Any, law: str):
    with pytest.raises(BrokenAttack, match=law):
        check_attack(attack, census_subject(400))


def test_failed_trials_must_be_told():
    subject = census_subject(400)
    fewer = replace(subject, release=subject.release[:100], control=None)
    failed_trials_are_no_resistance(Linkage(trials=100).run(fewer, Chance(seed=1)))
    with pytest.raises(BrokenAttack, match="failed trials are counted"):
        failed_trials_are_no_resistance(Choosy(trials=100).run(fewer, Chance(seed=1)))


def test_options_that_are_nonsense_must_be_refused():
    with pytest.raises(BrokenAttack, match="trials = 3 is refused"):
        refuses(Linkage, trials=3)
    with pytest.raises(BrokenAttack, match="names it"):
        refuses(lambda wrong: KAnonymity(k=0), wrong=1)
