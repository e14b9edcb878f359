"""Local recoding of sets: parts as the paper cuts them, adversaries word for word, and never worse than one part."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.items import LocalSets, Sets
from sfumato.algorithms.items.local_sets import gray_order
from sfumato.core.errors import ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.metrics.item_utility import certainty_penalty, frequent_sets
from sfumato.models.item_models import KMAnonymity
from sfumato.models.lkc import LKCPrivacy
from tests.brute import covering
from tests.brute import itemsets as brute
from tests.item_problems import (
    SECRET,
    Part,
    cell_part,
    cell_parts,
    joined,
    problem_of,
    released,
    set_part,
    set_parts,
    walk_part,
)
from tests.weights import examples

TREE = {"a": ("P",), "b": ("P",), "c": ("Q",), "d": ("Q",)}


def covers_of(parts: list[Part]):
    """Whether a label of any column covers an item."""

    def covers(label: str, item: str) -> bool:
        part = next(one for one in parts if item in one.labels)
        mine = (
            label.startswith(f"{part.name}=")
            if part.closed
            else not any(label.startswith(f"{one.name}=") for one in parts if one.closed)
        )
        return mine and part.covers(label, item)

    return covers


def made(columns: list[Part], k: int, m: int, **options):
    problem = problem_of(columns, [KMAnonymity(k=k, m=m)], ["flu"] * len(columns[0].records))
    return problem, LocalSets(**options)(problem, Work())


@st.composite
def tables(draw: st.DrawFn) -> list[Part]:
    """A set with a tree, and perhaps a closed column beside it."""
    part = draw(set_parts(most=14, items="abcde", tree=True))
    more = [draw(cell_parts(len(part.records)))] if draw(st.booleans()) else []
    return [one for one in more if one.trunks[0] is not None] + [part]


@examples(120)
@given(part=set_parts(most=14), most=st.integers(1, 6))
def test_gray_order_is_the_reflected_one(part, most):
    space = part.space(0)
    records = problem_of([part], [], ["flu"] * len(part.records)).transactions
    support = [sum(item in record for record in part.records) for item in part.labels]
    items = [part.labels[n] for n in sorted(range(len(part.labels)), key=lambda n: (support[n], n))]
    rows = range(len(part.records))
    assert gray_order(records, (space,)).tolist() == covering.gray(rows, part.records, items)
    fewer = gray_order(records, (space,), most)  # without a tree there is nothing coarser to take
    assert fewer.tolist() == gray_order(records, (space,)).tolist()


def test_gray_order_takes_coarser_items_where_there_are_too_many():
    """P then Q: c and d (Q) are rarer; records without Q come first, those of a and of b are alike then."""
    records = [frozenset("ac"), frozenset("b"), frozenset("a"), frozenset("d"), frozenset("ab")]
    part = set_part("bought", records, "abcd", TREE)
    found = problem_of([part], [], ["flu"] * 5).transactions
    assert gray_order(found, (part.space(0),), 2).tolist() == [1, 2, 4, 0, 3]


@examples(100)
@given(parts=tables(), k=st.integers(1, 3), m=st.integers(1, 3), cuts=st.integers(1, 4))
def test_every_part_is_what_the_global_algorithm_makes_of_it(parts, k, m, cuts):
    """The paper's way: the records in Gray order, cut into parts of one size, each anonymized alone."""
    rows = len(parts[0].records)
    if cuts * k > rows:
        with pytest.raises(PlanError, match=r"algorithm.parts: .* at most|privacy.km.k"):
            made(parts, k, m, parts=cuts)
        return
    problem, outcome = made(parts, k, m, parts=cuts)
    expected: dict[int, frozenset[str]] = {}
    for some in np.array_split(gray_order(problem.transactions, problem.spaces), cuts):
        mine = [Part(**{**vars(part), "records": [part.records[row] for row in some]}) for part in parts]
        alone = problem_of(mine, [KMAnonymity(k=k, m=m)], ["flu"] * len(some))
        expected |= dict(zip(some.tolist(), released(Sets(by="generalization")(alone, Work())), strict=True))
    assert released(outcome) == [expected[row] for row in range(rows)]


@examples(100, whole=True)
@given(parts=tables(), k=st.integers(1, 4), m=st.integers(1, 3), cuts=st.integers(0, 3), smallest=st.integers(0, 5))
def test_every_adversary_finds_enough_records(parts, k, m, cuts, smallest):
    """The release as bytes show it, the definition on its labels, and everybody who knows original items."""
    people = joined(parts)
    if max(cuts, 1) * k > len(people):
        return
    problem, outcome = made(parts, k, m, parts=cuts, smallest=smallest)
    after, covers = released(outcome), covers_of(parts)
    assert brute.holds_km(after, k, m)
    assert covering.found_enough(people, after, covers, k, m)
    if not cuts:
        whole = Sets(by="generalization")(problem, Work())
        mine, theirs = (certainty_penalty(one.view(problem.transactions)) for one in (outcome, whole))
        assert mine <= theirs + 1e-12


