"""Hiding sets and rules: every method against the definitions, and the exact one against every choice of items."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.sanitize import exact_hiding
from sfumato.algorithms.sanitize.border_hiding import BorderHiding
from sfumato.algorithms.sanitize.exact_hiding import AutoHiding, ExactHiding
from sfumato.algorithms.sanitize.problem import Erasing, HidingProblem, Sanitized
from sfumato.algorithms.sanitize.removal import Blocking, ItemRemoval, TransactionRemoval
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.sensitive_patterns import Pattern, Thresholds
from sfumato.counts.transactions import Transactions
from tests.brute import rules as brute
from tests.weights import examples

SHARES = (0.2, 0.3, 0.4, 0.5, 0.75)
METHODS = (ItemRemoval(by="support"), ItemRemoval(), BorderHiding(), Blocking(decoys=1.0), ExactHiding(), AutoHiding())
Case = tuple[list[frozenset[str]], list[Pattern], Thresholds]


@st.composite
def cases(draw: st.DrawFn, *, items: str = "abcd", most: int = 7, entries: int = 28) -> Case:
    """Records, one to three patterns that some record has, and thresholds."""
    records = draw(
        st.lists(st.frozensets(st.sampled_from(items)), min_size=1, max_size=most).filter(
            lambda rows: any(rows) and sum(map(len, rows)) <= entries
        )
    )
    patterns = []
    for _ in range(draw(st.integers(1, 3))):
        record = sorted(draw(st.sampled_from([one for one in records if one])))
        whole = draw(st.lists(st.sampled_from(record), min_size=1, unique=True))
        cut = draw(st.integers(0, len(whole) - 1))
        patterns.append(Pattern.of(whole[cut:], whole[:cut]))
    limits = Thresholds(
        min_support=draw(st.sampled_from(SHARES)),
        min_confidence=draw(st.sampled_from((*SHARES, 1.0))),
        margin=draw(st.sampled_from((0.0, 0.1, 0.5))),
    )
    return records, patterns, limits


def limits_of(limits: Thresholds) -> tuple[Fraction, Fraction, Fraction]:
    support, sure, margin = (Fraction(str(x)) for x in (limits.min_support, limits.min_confidence, limits.margin))
    return support, (1 - margin) * support, (1 - margin) * sure


def ran(method, case: Case) -> tuple[HidingProblem, Sanitized, list[frozenset[str]]]:
    records, patterns, limits = case
    problem = HidingProblem.of(Transactions.of(records), patterns, limits)
    found = method(problem, Work(chance=Chance(seed=1)))
    return problem, found, list(map(frozenset, found.shown.records()))


@pytest.mark.parametrize("method", METHODS, ids=lambda one: f"{one.name}-{getattr(one, 'by', '')}")
@examples(120)
@given(case=cases())
def test_no_method_leaves_a_pattern_and_every_one_states_what_it_loses(method, case):
    records, patterns, limits = case
    _, found, after = ran(method, case)
    least, support, sure = limits_of(limits)
    for one in patterns:
        assert brute.hidden(after, frozenset(one.left), frozenset(one.right), support, sure), one
    assert all(new <= old for new, old in zip(after, records, strict=True))
    assert found.erased == sum(map(len, records)) - sum(map(len, after))
    secret = [frozenset(one.right) for one in patterns if not one.left]
    assert found.lost == len(brute.lost(records, after, secret, least))


@examples(120)
@given(case=cases())
def test_removing_records_hides_too(case):
    records, patterns, limits = case
    least, support, sure = limits_of(limits)
    try:
        _, found, after = ran(TransactionRemoval(), case)
    except sf.Infeasible:
        wholes = [frozenset(one.whole) for one in patterns]
        assert all(any(whole <= record for whole in wholes) for record in records)
        return
    for one in patterns:
        assert brute.hidden(after, frozenset(one.left), frozenset(one.right), support, sure), one
    assert after == [records[row] for row in found.rows.tolist()]
    secret = [frozenset(one.right) for one in patterns if not one.left]
    assert found.lost == len(brute.lost(records, after, secret, least))


def everything(self, problem: HidingProblem, work: Work) -> Sanitized:
    """A border that takes every item of every pattern out: the program alone must find what is better."""
    state = Erasing(problem)
    for item in sorted({item for one in problem.patterns for item in one.whole}):
        state.erase(state.rows_with([item]), item)
    return state.result(self.name)


@pytest.mark.parametrize("begun", [BorderHiding.__call__, everything], ids=["border", "alone"])
@examples(150, whole=True)
@given(case=cases(items="abc", most=6, entries=9))
def test_the_exact_method_finds_the_true_optimum(begun, case):
    records, patterns, limits = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BorderHiding, "__call__", begun)
        _, found, _ = ran(ExactHiding(), case)
    pairs = [(frozenset(one.left), frozenset(one.right)) for one in patterns]
    assert found.proven
    assert found.gap is None
    assert (found.lost, found.erased) == brute.best(records, pairs, *limits_of(limits))


def test_all_databases_of_three_records_and_three_items():
    """The exact cost is the optimum of every one of them, for a set and for a rule."""
    sets = [frozenset(x for x, bit in zip("abc", (1, 2, 4), strict=True) if n & bit) for n in range(8)]
    tried = 0
    for i in range(8):
        for j in range(i, 8):
            for k in range(j, 8):
                records = [sets[i], sets[j], sets[k]]
                for pattern in (Pattern.of("ab"), Pattern.of("b", "a")):
                    if not any(set("ab") <= record for record in records):
                        continue
                    limits = Thresholds(min_support=0.6, min_confidence=0.7)
                    _, found, _ = ran(ExactHiding(), (records, [pattern], limits))
                    pair = (frozenset(pattern.left), frozenset(pattern.right))
                    assert (found.lost, found.erased) == brute.best(records, [pair], *limits_of(limits))
                    tried += 1
    assert tried == 128


def test_the_border_spares_what_greedy_removal_would_lose():
    """Records of Sun and Yu's kind: hiding {a, b} by the item a keeps {b, c}, and every method finds it."""
    records = [set("abc")] * 2 + [set("ab")] * 2 + [set("bc")] + [set("a")] * 3
    case = ([frozenset(one) for one in records], [Pattern.of("ab")], Thresholds(min_support=0.375))
    for method in (BorderHiding(), ExactHiding(), ItemRemoval(by="support")):
        _, found, after = ran(method, case)
        assert found.lost == 0
        assert brute.supported(after, frozenset("bc")) == 3
        assert brute.supported(after, frozenset("ab")) == 2


