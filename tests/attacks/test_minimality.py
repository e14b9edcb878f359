"""The minimality attack breaks the example of its authors and every minimal twin, and nothing that is not minimal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks.candidates import fitting_pairs, homes
from sfumato.attacks.finding import Outcome
from sfumato.attacks.guarantees import Promise, about
from sfumato.attacks.minimality import Minimality
from sfumato.attacks.refused_tables import View, allowed, belief, beliefs, finer_tables
from sfumato.attacks.subject import Coverage, Subject
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from tests.attacks import kit
from tests.weights import examples

HIV, NONE = "HIV", "none"
Parts = list[list[str]]


def diverse(values: list[str], l: int) -> bool:
    """No more than one in l has HIV: the 2-diversity of Wong et al. watches one value."""
    return values.count(HIV) * l <= len(values)


def naive_minimal(pairs: Iterable[Parts], l: int, *, always: bool = False) -> Subject:
    """The known-bad twin: two neighbouring values are joined if one of them alone is not diverse, and else left."""
    people, release = [], []
    for number, parts in enumerate(pairs):
        if not diverse([*parts[0], *parts[1]], l):
            continue
        joined = always or not all(diverse(part, l) for part in parts)
        for at, part in enumerate(parts):
            people += [(f"{number}.{at}", value) for value in part]
            release += [(f"{number}.*" if joined else f"{number}.{at}", value) for value in part]
    return subject_of(people, release, l)


def subject_of(people: list[tuple[str, str]], release: list[tuple[str, str]], l: int, **more: object) -> Subject:
    frames = [pl.DataFrame(rows, schema=["place", "ill"], orient="row") for rows in (people, release)]
    values, labels = (sorted(set(frame["place"])) for frame in frames)
    covers = np.zeros((len(labels), len(values)), np.bool_)
    place = {label: at for at, label in enumerate(labels)}
    for at, value in enumerate(values):
        covers[[place[label] for label in (value, f"{value.split('.')[0]}.*") if label in place], at] = True
    return Subject(
        release=frames[1],
        quasi=("place",),
        sensitive=("ill",),
        coverage={"place": Coverage(labels=tuple(labels), values=tuple(values), covers=covers)},
        people=frames[0],
        claims=(("k-anonymity", {"k": 2}), ("simple-l-diversity", {"l": l, "column": "ill"})),
        **more,
    )


def random_pairs(count: int, share: float, seed: int) -> list[Parts]:
    draw = np.random.default_rng(seed)
    sizes = draw.integers(2, 7, (count, 2))
    return [[[HIV if draw.random() < share else NONE for _ in range(n)] for n in pair] for pair in sizes.tolist()]


WONG: Parts = [[HIV, HIV], [NONE] * 5]
"""Wong et al. 2007, tables 1 and 2: q1 has two people, both with HIV; q2 has five without."""


def test_the_example_of_wong_et_al():
    """Both HIVs must be q1's: with one there, or none, q1 and q2 would have been published apart."""
    found = Minimality(values=(HIV,)).run(naive_minimal([WONG], 2), Chance(seed=1))
    assert (found.rate.value, found.rate.trials, found.worst) == (1.0, 2, pytest.approx(1.0))
    assert found.naive.value == pytest.approx(2 / 7), "the class itself says two in seven"
    assert found.outcome is Outcome.INCONCLUSIVE, "two people show nothing"
    many = Minimality(values=(HIV,)).run(naive_minimal([WONG] * 30, 2), Chance(seed=1))
    assert (many.rate.value, many.rate.trials, many.outcome) == (1.0, 60, Outcome.REFUTED)


@pytest.mark.parametrize(("l", "share"), [(2, 0.3), (3, 0.2)])
def test_a_minimal_algorithm_is_broken_beyond_what_its_claim_allows(l: int, share: float):
    subject = naive_minimal(random_pairs(3000, share, seed=l), l)
    limit = kit.limit_of(subject, "ill", 2)
    assert limit.value == pytest.approx(1 / l)
    found = Minimality(values=(HIV,)).run(subject, Chance(seed=1), limit)
    assert found.rate.low > 1 / l
    assert found.outcome is Outcome.REFUTED
    assert found.risk > 0.2
    assert found.figures["believed"] == pytest.approx(found.rate.value, abs=0.08), "what he believes comes true"


def test_an_algorithm_that_is_not_minimal_gives_nothing_away():
    """The same groups, but joined whether there is need or not: his reasoning starts from a falsehood."""
    subject = naive_minimal(random_pairs(3000, 0.3, seed=2), 2, always=True)
    found = Minimality(values=(HIV,)).run(subject, Chance(seed=1), kit.limit_of(subject, "ill", 2))
    assert found.figures["singled_out"] > 0
    assert found.outcome is Outcome.INCONCLUSIVE


