"""Refusals of exact answers equal the definition, tell nothing, and keep trackers out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.queries.exact import auditor as width_rule
from sfumato.queries.exact.auditor import Auditor, Span
from sfumato.queries.exact.extremes import Told, judged
from sfumato.queries.exact.hindsight import LookingBack, ToldFigure, intervals
from sfumato.queries.exact.sums import KernelSums, QuestionBasis, follows, is_prime, keyed_prime
from tests.brute.told import RUN, agreeing, narrowest, some_answer_tells, sums_follow
from tests.queries.value_dependent import ValueDependent, read_off
from tests.weights import examples


def masks(people: int, most: int = 6):
    one = st.lists(st.booleans(), min_size=people, max_size=people).filter(any).map(np.array)
    return st.lists(one, min_size=1, max_size=most)


def some(people: int, *rows: int) -> np.ndarray:
    found = np.zeros(people, bool)
    found[list(rows)] = True
    return found


@given(st.integers(2, 5).flatmap(lambda people: st.tuples(masks(people), st.integers(2, 4))))
@examples(200, whole=True)
def test_refused_sums_are_those_of_the_definition(drawn):
    """An answered set never lets a sum of fewer than k follow, and a refused one always would."""
    asked, k = drawn
    auditor, answered = Auditor(len(asked[0]), "key", k=k), []
    for mask in asked:
        refused = auditor.decide("sum", mask) != ""
        assert refused == sums_follow([*answered, mask], k)
        if not refused:
            auditor.told("sum", mask, 0)
            answered.append(mask)


KINDS = st.sampled_from(["maximum", "minimum"])


@given(
    st.integers(2, 4).flatmap(
        lambda people: st.tuples(
            st.lists(st.integers(0, 3), min_size=people, max_size=people), masks(people, 4), st.lists(KINDS, min_size=4)
        )
    )
)
@examples(80, whole=True, deadline=None)
def test_refused_minima_and_maxima_are_those_of_the_definition(drawn):
    values, asked, kinds = np.array(drawn[0]), drawn[1], drawn[2]
    auditor, told = Auditor(len(values), "key"), []
    for mask, kind in zip(asked, kinds, strict=False):
        refused = auditor.decide(kind, mask) != ""
        assert refused == (mask.sum() < 2 or some_answer_tells(told, kind, mask))
        if not refused:
            answer = int(RUN[kind](values[mask]))
            auditor.told(kind, mask, answer)
            told.append((kind, mask, answer))


GRID = np.array(np.meshgrid(*[np.arange(-3, 6)] * 4)).reshape(4, -1).T


@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
    masks(4, 7),
    st.lists(st.sampled_from(["sum", "maximum", "minimum"]), min_size=7, max_size=7),
)
@examples(300, whole=True, deadline=None)
def test_mixed_histories_tell_of_nobody(values, asked, kinds):
    """Whoever differs among tables that agree is not known."""
    table, auditor, told = np.array(values), Auditor(4, "key"), []
    for mask, kind in zip(asked, kinds, strict=False):
        if not auditor.decide(kind, mask):
            answer = int(RUN[kind](table[mask]))
            auditor.told(kind, mask, answer)
            told.append((kind, mask, answer))
    left = agreeing(GRID, told)
    assert not (left == left[0]).all(axis=0).any()


def test_the_example_of_the_docs():
    """docs/theory/auditing.md; people are counted from 0 here."""
    auditor, answered = Auditor(6, "key"), []
    for rows in (range(6), (0, 2, 4, 5), (1, 3), (0, 2, 4), range(5), range(4)):
        reason = auditor.decide("sum", some(6, *rows))
        answered.append(not reason)
        if not reason:
            auditor.told("sum", some(6, *rows), 0)
    assert answered == [True, True, True, False, False, True]
    assert sorted(auditor.sums.atoms.sizes.tolist()) == [2, 2, 2]


def test_sums_and_maxima_together_where_sums_leave_people_free():
    auditor = Auditor(6, "key")
    for mask in (some(6, 0, 1, 2, 3), some(6, 2, 3, 4, 5)):
        assert auditor.decide("sum", mask) == ""
        auditor.told("sum", mask, 0)
    assert auditor.decide("maximum", some(6, 0, 1, 2, 3)) == "mixed"  # all at the mean would be told
    assert auditor.decide("maximum", some(6, 0, 1)) == ""
    auditor.told("maximum", some(6, 0, 1), 7)
    assert auditor.decide("sum", some(6, 0, 1)) == "mixed"
    assert auditor.decide("minimum", some(6, 0, 1)) == "told"  # equal to the maximum, it would tell both


@given(
    masks(5), st.lists(st.integers(-9, 9), min_size=5, max_size=5), st.lists(st.integers(-9, 9), min_size=5, max_size=5)
)
@examples(60)
def test_refusals_of_sums_do_not_depend_on_values(asked, first, second):
    """Two tables, whatever they hold: the same refusals."""
    seen = []
    for values in (np.array(first), np.array(second)):
        auditor, refusals = Auditor(5, "key", k=3), []
        for mask in asked:
            refusals.append(auditor.decide("mean", mask))
            if not refusals[-1]:
                auditor.told("mean", mask, int(values[mask].sum()))
        seen.append(refusals)
    assert seen[0] == seen[1]


def test_a_former_maximum_that_the_new_one_cannot_fall_below_does_not_matter():
    """The maximum of the first two stays in the new set, so its answer cannot leave the fifth alone with theirs."""
    auditor = Auditor(5, "key")
    auditor.told("maximum", some(5, 0, 1), 9)
    auditor.told("maximum", some(5, 2, 3, 4), 5)
    assert auditor.decide("maximum", some(5, 0, 1, 2, 3)) == ""
    assert auditor.decide("maximum", some(5, 2, 3)) == "told"


def test_who_must_be_at_one_bound_leaves_the_other_to_the_next():
    """The second must have the minimum 1, so the first has the maximum 9."""
    members = np.array([some(4, 0, 1), some(4, 1, 2), some(4, 2, 3), some(4, 2, 3)])
    largest, values = np.array([True, False, False, True]), np.array([18, 2, 6, 16])
    told = Told(largest=largest, values=values, members=members, sizes=np.ones(4, np.int64))
    assert judged(told) == ("told", {0, 1})
    free = Told(largest=largest[:2], values=values[:2], members=members[:2], sizes=np.ones(4, np.int64))
    assert judged(free) == ("fits", set())


@pytest.mark.parametrize("sum_first", [True, False])
def test_a_maximum_and_a_minimum_of_two_tell_their_sum(sum_first: bool):
    """Were the maximum of four above that of two, the other two would have it and the minimum: their sum is known."""
    auditor = Auditor(6, "key")
    extremes = [("minimum", some(6, 0, 1), 0), ("maximum", some(6, 2, 3), 10), ("maximum", some(6, 0, 1, 2, 3), 12)]
    last = ("sum", some(6, 0, 1, 4), 20)
    asked = [last, *extremes] if sum_first else [*extremes, last]
    reasons = []
    for kind, mask, answer in asked:
        reasons.append(auditor.decide(kind, mask))
        if not reasons[-1]:
            auditor.told(kind, mask, answer)
    assert reasons == ["", "", "", "mixed"]
    assert auditor.decide("sum", some(6, 4, 5)) == ""


def test_a_pivot_is_found_where_only_one_person_differs():
    basis = QuestionBasis(200, keyed_prime("key"))
    basis.barred = some(200, 50)
    basis.add(np.ones(200, bool))
    basis.add(~some(200, 50, 101))
    assert basis.pivots[1] == 101


def test_the_twin_is_read_off_its_refusals_and_the_auditor_is_not():
    """Kenthapadi, Mishra and Nissim 2005. The other table answers the same, and somebody else has the maxima."""
    values, other = np.array([3, 9, 4, 7, 5, 1]), np.array([3, 4, 9, 5, 1, 7])
    assert read_off(ValueDependent(values).ask, 6) == {1: 9, 3: 7}
    assert read_off(ValueDependent(other).ask, 6) == {2: 9, 5: 7}
    guesses = [read_off(audited(table), 6) for table in (values, other)]
    assert guesses[0] == guesses[1] == {0: 9, 3: 7}  # every pair is refused: the guess is the first that was left out


def audited(values: np.ndarray):
    auditor = Auditor(len(values), "key")

    def ask(mask: np.ndarray) -> int | None:
        if auditor.decide("maximum", mask):
            return None
        auditor.told("maximum", mask, int(values[mask].max()))
        return int(values[mask].max())

    return ask


def test_trackers_of_the_literature_fail():
    """Denning 1979: a padding set hides a small one; general and double trackers pad with a set and its complement."""
    people = 20
    victim, everybody = some(people, 0), np.ones(people, bool)
    club = some(people, *range(8))
    tracker = club & ~victim
    auditor = Auditor(people, "individual")
    for mask in (club, tracker):
        if not auditor.decide("sum", mask):
            auditor.told("sum", mask, 0)
    assert auditor.decide("sum", tracker) == "told"
    half = some(people, *range(10, 20))
    auditor = Auditor(people, "general")
    answered = []
    for mask in (half, ~half, everybody, half | victim, ~half | victim, ~half & ~victim):
        reason = auditor.decide("sum", mask)
        answered.append(not reason)
        if not reason:
            auditor.told("sum", mask, 0)
    assert answered == [True, True, True, False, True, False]
    lines = np.array([half, ~half, everybody], float)
    assert np.diag(np.linalg.pinv(lines) @ lines)[0] < 1


def test_a_width_keeps_parts_large():
    span = Span(low=0, high=100, width=30, means=(10, 90))
    assert span.least(2) == 3
    auditor = Auditor(12, "key", span=span)
    assert auditor.decide("sum", some(12, 0, 1)) == "width"
    assert auditor.decide("maximum", some(12, 0, 1, 2)) == "width"
    told = []
    values = np.array([10, 10, 10] + [90] * 3 + [50] * 6)
    for mask in (some(12, 0, 1, 2), some(12, 0, 1, 2, 3, 4, 5), some(12, *range(12))):
        assert auditor.decide("sum", mask) == ""
        auditor.told("sum", mask, 0)
        told.append(ToldFigure(number=1, sql="", kind="sum", mask=mask, units=int(values[mask].sum())))
    low, high = intervals(told, 12, span, 1.0)
    assert (high - low).min() == pytest.approx(30)
    with pytest.raises(ParameterError, match="low < means"):
        Span(low=0, high=1, width=1, means=(0, 1))


@given(masks(4, 3), st.sampled_from([3.0, 5.0, 7.0]), st.booleans())
@examples(24, deadline=None)
def test_sums_refused_for_the_width_are_those_of_the_definition(asked, width, corners):
    """With few atoms: refused just where some table would leave somebody less. Without corners no more is answered."""
    span = Span(low=0, high=12, width=width, means=(4, 8))
    auditor, told = Auditor(4, "key", span=span), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(width_rule, "FEW_ATOMS", 6 if corners else 0)
        for mask in asked:
            reason = auditor.decide("sum", mask)
            if reason in ("few", "told") or (reason == "" and not auditor.sums.foresee(mask).new):
                continue
            left = narrowest([*told, mask], (0, 12), (4, 8))
            assert reason == ("width" if left < width - 1e-6 else "") or (reason == "width" and not corners)
            if not reason:
                auditor.told("sum", mask, 0)
                told.append(mask)


def test_a_small_part_whose_sum_nobody_can_tell_is_wide():
    """Two who are in one sum and not in another: the 18 who are in both can take up what they do not have."""
    span = Span(low=0, high=100, width=60, means=(20, 80))
    assert span.least(2) == 3
    auditor = Auditor(22, "key", span=span)
    auditor.told("sum", some(22, *range(20)), 0)
    assert auditor.decide("sum", some(22, *range(2, 22))) == ""
    assert auditor.decide("sum", some(22, *range(2, 20))) == "width"  # the first two would be told


@given(masks(5), st.integers(2, 4))
@examples(100)
def test_looking_back_finds_who_is_known(asked, k):
    back, first = LookingBack(np.arange(5), "key", k=k), None
    for number, mask in enumerate(asked, start=1):
        back.take(ToldFigure(number=number, sql="", kind="sum", mask=mask, units=0))
        if first is None and sums_follow(asked[:number], k):
            first = number
    assert (back.found[0].number if back.found else None) == first
    lines = np.array(asked, float)
    known = np.flatnonzero(np.diag(np.linalg.pinv(lines) @ lines) > 1 - 1e-9) + 1
    assert sorted(one.rows[0] for one in back.found if one.what == "value") == known.tolist()


def test_looking_back_joins_maxima_and_sums():
    values = np.array([5, 3, 4, 9])
    back = LookingBack(values, "key", k=2)
    told = [("maximum", (0, 1, 2)), ("maximum", (1, 2)), ("sum", (0, 1))]
    for number, (kind, rows) in enumerate(told, start=1):
        mask = some(4, *rows)
        back.take(ToldFigure(number=number, sql="", kind=kind, mask=mask, units=int(RUN[kind](values[mask]))))
    assert [(one.rows, one.number) for one in back.found] == [((1,), 2), ((2,), 3), ((3,), 3)]


def test_primes_and_small_sums():
    assert is_prime(keyed_prime("log"))
    assert keyed_prime("log") == keyed_prime("log")
    signatures = np.array([[1, 2, 3, 8], [5, 5, 5, 3]])
    assert follows(signatures, np.ones(4, np.int64), 4, 11) is None
    assert follows(np.array([[1, 4, 6, 2], [2, 5, 4, 1]]), np.ones(4, np.int64), 4, 11) == (0, 1, 2)
    assert follows(np.array([[1, 4, 6, 2], [2, 5, 4, 1]]), np.array([1, 2, 1, 1]), 4, 11) is None


def test_sums_that_others_were_told_use_up_no_free_vectors():
    """A process that looked who is free, and then hears of many sums at once without deciding any."""
    dice, system = np.random.RandomState(4), KernelSums(60, "key")
    assert system.bar(some(60, 0, 1))
    assert system.leaves_free(some(60, 2, 3))
    for _ in range(30):
        assert system.add(dice.rand(60) < 0.5)
    assert system.rank == 30
    assert system.leaves_free(dice.rand(60) < 0.5)


def test_many_sums_keep_their_rank():
    """More sums than vectors are ready at once, with people barred in between."""
    dice, system = np.random.RandomState(3), KernelSums(60, "key")
    lines = []
    for number in range(45):
        mask = dice.rand(60) < 0.5
        new = np.linalg.matrix_rank(np.array([*lines, mask], float)) == len(lines) + 1
        assert system.foresee(mask).new == new
        assert system.add(mask) == new
        lines += [mask] if new else []
        if number == 20:
            assert system.bar(some(60, *range(10)))
            assert not (system.basis.pivots < 10).any()
    assert system.rank == len(lines)
    vectors = system._kernel
    assert not any(((vectors[:, line].sum(axis=1)) % system.prime).any() for line in lines)