def test_where_every_solution_loses_something_the_fewest_are_lost():
    """{a, b} must go, and both {a} and {b} are just frequent: one of them is lost, proven."""
    case = ([frozenset("ab")] * 2, [Pattern.of("ab")], Thresholds(min_support=1.0))
    _, found, _ = ran(ExactHiding(), case)
    assert (found.lost, found.erased, found.proven) == (1, 1, True)


def test_a_lost_set_costs_more_than_items(monkeypatch):
    """{x, y} loses a set in any case; for the others two items are taken out rather than one that loses {a}."""
    monkeypatch.setattr(BorderHiding, "__call__", everything)
    records = [frozenset(one) for one in ("abc", "abc", "bc", "xy", "xy")]
    patterns = [Pattern.of("ab"), Pattern.of("ac"), Pattern.of("xy")]
    _, found, _ = ran(ExactHiding(), (records, patterns, Thresholds(min_support=0.4)))
    assert (found.lost, found.erased, found.proven) == (1, 3, True)


def test_a_search_that_is_cut_short_states_its_gap(monkeypatch):
    from sfumato.algorithms.sanitize.exact_hiding import Program

    def interrupted(self, seconds):
        return None, len(self.costs) * 0.0, 1

    monkeypatch.setattr(Program, "solved", interrupted)
    case = ([frozenset("ab")] * 2, [Pattern.of("ab")], Thresholds(min_support=1.0))
    _, found, after = ran(ExactHiding(), case)
    assert (found.proven, found.gap, found.lost) == (False, 1.0, 1)
    assert brute.supported(after, frozenset("ab")) < 2


