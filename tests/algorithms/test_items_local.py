"""Items left out of some records only: what is released satisfies the definitions, and only what must go is gone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.items import Sets, Trajectory
from sfumato.algorithms.items import suppression as greedy
from sfumato.algorithms.items.suppression import SCORES
from sfumato.core.run_context import Work
from sfumato.models.item_models import KMAnonymity
from sfumato.models.lkc import LKCPrivacy
from tests.brute import itemsets as brute
from tests.item_problems import (
    SECRET,
    holds,
    limits,
    problem_of,
    released,
    secrets_for,
    set_part,
    set_parts,
    walk_parts,
    watched,
)
from tests.itemized import ITEMS
from tests.weights import examples


def left(problem, outcome):
    """The records as the outcome says them: entries that are left out, and items that are not shown, are not there."""
    gone = set(outcome.stripped.tolist())
    rows = [set() for _ in range(problem.transactions.rows)]
    owners = problem.transactions.row_of.tolist()
    for place, (row, code) in enumerate(zip(owners, problem.transactions.codes.tolist(), strict=True)):
        if place not in gone and outcome.shown.to[code] >= 0:
            rows[row].add(outcome.shown.labels[outcome.shown.to[code]])
    return rows


@examples(150)
@given(
    data=st.data(),
    part=set_parts(),
    l=st.integers(1, 6),
    k=st.integers(1, 5),
    c=limits,
    values=watched,
    support=st.integers(1, 4),
    score=st.sampled_from(SCORES),
)
def test_the_release_satisfies_the_definition(data, part, l, k, c, values, support, score):
    secret = data.draw(secrets_for(part.records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=values)
    problem = problem_of([part], [model], secret)
    outcome = Trajectory(scope="local", support=support, score=score)(problem, Work())
    after = released(outcome)
    assert holds(model, after, secret)
    assert all(new <= old for new, old in zip(after, part.records, strict=True))
    assert after == left(problem, outcome)
    assert len(set(outcome.stripped.tolist())) == len(outcome.stripped)
    same = Sets(scope="local", support=support, score=score)(problem, Work())
    assert (same.steps, released(same)) == (outcome.steps, after)


@examples(100)
@given(data=st.data(), part=set_parts(), l=st.integers(1, 4), k=st.integers(1, 4), c=limits)
def test_only_records_with_a_violating_set_lose_an_item(data, part, l, k, c):
    """In the first round; later rounds look at what the first has left."""
    secret = data.draw(secrets_for(part.records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET)
    outcome = Trajectory(scope="local", support=2)(problem_of([part], [model], secret), Work())
    bad = brute.minimal_violating(part.records, secret, l, k, c)
    assert outcome.effort["violating sets"] == len(bad)
    assert bool(outcome.steps) == bool(bad)
    if outcome.effort["rounds"] == 1:
        for old, new in zip(part.records, released(outcome), strict=True):
            assert all(any(item in q and q <= old for q in bad) for item in old - new)
        assert all(not q <= new for q in bad for new in released(outcome))


@examples(100)
@given(
    data=st.data(),
    part=walk_parts() | set_parts(items="abcde", tree=True),
    l=st.integers(1, 4),
    k=st.integers(1, 4),
    c=limits,
    m=st.integers(1, 3),
    more=st.integers(1, 4),
)
def test_two_models_at_once_where_there_are_trees(data, part, l, k, c, m, more):
    secret = data.draw(secrets_for(part.records))
    models = [LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=("hiv",)), KMAnonymity(k=more, m=m)]
    problem = problem_of([part], models, secret)
    outcome = Trajectory(scope="local", support=2)(problem, Work())
    after = released(outcome)
    assert all(holds(model, after, secret) for model in models)
    assert after == left(problem, outcome)


@examples(100)
@given(
    data=st.data(),
    part=walk_parts() | set_parts(items="abcde", tree=True),
    rounds=st.integers(0, 1),
    l=st.integers(1, 3),
    k=st.integers(1, 4),
    c=limits,
    generalize=st.sampled_from(["auto", "never"]),
)
def test_after_the_last_local_round_the_search_goes_on_everywhere(data, part, rounds, l, k, c, generalize):
    """With few local rounds, or none, the rest is left out of all records or shown coarser."""
    secret = data.draw(secrets_for(part.records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET)
    problem = problem_of([part], [model], secret)
    before, greedy.MOST_ROUNDS = greedy.MOST_ROUNDS, rounds
    try:
        outcome = Trajectory(scope="local", support=2, generalize=generalize)(problem, Work())
    finally:
        greedy.MOST_ROUNDS = before
    after = released(outcome)
    assert holds(model, after, secret)
    assert after == left(problem, outcome)
    assert {step.label for step in outcome.steps if step.action == "strip"} >= {
        problem.transactions.labels[code] for code in problem.transactions.codes[outcome.stripped].tolist()
    }
    if not rounds:
        assert not len(outcome.stripped)
        whole = Trajectory(support=2, generalize=generalize)(problem, Work())
        assert (whole.steps, released(whole)) == (outcome.steps, after)


@examples(50)
@given(part=set_parts(), k=st.integers(1, 4), m=st.integers(1, 3))
def test_nothing_happens_where_nothing_violates(part, k, m):
    records = part.records * k
    problem = problem_of([set_part("bought", records, ITEMS)], [KMAnonymity(k=k, m=m)], ["flu"] * len(records))
    outcome = Trajectory(scope="local")(problem, Work())
    assert (outcome.steps, outcome.stripped.tolist(), released(outcome)) == ((), [], records)


def test_one_rare_pair_costs_one_item_of_one_record():
    """a and b are common and only once together; one of them goes there, and both stay everywhere else."""
    records = [frozenset("ab")] + [frozenset("a")] * 3 + [frozenset("b")] * 4
    problem = problem_of([set_part("bought", records, "ab")], [KMAnonymity(k=2, m=2)], ["flu"] * 8)
    outcome = Trajectory(scope="local", support=2)(problem, Work())
    assert released(outcome) == [frozenset("b"), *records[1:]]
    assert [(s.action, s.label, s.gain, s.left) for s in outcome.steps] == [("strip", "a", 1, 0)]
    assert outcome.stripped.tolist() == [0]
    everywhere = Trajectory(support=2)(problem, Work())
    assert released(everywhere) == [record - {"a"} for record in records]