@examples(60)
@given(data=st.data(), sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_beliefs_are_those_of_counting_all_ways(data: st.DataObject, sizes: list[int]):
    rows = data.draw(st.integers(1, sum(sizes)))
    most = [data.draw(st.integers(-1, size)) for size in sizes]
    part = np.repeat(np.arange(len(sizes)), sizes)
    ways = [np.bincount(part[list(way)], minlength=len(sizes)) for way in combinations(range(sum(sizes)), rows)]
    fine = [way for way in ways if (way <= most).all()]
    found = allowed(tuple(sizes), rows, tuple(most))
    assert found.chance == pytest.approx(len(fine) / len(ways))
    posterior = belief(tuple(sizes), rows, found)
    bad = [way for way in ways if (way > most).any()]
    assert (posterior is None) == (not bad)
    if posterior is not None:
        assert posterior == pytest.approx(np.mean(bad, axis=0) / sizes)


def test_the_refusal_of_a_whole_table_is_shared_by_its_classes():
    """Full-domain: some class offends, nobody knows which. All ways of both classes, counted one by one."""
    first = [("1.0", HIV), ("1.0", HIV), *[("1.1", NONE)] * 3]
    second = [("2.0", HIV), ("2.0", NONE), ("2.1", HIV), *[("2.1", NONE)] * 3]
    people = first + second
    release = [(f"{place.split('.')[0]}.*", value) for place, value in people]
    subject = subject_of(people, release, 2, algorithm="optimal")
    view = View.of(subject, "ill", about(subject.promises, "ill", 2), (HIV,), 2)
    draw = np.random.default_rng(1)
    found = beliefs(view, together=True, classes=100, draw=draw)
    part, sizes = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3]), np.array([2, 3, 2, 4])
    ways = [
        np.bincount(part[[*one, *other]], minlength=4)
        for one, other in product(combinations(range(5), 2), combinations(range(5, 11), 2))
    ]
    bad = [way for way in ways if (2 * way > sizes).any()]
    expected = np.mean(bad, axis=0) / sizes
    hiv = view.found.values.index(HIV)
    assert found.who.tolist() == list(range(11))
    assert found.values[[0, 2, 5, 7], hiv] == pytest.approx(expected)
    alone = beliefs(view, together=False, classes=100, draw=draw)
    assert alone.values[[0, 2], hiv] != pytest.approx(expected[:2])


def test_one_step_finer_goes_down_a_public_tree():
    tree = {"a1": ("A", "*"), "a2": ("A", "*"), "b1": ("B", "*")}
    people = pl.DataFrame({"q": ["a1", "a1", "a2", "b1"], "s": ["x", "y", "x", "y"]})
    coverage = Coverage(labels=("*",), values=("a1", "a2", "b1"), covers=np.ones((1, 3), np.bool_))
    subject = Subject(
        release=people.with_columns(q=pl.lit("*")),
        quasi=("q",),
        sensitive=("s",),
        coverage={"q": coverage},
        people=people,
        trees={"q": tree},
    )
    step, whole = finer_tables(subject, people, np.zeros(4, np.int64))
    assert step.sizes.tolist() == [3, 1]
    assert whole.sizes.tolist() == [2, 1, 1]
    numbers = pl.DataFrame({"q": ["1", "2", "3", "9"], "s": ["x", "y", "x", "y"]})
    wide = Coverage(labels=("*",), values=("1", "2", "3", "9"), covers=np.ones((1, 4), np.bool_))
    halved = replace(
        subject, people=numbers, trees={}, coverage={"q": wide}, numeric=frozenset({"q"}), algorithm="mondrian"
    )
    assert next(finer_tables(halved, numbers, np.zeros(4, np.int64))).sizes.tolist() == [2, 2]


@examples(60)
@given(data=st.data(), people=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("uvw")), max_size=8))
def test_people_are_looked_up_all_at_once_as_one_by_one(data: st.DataObject, people: list[tuple[str, str]]):
    first = Coverage(
        labels=("a", "b", "c", "ab", "*"),
        values=("a", "b"),
        covers=np.array([[1, 0], [0, 1], [0, 0], [1, 1], [1, 1]], np.bool_),
    )
    second = Coverage(
        labels=("u", "vw", "*"), values=tuple("uvw"), covers=np.array([[1, 0, 0], [0, 1, 1], [1, 1, 1]], np.bool_)
    )
    rows = data.draw(st.lists(st.tuples(st.sampled_from(first.labels), st.sampled_from(second.labels)), max_size=8))
    schema = {"x": pl.String, "y": pl.String}
    frame = pl.DataFrame(people, schema=schema, orient="row")
    subject = Subject(
        release=pl.DataFrame(rows, schema=schema, orient="row"),
        quasi=("x", "y"),
        sensitive=(),
        coverage={"x": first, "y": second},
        people=frame,
    )
    codes = subject.coded(frame)
    expected = [(one, at) for one in range(len(people)) for at in np.flatnonzero(subject.fitting(codes[:, one]))]
    found = zip(*(part.tolist() for part in fitting_pairs(subject, frame)), strict=True)
    assert sorted(found) == sorted(expected)
    narrowest = homes(subject, frame)
    assert ((narrowest >= 0) == [any(one == at for at, _ in expected) for one in range(len(people))]).all()


