"""Sets: scores worked out by hand, raw baskets, and releases that keep their claim."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.finding import Limit, Outcome
from sfumato.attacks.sparse_sets import ItemSubject, SparseSets
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from tests.attacks.kit import failed_trials_are_no_resistance, refuses
from tests.weights import examples

G4 = ["b2 d3 c4 f6 c7", "f6 c7 e8", "d3 c4 f6 e8", "b2 c5 c7 e8", "d3 c7 e8", "c5 f6 e8", "b2 f6 c7 e8", "b2 c5 f6 c7"]
G4_RELEASED = ["d3 f6 c7", "f6 c7 e8", "d3 f6 e8", "c5 c7 e8", "d3 c7 e8", "c5 f6 e8", "f6 c7 e8", "c5 f6 c7"]
DISEASES = ["AIDS", "Flu", "Fever", "Flu", "Fever", "Diabetes", "Diabetes", "AIDS"]


def sets(lines: list[str]) -> pl.Series:
    return pl.Series([line.split() for line in lines], dtype=pl.List(pl.String))


def baskets(rows: int, items: int, size: int, *, seed: int = 1) -> pl.Series:
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, items + 1)
    flat = rng.choice(items, size=rows * size, p=shares / shares.sum()).astype(str)
    return pl.Series([sorted(set(one)) for one in flat.reshape(rows, size)], dtype=pl.List(pl.String))


def plain(items: pl.Series, **more) -> ItemSubject:
    return ItemSubject(released=items, people=items, covers={}, **more)


def test_few_items_find_most_people():
    subject = plain(baskets(2000, 500, 8))
    rates = []
    for m in (1, 2, 4, 8):
        found = SparseSets(m=m).run(subject, Chance(seed=1))
        assert found.rate.failed == 0
        rates.append(found.rate.value)
    assert rates == sorted(rates)
    assert rates[2] > 0.8
    assert found.outcome is Outcome.REFUTED
    assert found.naive.value == pytest.approx(1 / 2000)
    wrong = SparseSets(m=4, wrong=1).run(subject, Chance(seed=1))
    assert wrong.rate.value > 0.5, "one wrong item of five does not protect"
    sure = SparseSets(m=4, eccentricity=1.5).run(subject, Chance(seed=1))
    assert sure.rate.value <= rates[2]
    assert sure.figures["right"] > 0.95


def test_a_release_that_shows_nothing():
    subject = plain(baskets(300, 50, 5), secret=(pl.Series(["x", "y", "y"] * 100), pl.Series(["x", "y", "y"] * 100)))
    found = SparseSets().run(subject.without_release(), Chance(seed=1))
    assert found.rate.value == pytest.approx(1 / 300)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.figures["told"] == pytest.approx(2 / 3)
    assert (
        SparseSets(m=2).run(subject, Chance(seed=3)).to_json() == SparseSets(m=2).run(subject, Chance(seed=3)).to_json()
    )


def test_g4_the_published_paths_keep_their_claim():
    """Raw: c4 and c7 are record 1 alone. Released, whatever two places are known, two records at least are best."""
    raw = ItemSubject(released=sets(G4), people=sets(G4), covers={}, secret=(pl.Series(DISEASES), pl.Series(DISEASES)))
    shown = replace(raw, released=sets(G4_RELEASED), covers={"b2": None, "c4": None})
    most = {"raw": 0.0, "shown": 0.0}
    for seed in range(20):
        found = SparseSets(m=2).run(raw, Chance(seed=seed))
        most["raw"] = max(most["raw"], found.worst or 0)
        kept = SparseSets(m=2).run(shown, Chance(seed=seed), Limit(value=0.5, why="K = 2"))
        most["shown"] = max(most["shown"], kept.worst or 0)
        assert kept.outcome is not Outcome.REFUTED
    assert most == {"raw": 1.0, "shown": 0.5}


def test_a_generalized_release():
    """Items of a pair are shown as the pair: records that differ within pairs are found no more."""
    people = sets(["a1 b1", "a2 b1", "a1 b2", "a2 b2"] * 10)
    covers = {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}
    shown = ItemSubject(released=sets(["a b"] * 40), people=people, covers=covers)
    assert SparseSets(m=2).run(shown, Chance(seed=1)).rate.value == pytest.approx(1 / 40)
    assert SparseSets(m=2).run(plain(people), Chance(seed=1)).rate.value == pytest.approx(1 / 10)


@examples(60)
@given(st.lists(st.sets(st.sampled_from("abcdef"), max_size=4), min_size=2, max_size=8))
def test_scores_by_the_definition(people):
    """All items known: the chance of each person from scores of all records, written out."""
    lines = [sorted(one) for one in people]
    found = SparseSets(m=6).run(plain(pl.Series(lines, dtype=pl.List(pl.String))), Chance(seed=1))
    support = {item: sum(item in one for one in people) for item in "abcdef"}
    hits, failed = 0.0, 0
    for place, own in enumerate(people):
        scores = [sum(1 / log(1 + support[item]) for item in own & one) for one in people]
        best = [at for at, score in enumerate(scores) if score >= max(scores) - 1e-9]
        failed += not own
        hits += (place in best) / len(best) if own else 0
    assert found.rate.hits == pytest.approx(hits)
    assert found.rate.failed == failed


def test_people_who_cannot_be_looked_for():
    """Items that are left out, no items at all, and people without a record."""
    people = sets(["a b", "c d", ""] * 10)
    shown = ItemSubject(
        released=sets(["a b"] * 10),
        people=people,
        covers={"c": None, "d": None},
        record=np.array([x for i in range(10) for x in (i, -1, -1)]),
    )
    found = SparseSets().run(shown, Chance(seed=1))
    assert found.rate.failed == 20
    assert found.rate.hits == pytest.approx(10 * 1 / 10)
    failed_trials_are_no_resistance(found)
    every = SparseSets().run(replace(shown, covers=dict.fromkeys("abcd")), Chance(seed=1))
    assert every.rate.failed == every.rate.trials == 30
    assert every.outcome is Outcome.NOT_TRIED


def test_nonsense_is_refused():
    refuses(SparseSets, m=0, wrong=-1, eccentricity=-1.0, trials=0)
    with pytest.raises(ParameterError, match="record must tell"):
        ItemSubject(released=sets(["a"]), people=sets(["a", "b"]), covers={})
    assert SparseSets().fits(plain(sets([]))) == "there are no records"


def test_a_released_metro_keeps_its_claim(tmp_path, monkeypatch):
    """LKC with K = 5: whatever two stops are known, five records at least are best; raw, some people are found."""
    import sfumato as sf

    monkeypatch.chdir(tmp_path)
    sf.datasets.metro(600, stations=8, minutes=60, seed=7).write_csv("metro.csv")
    (tmp_path / "metro.toml").write_text(
        '[input]\npath = "metro.csv"\n[columns.id]\nrole = "identifier"\n'
        '[columns.path]\nrole = "quasi"\ntype = "trajectory"\n[columns.status]\nrole = "sensitive"\n'
        "[privacy]\nlkc = { l = 2, k = 5 }\n[attack]\nrun = false\n"
    )
    made = sf.release(sf.Plan.load("metro.toml"))
    people = pl.read_csv("metro.csv", infer_schema=False)["path"].str.split("|")
    shown = set(made.rows["path"].drop_nulls().str.split("|").explode())
    own = people.list.eval(pl.element().filter(pl.element().is_in(list(shown))))
    assert sorted(own.list.join("|")) == sorted(made.rows["path"].fill_null("")), "the same records in another order"
    covers = {item: item if item in shown else None for item in people.explode()}
    released = ItemSubject(released=own, people=people, covers=covers)
    found = SparseSets(m=2).run(released, Chance(seed=1), Limit(value=1 / 5, why="k"))
    assert found.worst is not None
    assert found.worst <= 1 / 5
    assert found.outcome is not Outcome.REFUTED
    assert SparseSets(m=2).run(plain(people), Chance(seed=1)).rate.value > 2 * found.rate.value
