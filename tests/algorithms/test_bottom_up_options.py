"""Bottom-up generalization with its options: steps, sets of siblings, values put out, numbers, beams."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.bottom_up import BottomUp
from sfumato.core.errors import Infeasible, ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.models import (
    EMAnonymity,
    KAnonymity,
)
from sfumato.models.model import judge
from sfumato.tables.labels import roundest
from sfumato.testing.searches import check_outcome
from tests.algorithms.test_bottom_up import MISSING, MODES, SCORES, answer, paper, problem_of, problems, same
from tests.weights import examples


def test_steps_beyond_what_is_needed():
    problem = paper()
    found = BottomUp(steps=4)(problem, Work())
    assert (found.trail.enough, len(found.trail.steps)) == (1, 4)
    whole = BottomUp(steps=1000)(problem, Work())
    assert whole.trail.steps[:4] == found.trail.steps
    assert [one.labels for one in whole.cut] == [("*",)] * 3
    assert whole.trail.steps[-1].anonymity == problem.cells.rows
    assert BottomUp(steps=0)(paper(2), Work()).trail.enough == 0


def test_a_requirement_out_of_reach_is_refused():
    with pytest.raises(Infeasible, match="k = 30"):
        BottomUp()(paper(30), Work())
    assert BottomUp()(paper(29), Work()).trail.steps[-1].anonymity == 29


def test_an_unfinished_search_has_no_table():
    with pytest.raises(Infeasible, match="bottom-up took 0 steps in the time it had"):
        BottomUp()(paper(), Work(seconds=-1.0))
    stopped = BottomUp(steps=5)(paper(2), Work(seconds=-1.0))
    assert (len(stopped.trail.steps), stopped.effort["stopped"]) == (0, "by the time limit")


def test_scores_that_need_a_target():
    problem = replace(paper(), target=None)
    for score in ("information", "information-privacy"):
        with pytest.raises(PlanError, match=f"algorithm.score: {score} needs a column with role = 'target'"):
            BottomUp(score=score)(problem, Work())
    assert BottomUp()(problem, Work()).trail.score == "loss-privacy"
    assert BottomUp()(paper(), Work()).trail.score == "information-privacy"


def test_steps_beyond_are_refused_where_joining_can_break_a_model():
    problem = replace(paper(), models=(EMAnonymity(e=1.0, m=2, column="y"),))
    with pytest.raises(PlanError, match=r"algorithm.steps: steps beyond what is needed .* leave steps out"):
        BottomUp(steps=3)(problem, Work())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"score": "gini"}, "score must be one of"),
        ({"mode": "fast"}, "mode must be one of"),
        ({"partial": 1}, "partial must be true or false"),
        ({"suppress": "no"}, "suppress must be true or false"),
        ({"beam": 0}, "beam must be at least 1"),
        ({"beam": 65}, "beam must be at most 64"),
        ({"steps": -1}, "steps must be at least 0"),
    ],
)
def test_options_are_checked(options, words):
    with pytest.raises(ParameterError, match=words):
        BottomUp(**options)


# Beyond the paper


def test_siblings_are_joined_before_their_parent():
    """t, u and v are siblings; t and u alone are joined where that is enough."""
    quasi = {"u": ["t", "u", "v", "v", "r", "r"]}
    found = BottomUp(partial=True)(problem_of(quasi, target=list("001111")), Work())
    assert [(step.coarse, step.fine) for step in found.trail.steps] == [("{t, u}", ("t", "u"))]
    whole = BottomUp()(problem_of(quasi, target=list("001111")), Work())
    assert [step.coarse for step in whole.trail.steps] == ["T"]
    assert found.loss < whole.loss


@examples(100)
@given(problem=problems(missing=True))
def test_a_set_is_one_of_siblings(problem):
    found = answer(BottomUp(partial=True, score="loss-privacy"), problem)
    if found is None:
        return
    for one, hierarchy in zip(found.cut, problem.hierarchies, strict=True):
        tree = hierarchy.tree()
        for place, label in enumerate(one.labels):
            if label.startswith("{"):
                members = label[1:-1].split(", ")
                held = [tree.children[p] for p in range(len(tree.labels))]
                assert any(set(members) < {tree.labels[c] for c in below} for below in held)
                assert MISSING not in members
                assert one.sizes[place] <= hierarchy.total


def test_a_value_is_put_out():
    """One row of z alone: it goes under * together with the next rarest, and x stays."""
    quasi = {"b": ["x"] * 5 + ["y", "y", "z"]}
    problem = problem_of(quasi, target=list("01010101"))
    found = BottomUp(suppress=True, score="loss-privacy")(problem, Work())
    shown = dict(zip(problem.cells.labels[0], [found.cut[0].labels[c] for c in found.cut[0].of_code], strict=True))
    assert shown == {"x": "x", "y": "*", "z": "*"}
    assert dict(zip(found.cut[0].labels, found.cut[0].sizes, strict=True))["*"] == 3.0


@examples(100)
@given(problem=problems(missing=True), steps=st.sampled_from([None, 100]), partial=st.booleans())
def test_what_is_put_out_costs_everything(problem, steps, partial):
    found = answer(BottomUp(suppress=True, steps=steps, partial=partial), problem)
    if found is None:
        return
    for one, hierarchy in zip(found.cut, problem.hierarchies, strict=True):
        if "*" in one.labels:
            place = one.labels.index("*")
            assert (one.sizes[place], one.steps[place]) == (hierarchy.total, hierarchy.height)
        if steps:
            assert one.labels == ("*",)


def test_neighbouring_numbers_are_joined_at_round_edges():
    problem = problem_of({"n": ["12", "17", "38", "44", "44"]}, target=list("00111"), bounds=(0, 50))
    start = BottomUp().start(problem)
    assert start.table.columns[0].labels[:4] == ["[0-14)", "[14-30)", "[30-40)", "[40-50]"]
    found = BottomUp()(problem, Work())
    assert [step.coarse for step in found.trail.steps] == ["[0-30)", "[30-50]"]
    assert found.cut[0].edges == (30.0,)
    top = BottomUp(steps=9)(problem, Work())
    assert (top.cut[0].labels, top.trail.steps[-1].fine) == (("*",), ("[0-30)", "[30-50]"))


def test_missing_numbers_stay_until_the_last_step():
    problem = problem_of({"n": ["1", "5", "9", MISSING, MISSING]}, models=(KAnonymity(k=2),))
    found = BottomUp(score="loss-privacy")(problem, Work())
    assert found.cut[0].labels == ("*",)
    assert found.trail.steps[-1].fine[-1] == MISSING


@examples(100)
@given(problem=problems(numeric=True, missing=True), mode=st.sampled_from(MODES))
def test_intervals_hold_their_numbers(problem, mode):
    found = answer(BottomUp(mode=mode), problem)
    if found is None:
        return
    place = problem.cells.quasi.index("n")
    one, known = found.cut[place], problem.number(place)
    if one.edges:
        for code, number in enumerate(known):
            if not np.isnan(number):
                assert one.of_code[code] == sum(edge <= number for edge in one.edges)


@examples(40)
@given(
    problem=problems(numeric=True, missing=True, most=12),
    width=st.integers(2, 4),
    mode=st.sampled_from(MODES),
    score=st.sampled_from(SCORES),
)
def test_more_trails_never_lose_more(problem, width, mode, score):
    one = answer(BottomUp(score=score), problem)
    several = answer(BottomUp(score=score, beam=width, mode=mode), problem)
    assert (one is None) == (several is None)
    if several is None:
        return
    check_outcome(problem, several)
    assert several.loss <= one.loss + 1e-9
    assert several.trail.steps[-1:] == () or several.trail.steps[-1].loss == pytest.approx(several.loss, abs=1e-9)
    assert same(several, BottomUp(score=score, beam=width, mode="plain")(problem, Work()))
    for model in problem.models:
        assert judge(model, several.recoding(problem).view(problem, several.suppressed).classes, "value").holds


def test_two_trails_escape_where_one_does_not():
    quasi = {"a": ["a1", "a2", "b1", "c1", "c2", "c2"], "b": ["x", "y", "y", "x", "z", "z"]}
    problem = problem_of(quasi, target=list("010101"))
    assert BottomUp(beam=4)(problem, Work()).loss <= BottomUp()(problem, Work()).loss


# Released and verified from the written bytes


@pytest.mark.parametrize("options", [{}, {"partial": True}, {"suppress": True, "score": "loss-privacy"}, {"beam": 2}])
@pytest.mark.parametrize("bounds", [{}, {"low": 0, "high": 120}])
def test_what_it_releases_verifies(tmp_path: Path, options, bounds):
    census = sf.datasets.census(400, seed=4)
    names = ("workclass", "education", "marital-status", "sex")
    columns = {name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}} for name in names}
    columns |= {"age": {"role": "quasi", "hierarchy": {"kind": "grown", **bounds}}, "income": {"role": "target"}}
    tree = {"columns": columns, "privacy": {"k_anonymity": 10}, "algorithm": {"name": "bottom-up", **options}}
    made = sf.release(sf.Plan.parse(tree), census.select(*columns))
    checked = made.write(tmp_path / "b")
    assert checked.holds, [check for check in checked.checks if not check.holds]
    assert made.smallest_class["value"] >= 10


# Round numbers


@examples(300)
@given(a=st.integers(-3000, 3000), width=st.integers(1, 4000), shift=st.integers(0, 3))
def test_the_roundest_number_lies_between(a, width, shift):
    scale = 10**shift
    low, high = a / scale, (a + width) / scale
    found = roundest(low, high)
    assert low < found <= high
    steps = [10**j for j in range(4, -1, -1) if (a + width) // 10**j * 10**j > a]
    whole = round(found * scale)
    assert whole / scale == found
    assert whole % steps[0] == 0
    others = [n for n in range(a + 1, a + width + 1) if n % steps[0] == 0]
    if 0 in others:
        assert whole == 0
    else:
        assert whole == min(others, key=lambda n: (abs(2 * n - 2 * a - width), n))


def test_numbers_that_have_nothing_between_them():
    above = float(np.nextafter(0.1, 1))
    assert roundest(0.1, above) == above


@examples(60)
@given(problem=problems(), mode=st.sampled_from(("index", "pruning")))
def test_rows_of_one_hash_are_told_apart(problem, mode):
    """With words that are all alike every row has the same hash; the steps stay the same."""
    expected = outcome(problem, mode="plain")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "sfumato.algorithms.bottom_up.virtual_identifiers._words", lambda count, salt: np.zeros(count, np.int64)
        )
        assert outcome(problem, mode=mode) == expected


def outcome(problem, **options):
    try:
        found = BottomUp(**options)(problem, Work())
    except Infeasible:
        return None
    return found.trail, found.loss