@examples(100)
@given(parts=tables(), k=st.integers(1, 3), m=st.integers(1, 3), cuts=st.integers(0, 4))
def test_what_the_outcome_says_of_its_labels(parts, k, m, cuts):
    people = joined(parts)
    if max(cuts, 1) * k > len(people):
        return
    problem, outcome = made(parts, k, m, parts=cuts, smallest=2)
    after, covers, shown = released(outcome), covers_of(parts), outcome.shown
    entries = outcome.entries(problem.transactions).tolist()
    labels, places = (
        problem.transactions.labels,
        zip(problem.transactions.row_of.tolist(), problem.transactions.codes.tolist(), entries, strict=True),
    )
    rows: list[set[str]] = [set() for _ in people]
    cost = Fraction(0)
    for row, code, entry in places:
        part = next(one for one in parts if labels[code] in one.labels)
        if entry < 0:
            cost += 1
            continue
        assert covers(shown.labels[entry], labels[code])
        rows[row].add(shown.labels[entry])
        cost += part.penalty(shown.labels[entry])
    assert list(map(frozenset, rows)) == after
    view = outcome.view(problem.transactions)
    assert certainty_penalty(view) == pytest.approx(float(cost / max(len(entries), 1)))
    for item, label in enumerate(labels):
        ways = [shown.labels[way] for way in shown.ways(item)]
        assert set(ways) == {one for one in shown.labels if covers(one, label)}
    kept = frequent_sets(view, 2)
    for number, q in enumerate(kept.sets.labelled(labels)):
        assert kept.after[number] == len(covering.found(after, q, covers))


@examples(120, whole=True)
@given(
    records=st.lists(st.frozensets(st.sampled_from(["a", "b", "c", "d", "P", "Q", "*"])), min_size=1, max_size=9),
    copies=st.integers(1, 3),
    k=st.integers(1, 4),
    m=st.integers(1, 3),
)
def test_labels_that_are_frequent_enough_cover_enough_records(records, copies, k, m):
    """The theorem that verification rests on: k^m-anonymity of labels as they are read, whichever way they came up."""
    table = records * copies
    part = set_part("bought", table, "abcd", TREE)
    if brute.holds_km(table, k, m):
        people = [frozenset(item for item in "abcd" if any(part.covers(one, item) for one in row)) for row in table]
        assert covering.found_enough(people, table, part.covers, k, m)


def test_a_part_without_rare_items_stays_as_it_is():
    """c and d stand in three records each, which is too rare together with a; only the part that has them is coarse."""
    records = [frozenset("ab")] * 6 + [frozenset("ac")] * 3 + [frozenset("bd")] * 3
    part = set_part("bought", records, "abcd", TREE)
    _, outcome = made([part], 4, 2, smallest=4)
    assert released(outcome)[:6] == [frozenset("ab")] * 6
    assert released(outcome)[6:] == [frozenset("PQ")] * 6
    whole = Sets(by="generalization")(problem_of([part], [KMAnonymity(k=4, m=2)], ["flu"] * 12), Work())
    assert released(whole) == [frozenset("P")] * 6 + [frozenset("PQ")] * 6
    assert outcome.effort["parts"] == 2


def refused(columns: list[Part], models, words: str, **options) -> None:
    problem = problem_of(columns, models, ["flu"] * len(columns[0].records))
    with pytest.raises(PlanError, match=words):
        LocalSets(**options)(problem, Work())


def test_what_cannot_be_done_is_refused_with_what_would_do():
    sets = set_part("bought", [frozenset("ab")] * 5, "ab", {"a": (), "b": ()})
    km = [KMAnonymity(k=2, m=2)]
    refused([set_part("bought", sets.records, "ab")], km, r"columns.bought.hierarchy is missing; local-sets .* 'sets'")
    refused([walk_part("way", [frozenset({"a@1"})] * 5, "a", "1", [{"a": ()}, {"1": ()}])], km, "takes no paths")
    lkc = LKCPrivacy(l=2, k=2, column=SECRET)
    refused([sets], [*km, lkc], r"local-sets goes with km only; lkc-privacy needs one recoding")
    refused([sets], [KMAnonymity(k=6, m=1)], r"privacy.km.k: 6 records are asked for, and there are 5; at most 5")
    refused([sets], km, r"algorithm.parts: 3 parts of 5 records have fewer than k = 2 each; at most 2", parts=3)
    for wrong in ({"parts": -1}, {"smallest": -1}, {"support": 0}, {"parts": 1.5}):
        with pytest.raises(ParameterError):
            LocalSets(**wrong)


def test_a_closed_column_rises_in_its_part_only():
    cells = cell_part("job", "uuuuvwuv", "uvw", {"u": (), "v": ("R",), "w": ("R",)})
    _, outcome = made([cells], 2, 1, smallest=2)
    assert brute.holds_km(released(outcome), 2, 1)
