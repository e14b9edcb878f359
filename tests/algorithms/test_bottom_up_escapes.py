"""Beams and random walks of bottom-up generalization: they leave local optima, and never lose more than the climb."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.bottom_up import BottomUp
from sfumato.core.errors import Infeasible, Interrupted, ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.models import KAnonymity
from sfumato.testing.searches import check_outcome
from tests.algorithms.test_bottom_up import MODES, SCORES, TREES, answer, problem_of, problems, same
from tests.brute.bottom_up import least_loss
from tests.brute.trees import Tree, k_anonymous
from tests.weights import examples

STUCK = {"a": ["c2", "a2", "c2", "a2"], "b": ["z", "y", "x", "y"]}
"""The climb makes * of a whole column too many."""


def least(quasi, k=2):
    rows = list(zip(*quasi.values(), strict=True))
    return least_loss(rows, [Tree(TREES[name]) for name in quasi], k_anonymous(k))


def seeded(seed):
    return Work(chance=Chance(seed=seed))


def test_the_climb_is_caught_where_beams_and_walks_are_not():
    problem = problem_of(STUCK)
    assert least(STUCK) == pytest.approx(0.5)
    assert BottomUp(score="loss-privacy")(problem, Work()).loss == pytest.approx(0.6875)
    for options in ({"beam": 2}, {"beam": 4}, {"escapes": 5}, {"beam": 2, "escapes": 2}):
        found = BottomUp(score="loss-privacy", **options)(problem, Work())
        check_outcome(problem, found)
        assert found.loss == pytest.approx(0.5)
        assert found.trail.steps[-1].loss == pytest.approx(found.loss)
        assert found.trail.enough == len(found.trail.steps)


@examples(80)
@given(data=st.data(), rows=st.integers(3, 8), beam=st.integers(1, 3))
def test_all_cuts_lie_below_and_the_climb_above(data, rows, beam):
    names = data.draw(st.permutations(["a", "b", "c"]))[: data.draw(st.integers(1, 3))]
    some = {name: st.lists(st.sampled_from(list(TREES[name])), min_size=rows, max_size=rows) for name in names}
    quasi = {name: data.draw(values) for name, values in some.items()}
    problem = problem_of(quasi)
    found = BottomUp(score="loss-privacy", beam=beam, escapes=8)(problem, seeded(1))
    check_outcome(problem, found)
    assert least(quasi) - 1e-9 <= found.loss <= BottomUp(score="loss-privacy")(problem, Work()).loss + 1e-9


def test_twenty_walks_find_the_best_of_all_cuts():
    """Of these 12 tables the climb misses the best cut in some; the walks, with their seed, in none."""
    chance, caught = Random(8), 0
    for _ in range(12):
        rows = chance.randint(4, 7)
        quasi = {name: [chance.choice(list(TREES[name])) for _ in range(rows)] for name in ("a", "b")}
        problem = problem_of(quasi)
        best = least(quasi)
        caught += BottomUp(score="loss-privacy")(problem, Work()).loss > best + 1e-9
        assert BottomUp(score="loss-privacy", escapes=20)(problem, seeded(2)).loss == pytest.approx(best)
        assert BottomUp(score="loss-privacy", beam=4)(problem, Work()).loss == pytest.approx(best)
    assert caught >= 3


@examples(40)
@given(
    problem=problems(numeric=True, missing=True, most=7),
    score=st.sampled_from(SCORES),
    partial=st.booleans(),
    suppress=st.booleans(),
)
def test_more_trails_never_lose_more_than_the_first_alone(problem, score, partial, suppress):
    options = {"score": score, "partial": partial, "suppress": suppress}
    losses = [found and found.loss for found in (answer(BottomUp(beam=b, **options), problem) for b in (1, 2, 4))]
    for more in losses[1:]:
        assert (losses[0] is None) == (more is None)
        assert more is None or more <= losses[0] + 1e-9


@examples(40)
@given(
    problem=problems(numeric=True, missing=True, most=10),
    mode=st.sampled_from(MODES),
    score=st.sampled_from(SCORES),
    partial=st.booleans(),
    suppress=st.booleans(),
    steps=st.sampled_from([None, 3]),
)
def test_walks_keep_the_models_and_never_lose_more(problem, mode, score, partial, suppress, steps):
    options = {"score": score, "partial": partial, "suppress": suppress, "steps": steps}
    one = answer(BottomUp(**options), problem)
    if one is None:
        with pytest.raises(Infeasible):
            BottomUp(escapes=3, **options)(problem, seeded(5))
        return
    found = BottomUp(escapes=4, mode=mode, **options)(problem, seeded(5))
    check_outcome(problem, found)
    assert found.loss <= one.loss + 1e-9
    assert len(found.trail.steps) >= min(steps or 0, len(one.trail.steps))
    assert same(found, BottomUp(escapes=4, **options)(problem, seeded(5)))
    more = BottomUp(escapes=7, **options)(problem, seeded(5))
    assert more.loss <= found.loss + 1e-9
    assert found.effort["walks"] == 4


def test_a_plan_without_a_seed_takes_the_same_walks_again():
    problem = problem_of(STUCK)
    first = BottomUp(escapes=3)(problem, Work())
    assert same(first, BottomUp(escapes=3)(problem, Work()))


def test_steps_that_are_owed_are_not_taken_back():
    found = BottomUp(escapes=3, beam=2, steps=4, score="loss-privacy")(problem_of(STUCK), Work())
    assert len(found.trail.steps) >= 4


class Watcher:
    """Hears what is told, and does something when the walks have begun."""

    def __init__(self, then):
        self.then, self.heard = then, []

    def advance(self, stage, done, total):
        self.heard.append((stage, done, total))
        if total == 9:
            self.then()


def test_walks_tell_how_far_they_are():
    watcher = Watcher(lambda: None)
    BottomUp(escapes=9)(problem_of(STUCK), Work(progress=watcher))
    assert ("search", 0, 9) in watcher.heard


def test_walks_can_be_stopped():
    work = Work()
    work.progress = Watcher(work.cancelled.set)
    with pytest.raises(Interrupted):
        BottomUp(escapes=9)(problem_of(STUCK), work)


@pytest.mark.parametrize("options", [{"escapes": 9}, {"beam": 3, "escapes": 9}])
def test_when_the_time_is_over_the_best_so_far_is_given(options):
    problem = problem_of(STUCK)
    work = Work()

    def over():
        work.seconds = -1.0

    work.progress = Watcher(over)
    found = BottomUp(score="loss-privacy", **options)(problem, work)
    check_outcome(problem, found)
    assert found.effort["stopped"] == "by the time limit"
    assert found.effort["walks"] < 9
    assert found.loss <= BottomUp(score="loss-privacy")(problem, Work()).loss


def test_no_time_no_table():
    with pytest.raises(Infeasible, match="in the time it had"):
        BottomUp(escapes=3, beam=2)(problem_of(STUCK, models=(KAnonymity(k=3),)), Work(seconds=-1.0))


def test_escapes_are_a_number():
    with pytest.raises(ParameterError, match="escapes must be at least 0"):
        BottomUp(escapes=-1)
