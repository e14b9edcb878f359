"""What baskets and paths lose, recounted from the labels of the records before and after."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.items import Sets, Trajectory
from sfumato.core.errors import Infeasible
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.metrics.item_utility import certainty_penalty, frequent_sets, query_errors
from sfumato.models.item_models import KMAnonymity
from sfumato.models.lkc import LKCPrivacy
from tests.brute import itemsets as brute
from tests.item_problems import (
    SECRET,
    cell_part,
    joined,
    limits,
    mixed_parts,
    owner,
    problem_of,
    released,
    secrets_for,
    set_part,
    set_parts,
    shown_as,
    walk_parts,
)
from tests.weights import examples

WAYS = [
    Trajectory(support=2, generalize="never"),
    Trajectory(support=2),
    Trajectory(support=2, scope="local"),
    Sets(by="generalization"),
]


class Made:
    """A release with what is needed to recount it from labels."""

    def __init__(self, parts, models, secret, algorithm):
        self.parts, self.problem = parts, problem_of(parts, models, secret)
        outcome = algorithm(self.problem, Work())
        self.view, self.before, self.after = outcome.view(self.problem.transactions), joined(parts), released(outcome)
        self.shown, self.outcome = shown_as(parts, outcome), outcome

    def told(self, q: frozenset[str]) -> int:
        """The records of a set as it is shown; none where an item is not shown."""
        return brute.supported(self.after, frozenset(map(self.shown.get, q))) if q <= self.shown.keys() else 0

    def spread(self, item: str) -> int:
        return owner(self.parts, item).spread(self.shown[item])


@st.composite
def made(draw: st.DrawFn, ways=tuple(WAYS)) -> Made:
    part = draw(set_parts(items="abcde", tree=True) | walk_parts())
    secret = draw(secrets_for(part.records))
    model = LKCPrivacy(
        l=draw(st.integers(1, 3)), k=draw(st.integers(1, 3)), c=float(draw(limits)), column=SECRET, values=("hiv",)
    )
    return Made([part], [model], secret, draw(st.sampled_from(ways)))


@examples(150)
@given(release=made(), support=st.integers(1, 4))
def test_frequent_sets_by_the_definition(release, support):
    found = frequent_sets(release.view, support)
    named = list(map(frozenset, found.sets.labelled(release.problem.transactions.labels)))
    assert set(named) == brute.maximal_frequent(release.before, support)
    assert found.sets.rows.tolist() == [brute.supported(release.before, q) for q in named]
    after = [release.told(q) for q in named]
    coarser = [any(item in release.shown and release.spread(item) > 1 for item in q) for q in named]
    assert found.after.tolist() == after
    kept = [told >= support for told in after]
    assert found.kept.tolist() == kept
    whole = max(len(named), 1)
    assert found.lost == pytest.approx((len(named) - sum(kept)) / whole)
    assert found.blurred == pytest.approx(sum(k and c for k, c in zip(kept, coarser, strict=True)) / whole)
    rows = zip(kept, coarser, after, (brute.supported(release.before, q) for q in named), strict=True)
    assert found.changes.tolist() == pytest.approx([abs(new - old) / old for k, c, new, old in rows if k and not c])


@examples(100)
@given(
    data=st.data(),
    part=set_parts(),
    l=st.integers(1, 4),
    k=st.integers(1, 4),
    c=limits,
    support=st.integers(1, 4),
    scope=st.sampled_from(["global", "local"]),
)
def test_the_lost_share_of_a_suppression(data, part, l, k, c, support, scope):
    """What is shown is shown as itself, so that the definition needs no reading of coarser items."""
    secret = data.draw(secrets_for(part.records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET)
    release = Made([part], [model], secret, Trajectory(support=support, scope=scope))
    found = frequent_sets(release.view, support)
    lost = brute.lost_frequent(brute.maximal_frequent(part.records, support), release.after, support)
    assert found.lost == pytest.approx(float(lost))
    assert found.blurred == 0
    if scope == "global":
        assert not found.changes.any()


@examples(150)
@given(release=made())
def test_the_certainty_penalty_is_the_mean_over_entries(release):
    assert certainty_penalty(release.view) == pytest.approx(float(literal_penalty(release)))


def literal_penalty(release: Made) -> Fraction:
    """Every entry of the original: 1 where it is not shown in its record, or else what it is blurred to."""
    costs = []
    for old, new in zip(release.before, release.after, strict=True):
        for item in sorted(old):
            label = release.shown.get(item)
            costs.append(owner(release.parts, item).penalty(label) if label in new else Fraction(1))
    return sum(costs, Fraction(0)) / max(len(costs), 1)


@examples(80)
@given(data=st.data(), parts=mixed_parts(), k=st.integers(1, 3), m=st.integers(1, 2), seed=st.integers(0, 99))
def test_a_table_beside_a_path(data, parts, k, m, seed):
    try:
        release = Made(parts, [KMAnonymity(k=k, m=m)], ["flu"] * len(parts[0].records), Trajectory(support=2))
    except Infeasible:
        return
    assert certainty_penalty(release.view) == pytest.approx(float(literal_penalty(release)))
    assert query_errors(release.view, chance=Chance(seed=seed), queries=5) == literal_errors(release, seed, 5, 3)


@examples(120)
@given(release=made(), seed=st.integers(0, 99), most=st.integers(1, 4))
def test_query_errors_are_a_recount_of_the_drawn_queries(release, seed, most):
    found = query_errors(release.view, chance=Chance(seed=seed), queries=7, most=most)
    assert found == literal_errors(release, seed, 7, most)


class Told(tuple):
    """Sizes, medians and means that are equal up to rounding."""

    def __eq__(self, found):
        flat = [(one.items, one.median, one.mean) for one in found]
        return len(flat) == len(self) and all(
            mine == pytest.approx(theirs) for mine, theirs in zip(self, flat, strict=True)
        )

    __hash__ = None


def literal_errors(release: Made, seed: int, queries: int, most: int) -> Told:
    """The same draws: a record with enough items, then some of its items; each coarse item counts in equal parts."""
    draw, labels = Chance(seed=seed).generator(), release.problem.transactions.labels
    found = []
    for size in range(1, most + 1):
        able = [row for row, record in enumerate(release.before) if len(record) >= size]
        if not able:
            break
        errors = []
        for row in draw.choice(np.array(able), queries).tolist():
            codes = np.array([code for code, label in enumerate(labels) if label in release.before[row]])
            q = frozenset(labels[code] for code in draw.choice(codes, size, replace=False))
            told = Fraction(release.told(q))
            for item in q & release.shown.keys():
                told /= release.spread(item)
            true = brute.supported(release.before, q)
            errors.append(abs(told - true) / max(true, Fraction(len(release.before), 1000)))
        found.append((size, float(median(errors)), fmean(errors)))
    return Told(found)


@examples(60)
@given(part=set_parts(tree=True) | walk_parts(), algorithm=st.sampled_from(WAYS), support=st.integers(1, 3))
def test_nothing_is_lost_where_nothing_violates(part, algorithm, support):
    release = Made([part], [KMAnonymity(k=1, m=3)], ["flu"] * len(part.records), algorithm)
    found = frequent_sets(release.view, support)
    assert (found.lost, found.blurred, certainty_penalty(release.view)) == (0, 0, 0)
    assert not found.changes.any()
    errors = query_errors(release.view, chance=Chance(seed=1), queries=5)
    assert all((one.median, one.mean) == (0, 0) for one in errors)


def test_everything_is_lost_where_nothing_is_shown():
    part = set_part("bought", [frozenset("ab"), frozenset("a")], "ab")
    release = Made([part], [KMAnonymity(k=3, m=1)], ["flu", "flu"], Trajectory(support=1))
    assert release.after == [frozenset(), frozenset()]
    assert certainty_penalty(release.view) == 1
    assert [one.mean for one in query_errors(release.view, chance=Chance(seed=1), queries=5)] == [1, 1]
    found = frequent_sets(release.view, 1)
    assert (found.lost, found.after.tolist()) == (1, [0])


def test_records_without_items_lose_nothing():
    part = set_part("bought", [frozenset(), frozenset()], "ab")
    release = Made([part], [KMAnonymity(k=3, m=1)], ["flu", "flu"], Trajectory(support=1))
    assert certainty_penalty(release.view) == 0
    assert query_errors(release.view, chance=Chance(seed=1)) == ()
    assert frequent_sets(release.view, 1).lost == 0


def test_a_closed_column_by_hand():
    """u and v rise to P, two of three values: each entry costs 1/2; a query for u is told half of the two records."""
    part = cell_part("job", "uvww", "uvw", {"u": ("P",), "v": ("P",), "w": ()})
    release = Made([part], [KMAnonymity(k=2, m=1)], ["flu"] * 4, Sets(by="generalization"))
    assert release.after == [frozenset({"job=P"})] * 2 + [frozenset({"job=w"})] * 2
    assert certainty_penalty(release.view) == pytest.approx(1 / 4)
    (one,) = query_errors(release.view, chance=Chance(seed=1), queries=20)
    assert (one.items, one.median, one.mean) == (1, 0, 0)
    found = frequent_sets(release.view, 1)
    assert found.after.tolist() == [2, 2, 2]
    assert (found.lost, found.blurred) == (0, pytest.approx(2 / 3))


def test_an_item_left_out_of_one_record_by_hand():
    """Seven of eight records keep all; one of nine entries is not shown; a has three records instead of four."""
    records = [frozenset("ab")] + [frozenset("a")] * 3 + [frozenset("b")] * 4
    part = set_part("bought", records, "ab")
    release = Made([part], [KMAnonymity(k=2, m=2)], ["flu"] * 8, Trajectory(scope="local", support=2))
    assert certainty_penalty(release.view) == pytest.approx(1 / 9)
    found = frequent_sets(release.view, 2)
    assert found.changes.tolist() == [1 / 4, 0]
    assert (found.lost, found.after.tolist()) == (0, [3, 5])