@examples(60)
@given(case=cases(), decoys=st.sampled_from((0.0, 1.0, 2.0)))
def test_unknowns_are_what_was_blocked_and_decoys(case, decoys):
    records, _, _ = case
    _, found, sure = ran(Blocking(decoys=decoys), case)
    assert found.unknown is not None
    blocked = false = 0
    for record, known, open_ in zip(records, sure, found.unknown.records(), strict=True):
        assert known.isdisjoint(open_)
        assert record - known <= set(open_)
        blocked += len(record - known)
        false += len(set(open_) - record)
    assert blocked == found.erased
    assert false <= round(decoys * blocked)
    assert decoys or not false


def test_auto_says_why(monkeypatch):
    case = ([frozenset("ab")] * 3 + [frozenset("a")], [Pattern.of("ab")], Thresholds(min_support=0.5))
    assert ran(AutoHiding(), case)[1].why.endswith("for an exact search.")
    monkeypatch.setattr(exact_hiding, "EXACT_ENTRIES", 0)
    assert ran(AutoHiding(), case)[1].method == "hide-border"
    monkeypatch.setattr(exact_hiding, "BORDER_CELLS", 0)
    assert ran(AutoHiding(), case)[1].method == "hide-items"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (Pattern.of(["d"]), r"\{d\} does not occur: no record has the item 'd'"),
        (Pattern.of(["c"], ["a"]), r"\{a\} -> \{c\} does not occur: no record has all of its items"),
    ],
)
def test_a_pattern_that_does_not_occur_is_refused(pattern, message):
    with pytest.raises(sf.DataError, match=message):
        HidingProblem.of(Transactions.of(["ab", "c"]), [pattern], Thresholds(min_support=0.5))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_support": 0}, r"min_support must lie in \(0, 1\], not 0"),
        ({"min_support": 1.2}, r"min_support must lie in \(0, 1\], not 1.2"),
        ({"min_support": 0.1, "min_confidence": 0}, r"min_confidence must lie in \(0, 1\], not 0"),
        ({"min_support": 0.1, "margin": 1}, r"margin must lie in \[0, 1\), not 1"),
        ({"min_support": 0.1, "margin": -0.1}, r"margin must lie in \[0, 1\], not -0.1"),
    ],
)
def test_thresholds_out_of_range(given, message):
    with pytest.raises(sf.ParameterError, match=message):
        Thresholds(**given)


def test_patterns_that_cannot_be():
    with pytest.raises(sf.ParameterError, match="'a' stands on both sides"):
        Pattern.of(["a"], ["a", "b"])
    with pytest.raises(sf.ParameterError, match="has no items"):
        Pattern.of([], ["a"])
    with pytest.raises(sf.ParameterError, match="by must be one of support, confidence"):
        ItemRemoval(by="lift")
    with pytest.raises(sf.ParameterError, match="decoys must lie in"):
        Blocking(decoys=-1)


def test_large_records_are_hidden_in_one_go():
    drawn = Chance(seed=5).generator()
    records = [frozenset(map(str, np.flatnonzero(row))) for row in drawn.random((3000, 12)) < 0.4]
    patterns = [Pattern.of(["1", "2"]), Pattern.of(["3"], ["4", "5"]), Pattern.of(["7", "8", "9"])]
    limits = Thresholds(min_support=0.05, min_confidence=0.35, margin=0.05)
    _, support, sure = limits_of(limits)
    for method in (ItemRemoval(), BorderHiding(), TransactionRemoval()):
        _, _, after = ran(method, (records, patterns, limits))
        for one in patterns:
            assert brute.hidden(after, frozenset(one.left), frozenset(one.right), support, sure)
