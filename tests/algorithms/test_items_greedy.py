"""Greedy suppression against the literal algorithm, its claims, and its links."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.items import Sets, Trajectory
from sfumato.algorithms.items.alternatives import Links
from sfumato.algorithms.items.suppression import SCORES, scores
from sfumato.algorithms.items.suppression import records as needed
from sfumato.core.errors import ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.counts.frequent_itemsets import maximal_frequent
from sfumato.counts.itemsets import Itemsets, violating
from sfumato.models.item_models import KMAnonymity, RhoUncertainty
from sfumato.models.lkc import LKCPrivacy
from tests.brute import itemsets as brute
from tests.item_problems import (
    SECRET,
    cell_part,
    holds,
    joined,
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

THESIS = ("ratio", "gain", "loss")


@examples(120)
@given(
    data=st.data(),
    part=set_parts(),
    order=st.permutations(ITEMS),
    l=st.integers(1, 7),
    k=st.integers(1, 5),
    c=limits,
    values=watched,
    support=st.integers(1, 4),
)
def test_every_score_is_the_literal_algorithm(data, part, order, l, k, c, values, support):
    """The same items go in the same order, and the same records are left."""
    secret = data.draw(secrets_for(part.records))
    part = set_part("bought", part.records, order)
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=values)
    problem = problem_of([part], [model], secret)
    for score in THESIS:
        outcome = Trajectory(score=score, support=support)(problem, Work())
        gone, left = brute.anonymize(part.records, secret, list(order), l, k, c, values, support, score)
        assert [step.label for step in outcome.steps] == gone
        assert released(outcome) == left
        assert {step.action for step in outcome.steps} <= {"suppress"}
        assert model.check_items(problem.looked_at(model, outcome.transactions)).holds
        same = Sets(by="suppression", score=score, support=support)(problem, Work())
        assert (same.steps, released(same)) == (outcome.steps, left)


@examples(100)
@given(data=st.data(), part=set_parts(), l=st.integers(1, 4), k=st.integers(1, 4), c=limits, support=st.integers(1, 4))
def test_steps_tell_gains_losses_and_what_is_left(data, part, l, k, c, support):
    secret = data.draw(secrets_for(part.records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET)
    outcome = Trajectory(score="ratio", support=support)(problem_of([part], [model], secret), Work())
    bad = list(brute.minimal_violating(part.records, secret, l, k, c))
    useful = list(brute.maximal_frequent(part.records, support))
    assert outcome.effort["violating sets"] == len(bad)
    if bad:
        assert outcome.effort["maximal frequent sets"] == len(useful)
    for step in outcome.steps:
        assert (step.gain, step.loss) == (brute.gains(bad, step.label), brute.gains(useful, step.label))
        bad = [q for q in bad if step.label not in q]
        useful = [q for q in useful if step.label not in q]
        assert step.left == len(bad)
    assert not bad


@examples(120)
@given(
    data=st.data(),
    part=set_parts(),
    l=st.integers(1, 6),
    k=st.integers(1, 5),
    c=limits,
    values=watched,
    support=st.integers(1, 4),
)
def test_the_cheapest_way_leaves_nothing_out_needlessly(data, part, l, k, c, values, support):
    """As the literal search says; and with any one item shown again, some violating set stands in a record."""
    secret = data.draw(secrets_for(part.records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=values)
    outcome = Trajectory(score="cheapest", support=support)(problem_of([part], [model], secret), Work())
    bad = brute.minimal_violating(part.records, secret, l, k, c, values)
    useful = brute.maximal_frequent(part.records, support)
    taken = cheapest(bad, useful)
    kept = needed_of(taken, bad, useful)
    assert [step.label for step in outcome.steps] == [item for item in taken if item in kept]
    assert released(outcome) == [record - kept for record in part.records]
    if bad:
        assert outcome.effort["restored"] == len(taken) - len(kept)
    for item in kept:
        assert not holds(model, [record - (kept - {item}) for record in part.records], secret)


def cheapest(bad, useful):
    """The items in the order in which they go: those of no frequent set first, of most violating sets first."""
    found, bad, useful = [], list(bad), list(useful)
    while bad:
        pairs = {item: (brute.gains(bad, item), brute.gains(useful, item)) for item in ITEMS}
        worth = {i: (not loss, Fraction(gain, loss or 1)) for i, (gain, loss) in pairs.items() if gain}
        winner = next(item for item in ITEMS if item in worth and worth[item] == max(worth.values()))
        found.append(winner)
        bad = [q for q in bad if winner not in q]
        useful = [q for q in useful if winner not in q]
    return found


def needed_of(taken, bad, useful):
    """Those items that have to stay out, where the items of most frequent sets are looked at first."""
    kept = set(taken)
    for item in sorted(taken, key=lambda one: (-brute.gains(useful, one), one)):
        if all(q & (kept - {item}) for q in bad):
            kept.remove(item)
    return kept


def test_cheapest_scores():
    found = scores(np.array([3, 1, 2, 0]), np.array([2.0, 0.0, 4.0, 0.0]), "cheapest")
    assert np.argsort(-found, kind="stable").tolist() == [1, 0, 2, 3]
    assert (found[0], found[2], found[3]) == (1.5, 0.5, -1)


@examples(100)
@given(
    data=st.data(),
    part=set_parts(),
    l=st.integers(1, 4),
    k=st.integers(1, 4),
    c=limits,
    score=st.sampled_from(SCORES),
)
def test_what_is_kept_has_its_true_support(data, part, l, k, c, score):
    secret = data.draw(secrets_for(part.records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET)
    outcome = Trajectory(score=score, support=2)(problem_of([part], [model], secret), Work())
    after = released(outcome)
    for q in brute.known(after, None):
        assert brute.supported(after, q) == brute.supported(part.records, q)
    left = {item for record in after for item in record}
    assert after == [record & left for record in part.records]
    assert not set(outcome.shown.labels) & {step.label for step in outcome.steps}


@examples(100)
@given(
    part=set_parts(items="abcde"),
    rho=limits,
    bound=st.none() | st.integers(1, 3),
    k=st.integers(1, 4),
    m=st.integers(1, 3),
    score=st.sampled_from(SCORES),
    tree=st.booleans(),
)
def test_rho_uncertainty_and_km_anonymity_at_once(part, rho, bound, k, m, score, tree):
    """Items are left out everywhere, also where there is a tree."""
    secret = ["flu"] * len(part.records)
    part = set_part("bought", part.records, "abcde", dict.fromkeys("abcde", ("P",)) if tree else None)
    models = [RhoUncertainty(rho=float(rho), sensitive=("a", "b"), l=bound), KMAnonymity(k=k, m=m)]
    for algorithm in (Trajectory(score=score, support=2), Sets(score=score, support=2)):
        outcome = algorithm(problem_of([part], models, secret), Work())
        after = released(outcome)
        assert all(holds(model, after, secret) for model in models)
        assert {step.action for step in outcome.steps} <= {"suppress"}
        for q in brute.known(after, None):
            assert brute.supported(after, q) == brute.supported(part.records, q)


@examples(100)
@given(
    data=st.data(),
    part=walk_parts(),
    l=st.integers(1, 4),
    k=st.integers(1, 4),
    m=st.integers(1, 4),
    more=st.integers(1, 4),
    c=limits,
)
def test_two_models_at_once_without_trees_used(data, part, l, k, m, more, c):
    secret = data.draw(secrets_for(part.records))
    models = [LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=("hiv",)), KMAnonymity(k=more, m=m)]
    outcome = Trajectory(support=2, generalize="never")(problem_of([part], models, secret), Work())
    after = released(outcome)
    assert all(holds(model, after, secret) for model in models)
    assert {step.action for step in outcome.steps} <= {"suppress"}


@examples(100)
@given(part=set_parts(), k=st.integers(1, 4), m=st.integers(1, 3))
def test_nothing_happens_where_nothing_violates(part, k, m):
    records = part.records * k
    made = set_part("bought", records, ITEMS)
    outcome = Trajectory(support=1)(problem_of([made], [KMAnonymity(k=k, m=m)], ["flu"] * len(records)), Work())
    assert (outcome.steps, released(outcome)) == ((), records)
    assert outcome.shown.labels == tuple(ITEMS)
    assert outcome.effort["rounds"] == 0


@examples(150)
@given(data=st.data(), part=set_parts(), k=st.integers(1, 4), support=st.integers(1, 3), mined=st.booleans())
def test_links_count_living_sets(data, part, k, support, mined):
    """After any removals the counts are those of a recount."""
    table = part.items()
    problem = problem_of([part], [], ["flu"] * len(part.records))
    made = problem.transactions
    sets = violating(made, l=3, k=k, c=1.0) if mined else maximal_frequent(made, support)
    links, named = Links(sets, made.count), list(map(frozenset, sets.labelled(made.labels)))
    living = set(range(sets.count))
    for _ in range(data.draw(st.integers(0, 4))):
        gone = data.draw(st.sets(st.sampled_from(sorted(living)))) if living else set()
        links.remove(np.array(sorted(gone), np.int32))
        living -= gone
        assert links.living == len(living)
        for code, item in enumerate(table.labels):
            holding = [number for number in sorted(living) if item in named[number]]
            assert links.holding(code).tolist() == holding
            assert links.counts[code] == len(holding)
        some = sorted(living)[:2]
        wanted = [item for number in some for item in sets.labelled(made.labels)[number]]
        assert [made.labels[code] for code in links.items_of(np.array(some, np.int32))] == wanted


def test_links_of_no_sets():
    links = Links(Itemsets.joined([]), 3)
    assert (links.living, links.counts.tolist(), links.holding(2).tolist()) == (0, [0, 0, 0], [])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"score": "gian"}, "score must be one of cheapest, ratio, gain, loss, not 'gian'"),
        ({"scope": "locally"}, "scope must be one of global, local"),
        ({"support": 0}, "support must be a share above 0, or a number of records, not 0"),
        ({"support": -0.5}, "support must be a share above 0"),
        ({"support": 1.5}, "support must be a whole number, not 1.5"),
        ({"support": True}, "support must be a finite number, not True"),
        ({"support": "few"}, "support must be a finite number, not 'few'"),
    ],
)
def test_options_are_refused_by_name(wrong, words):
    for algorithm in (Trajectory, Sets):
        with pytest.raises(ParameterError, match=words):
            algorithm(**wrong)


def test_the_options_of_one_algorithm_only():
    with pytest.raises(ParameterError, match="generalize must be one of auto, never, not 'always'"):
        Trajectory(generalize="always")
    with pytest.raises(ParameterError, match="by must be one of auto, suppression, generalization, not 'tree'"):
        Sets(by="tree")


@pytest.mark.parametrize(
    ("support", "rows", "many"), [(1, 9, 1), (3.0, 9, 3), (0.1, 9, 1), (0.2, 10, 2), (0.21, 10, 3)]
)
def test_support_is_a_share_or_a_number(support, rows, many):
    assert needed(support, rows) == many


def test_what_an_algorithm_cannot_do_is_refused():
    part = set_part("bought", [frozenset("ab")], "ab")
    cells = cell_part("job", ["u"], "uv")
    rho = RhoUncertainty(rho=0.5, sensitive=("a",))
    km = KMAnonymity(k=2, m=2)
    cases = [
        (Trajectory(scope="local"), [part], rho, "algorithm.scope: rho-uncertainty is met by leaving items out of all"),
        (Trajectory(scope="local"), [cells, part], km, "algorithm.scope: columns of a table cannot be left out"),
        (Sets(by="generalization"), [part], km, "columns.bought.hierarchy is missing; without a tree use"),
    ]
    for algorithm, parts, model, words in cases:
        with pytest.raises(PlanError, match=words):
            algorithm(problem_of(parts, [model], ["flu"]), Work())
    tree = set_part("bought", [frozenset("ab")], "ab", {"a": ("P",), "b": ("P",)})
    with pytest.raises(PlanError, match=r"algorithm\.by: rho-uncertainty goes with 'suppression' only"):
        Sets(by="generalization")(problem_of([tree], [rho], ["flu"]), Work())
    with pytest.raises(PlanError, match=r"algorithm\.by: scope = 'local' goes with 'suppression' only"):
        Sets(by="generalization", scope="local")(problem_of([tree], [km], ["flu"]), Work())


def test_the_builders_hold_the_table():
    """Records of several columns come back as labels."""
    parts = [cell_part("job", "uv", "uv"), set_part("bought", [frozenset("ab"), frozenset()], "ab")]
    made = problem_of(parts, [], ["flu", "hiv"])
    assert list(map(frozenset, made.transactions.records())) == joined(parts)
    assert joined(parts) == [frozenset({"job=u", "a", "b"}), frozenset({"job=v"})]
