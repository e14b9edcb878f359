"""Privacy of leaves: against every spread of misses, against the models of tables, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.counts.classes import Classes
from sfumato.counts.tally import Tally
from sfumato.mining.leaf_privacy import (
    Leaves,
    TreeAllOf,
    TreeKAnonymity,
    TreeRecursiveDiversity,
    TreeSimpleDiversity,
    requirement_of,
    worst_tails,
)
from sfumato.models import KAnonymity, RecursiveLDiversity, SimpleLDiversity
from tests.brute.published_trees import equation_one, simple, worst_tail
from tests.weights import examples


@pytest.mark.parametrize("l", [2, 3, 4, 5])
def test_equation_1_is_the_worst_spread_over_enough_classes(l):
    """All hits up to 6 and misses up to 12; a leaf whose misses cannot lie in l - 1 classes has no tail."""
    for hit in range(1, 7):
        for miss in range(13):
            worst = worst_tail(hit, miss, l, l - 1)
            found = int(worst_tails(np.array([hit]), np.array([miss]), l)[0])
            assert found == (0 if worst is None else worst), (hit, miss)


@pytest.mark.parametrize("l", [2, 3, 4])
def test_without_the_assumption_misses_may_lie_in_fewer_classes(l):
    for hit in range(1, 6):
        for miss in range(11):
            worst = worst_tail(hit, miss, l, 0) or 0
            assert int(worst_tails(np.array([hit]), np.array([miss]), l, spread=False)[0]) == worst, (hit, miss)


@given(st.integers(0, 12), st.integers(0, 20), st.integers(1, 6), st.sampled_from([1, 1.5, 2, 3, 5, 20]))
@examples(400, whole=True)
def test_definition_11_with_its_three_cases(hit, miss, l, c):
    """The known-bad twin, a tail that is never below l - 1, lets leaves pass that the definition fails."""
    found = TreeRecursiveDiversity(c=c, l=l).passes(Leaves.of_hits([hit], [miss]))[0]
    assert found == equation_one(hit, miss, c, l)


@given(st.integers(1, 12), st.integers(0, 20), st.integers(1, 6))
@examples(200)
def test_definition_13(hit, miss, l):
    assert TreeSimpleDiversity(l=l).passes(Leaves.of_hits([hit], [miss]))[0] == simple(hit, miss, l)


@given(st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=8), st.integers(1, 4))
@examples(200)
def test_exact_counts_are_judged_as_tables_are(rows, l):
    """Leaves as the classes of a table; the worst case from hit and miss is never more permissive, where it assumes
    nothing or the misses lie in l - 1 classes."""
    counts = np.array(rows)
    counts[:, 0] += counts.sum(axis=1) == 0
    table, leaves = classes_of(counts), Leaves.of_counts(counts)
    exact = TreeRecursiveDiversity(c=2, l=l, basis="counts")
    pairs = [
        (TreeKAnonymity(k=5), KAnonymity(k=5)),
        (TreeSimpleDiversity(l=l), SimpleLDiversity(l=l, column="s")),
        (exact, RecursiveLDiversity(c=2, l=l, column="s")),
    ]
    for mine, theirs in pairs:
        told, said = mine.check(leaves), theirs.check(table)
        assert told.failing.tolist() == said.failing.tolist()
        assert told.reached == pytest.approx(said.reached)
    fine = exact.passes(leaves)
    assert not (TreeRecursiveDiversity(c=2, l=l, basis="any").passes(leaves) & ~fine).any()
    wide = (np.sort(counts, axis=1)[:, :-1] > 0).sum(axis=1) >= l - 1
    assert not (TreeRecursiveDiversity(c=2, l=l).passes(leaves) & ~fine & wide).any()


def test_what_equation_1_does_not_see():
    """Four misses of one class: l = 3 values are assumed and are not there; exact counts and ``any`` say so."""
    leaf = Leaves.of_counts([[2, 2, 0], [2, 1, 1]])
    verdicts = {
        basis: TreeRecursiveDiversity(c=3, l=3, basis=basis).passes(leaf).tolist()
        for basis in ("hits", "any", "counts")
    }
    assert verdicts == {"hits": [True, True], "any": [False, False], "counts": [False, True]}


def classes_of(counts):
    owners, codes = np.nonzero(counts)
    values = tuple("abcd"[: counts.shape[1]])
    tally = Tally(
        column="s",
        values=values,
        owners=owners.astype(np.int64),
        codes=codes.astype(np.int32),
        counts=counts[owners, codes],
        classes=len(counts),
    )
    return Classes(
        quasi=("leaf",),
        keys=np.arange(len(counts), dtype=np.int32)[None, :],
        labels=(tuple(map(str, range(len(counts)))),),
        sizes=counts.sum(axis=1),
        tallies={"s": tally},
    )


def test_several_requirements_at_once():
    leaves = Leaves.of_hits([2, 3, 1], [2, 0, 1])
    both = requirement_of([TreeKAnonymity(k=3), TreeSimpleDiversity(l=2)])
    assert both.passes(leaves).tolist() == [True, False, False]
    verdict = both.check(leaves)
    assert (verdict.holds, verdict.failing.tolist()) == (False, [1, 2])
    assert requirement_of([TreeKAnonymity(k=2)]) == TreeKAnonymity(k=2)
    assert TreeAllOf(parts=(TreeKAnonymity(k=1),)).check(leaves).holds


def test_refusals():
    for bad in (
        lambda: TreeKAnonymity(k=0),
        lambda: TreeRecursiveDiversity(c=0.5, l=2),
        lambda: TreeSimpleDiversity(l=0.5),
    ):
        with pytest.raises(ParameterError):
            bad()
    with pytest.raises(ParameterError, match="basis must be one of hits, any, counts"):
        TreeRecursiveDiversity(c=2, l=2, basis="worst")
    with pytest.raises(ParameterError, match="needs leaves with exact class counts"):
        TreeRecursiveDiversity(c=2, l=2, basis="counts").passes(Leaves.of_hits([1], [1]))
    with pytest.raises(ParameterError, match="at least one"):
        TreeAllOf(parts=())