def test_what_claims_promise_about_one_value():
    subject = naive_minimal([WONG], 2)

    def posterior(name: str, **given: object) -> Promise:
        return about(replace(subject, claims=((name, {"column": "ill", **given}),)).promises, "ill", 3)[0]

    assert posterior("distinct-l-diversity", l=3).most(np.array([3, 5])).tolist() == [1, 3]
    assert posterior("alpha-k-anonymity", alpha=0.4, k=2, values=(HIV,)) == Promise(
        share=0.4,
        values=(HIV,),
        column="ill",
        posterior=True,
        why="claim alpha-k-anonymity (column = ill, alpha = 0.4, k = 2)",
    )
    assert posterior("recursive-l-diversity", c=3, l=2).share == 0.75
    assert posterior("entropy-l-diversity", l=3).share == pytest.approx(1 / 3, abs=1e-6)
    rule = {"quasi": (), "column": "ill", "value": HIV, "limit": 0.3}
    assert posterior("confidence-bounding", templates=(rule,)).share == 0.3
    closeness = replace(subject, claims=(("t-closeness", {"t": 0.2, "column": "ill"}),))
    assert about(closeness.promises, "ill", 3) == ()


def test_distinct_values_are_broken_too():
    """2-diversity as two different values: a refused pair has a part of one value only."""
    subject = replace(naive_minimal([WONG] * 30, 2), claims=(("distinct-l-diversity", {"l": 2, "column": "ill"}),))
    found = Minimality(values=(HIV,)).run(subject, Chance(seed=1))
    assert (found.rate.value, found.outcome) == (1.0, Outcome.REFUTED)


def test_the_kit():
    subject = naive_minimal(random_pairs(1500, 0.3, seed=5), 2)
    attack = Minimality(values=(HIV,))
    kit.works_on_the_raw_table(attack, subject)
    kit.failed_trials_are_no_resistance(kit.learns_nothing_without_the_release(attack, subject))
    kit.repeats_under_a_seed(attack, subject)
    kit.refuses(Minimality, trials=0, scope="world", classes=0)
    assert replace(attack, classes=5).run(subject, Chance(seed=1)).figures["singled_out"] < 0.002
    assert "no claim" in attack.fits(replace(subject, claims=()))
    assert "no sensitive" in attack.fits(replace(subject, sensitive=()))
    assert "published apart" in attack.fits(replace(subject, groups=pl.DataFrame()))
    with pytest.raises(ParameterError, match="no claim"):
        attack.run(replace(subject, claims=()), Chance(seed=1))


def test_control_people_have_no_part_in_it():
    subject = naive_minimal([WONG] * 30, 2)
    others = pl.DataFrame({"place": [f"{at}.0" for at in range(30)], "ill": [HIV, NONE, NONE] * 10})
    found = Minimality(values=(HIV,)).run(replace(subject, control=others), Chance(seed=1))
    assert found.control is not None
    assert (found.control.value, found.control.trials) == (pytest.approx(1 / 3), 30)


@pytest.mark.parametrize("algorithm", ["optimal", "local", "mondrian"])
def test_own_releases(algorithm: str):
    """On releases of this library it is run as well; here it finds nothing that it can show."""
    names = ["age", "education", "marital-status", "sex"]
    table = sf.datasets.census(3000, seed=3).select([*names, "occupation"])
    ages = {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 100}
    columns = {name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}} for name in names[1:]}
    made = sf.release(
        sf.Plan.parse(
            {
                "columns": {
                    "age": {"role": "quasi", "hierarchy": ages},
                    **columns,
                    "occupation": {"role": "sensitive"},
                },
                "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "simple", "l": 3}},
                "algorithm": {"name": algorithm, "seed": 1},
            }
        ),
        table,
    )
    problem = made.prepared.problem
    subject = kit.released_subject(
        made.rows,
        table,
        names,
        ("occupation",),
        hierarchies=dict(zip(problem.cells.quasi, problem.hierarchies, strict=True)),
        claims=tuple((claim.model, claim.parameters) for claim in made.claims),
        algorithm=algorithm,
    )
    assert (homes(subject, subject.people) >= 0).all()
    assert Minimality().run(subject, Chance(seed=1)).outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_TRIED)
