"""Two releases, each diverse by itself, are broken together; one and the same release twice is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attacks.composition import Composition
from sfumato.attacks.finding import Outcome
from sfumato.attacks.subject import Subject
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from tests.attacks import kit

HAND = pl.DataFrame(
    {
        "age": ["20", "20", "30", "30"],
        "zip": ["1", "2", "1", "2"],
        "ill": ["flu", "HIV", "HIV", "asthma"],
    }
)


def one_column(people: pl.DataFrame, kept: str, hidden: str) -> Subject:
    return kit.released_subject(people.with_columns(pl.lit("*").alias(hidden)), people, ("age", "zip"), ("ill",))


def test_the_example_of_the_docs_by_hand():
    """By age: flu or HIV, HIV or asthma. By zip: flu or HIV, HIV or asthma. Together: one value each for two people."""
    first, second = one_column(HAND, "age", "zip"), one_column(HAND, "zip", "age")
    found = Composition().run(first, second, Chance(seed=1))
    assert found.figures["values_in_the_first"] == found.figures["values_in_the_second"] == 2
    assert found.figures["one_value_left"] == 0.5, "20 and 2: HIV; 30 and 1: HIV"
    assert found.figures["values_left"] == 1.5
    assert found.naive.value == 0.5
    assert found.rate.value == 1.0, "of the values on both lists the rarer one overall is the likelier one"


def grid(side: int, values: int, seed: int) -> pl.DataFrame:
    """A person at each place; each row and each column has every illness as often as any other."""
    draw = np.random.default_rng(seed)
    row, column = np.divmod(np.arange(side * side), side)
    ill = draw.permutation(values)[(row + column) % values]
    return kit.texts(pl.DataFrame({"x": row, "y": column, "ill": ill}))


def by_pairs(people: pl.DataFrame, column: str) -> Subject:
    """Two neighbours in one column are one class: 2-anonymous, and 2-diverse."""
    low = people[column].cast(pl.Int64) // 2 * 2
    label = "{" + low.cast(pl.String) + ", " + (low + 1).cast(pl.String) + "}"
    claims = (("k-anonymity", {"k": 2}), ("simple-l-diversity", {"l": 2, "column": "ill"}))
    release = people.with_columns(label.alias(column))
    return kit.released_subject(release, people, ("x", "y"), ("ill",), claims=claims)


def test_two_diverse_releases_are_not_diverse_together():
    """Pairs of neighbours by x, and pairs of neighbours by y: both 2-anonymous and 2-diverse."""
    people = grid(12, 6, seed=1)
    first, second = by_pairs(people, "x"), by_pairs(people, "y")
    limit = kit.limit_of(first, "ill", 6)
    assert limit is not None
    assert limit.value == 0.5
    found = Composition().run(first, second, Chance(seed=1), limit)
    assert found.naive.value == pytest.approx(0.5, abs=0.1)
    assert (found.figures["one_value_left"], found.rate.value) == (0.5, 0.75), "two values are left to the others"
    assert found.outcome is Outcome.REFUTED
    alone = Composition().run(first, first, Chance(seed=1), limit)
    assert alone.outcome is Outcome.INCONCLUSIVE


def released(table: pl.DataFrame, others: pl.DataFrame, *quasi: str) -> Subject:
    """4-anonymous and 3-diverse, by Mondrian, over some columns; the others are not published."""
    grown = {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 2_000_000}}
    plan = {
        "columns": {**dict.fromkeys(quasi, grown), "occupation": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 4, "l_diversity": {"kind": "distinct", "l": 3}},
        "algorithm": {"name": "mondrian", "output": "boxes", "seed": 1},
    }
    made = sf.release(sf.Plan.parse(plan), table.select(*quasi, "occupation"))
    return kit.released_subject(
        made.rows,
        table,
        quasi,
        ("occupation",),
        control=others,
        claims=tuple((claim.model, claim.parameters) for claim in made.claims),
    )


def test_two_recodings_of_the_census():
    """One recoding by age and hours, one by another number: 7 and 11 values fit a person, both lists share 6."""
    table = sf.datasets.census(3000, seed=5).select("age", "hours-per-week", "fnlwgt", "occupation")
    others = sf.datasets.census(2000, seed=6).select(table.columns)
    first, second = released(table, others, "age", "hours-per-week"), released(table, others, "fnlwgt")
    found = Composition().run(first, second, Chance(seed=1))
    assert found.outcome is Outcome.REFUTED
    assert found.rate.low > found.naive.high
    assert found.control is not None
    assert found.rate.low > found.control.high


def test_the_kit():
    people = grid(12, 6, seed=1)
    first, second = by_pairs(people, "x"), by_pairs(people, "y")
    attack = Composition()
    blind = attack.run(first.without_release(), second.without_release(), Chance(seed=1))
    assert blind.outcome is Outcome.INCONCLUSIVE
    assert attack.run(first, second, Chance(seed=3)).to_json() == attack.run(first, second, Chance(seed=3)).to_json()
    strangers = people.with_columns(x=pl.lit("99"))
    lost = attack.run(first, second, Chance(seed=1), people=strangers)
    kit.failed_trials_are_no_resistance(lost)
    assert lost.outcome is Outcome.NOT_TRIED
    kit.refuses(Composition, trials=0)
    with pytest.raises(ParameterError, match="no sensitive column in common"):
        attack.run(first, replace(second, sensitive=()), Chance(seed=1))
    with pytest.raises(ParameterError, match="no rows"):
        attack.run(first, replace(second, release=people[:0]), Chance(seed=1))
    with pytest.raises(ParameterError, match="does not know 'w'"):
        attack.run(first, replace(second, quasi=("w",)), Chance(seed=1))
