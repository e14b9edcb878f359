"""Items shown coarser: what is released satisfies the definitions, lies above the original, and is one partition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.algorithms.items import Sets, Trajectory
from sfumato.algorithms.items.problem import Cover
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.models.item_models import KMAnonymity
from sfumato.models.lkc import LKCPrivacy
from tests.item_problems import (
    SECRET,
    Part,
    axis_of,
    cell_part,
    coarsest,
    holds,
    joined,
    limits,
    mixed_parts,
    problem_of,
    released,
    secrets_for,
    set_part,
    set_parts,
    shown_as,
    trunks,
    walk_part,
    walk_parts,
    watched,
)
from tests.weights import examples

BOTH = (Trajectory(support=2), Sets(by="generalization"))


def checked(parts, models, secret, algorithm):
    """Release, and look at everything that must hold of every recoding; Infeasible is passed on."""
    outcome = algorithm(problem_of(parts, models, secret), Work())
    after, shown = released(outcome), shown_as(parts, outcome)
    assert all(holds(model, after, secret) for model in models), (outcome.steps, after)
    assert after == [frozenset(shown[item] for item in row if item in shown) for row in joined(parts)]
    for part in parts:
        mine = {item: label for item, label in shown.items() if item in part.labels}
        assert len(mine) == len(part.labels) or not part.closed
        for label in set(mine.values()):
            assert {item for item in mine if part.covers(label, item)} == {i for i in mine if mine[i] == label}
            code = outcome.shown.labels.index(label)
            assert outcome.shown.spread[code] == part.spread(label)
            assert outcome.shown.penalty[code] == pytest.approx(float(part.penalty(label)))
    return outcome


def or_infeasible(parts, models, secret, algorithm):
    """A release; or none, where even the coarsest one violates, and only there."""
    possible = all(holds(model, coarsest(parts), secret) for model in models)
    try:
        outcome = checked(parts, models, secret, algorithm)
    except Infeasible:
        assert not possible, "a coarser release would do"
        return None
    assert possible
    return outcome


@examples(100)
@given(
    data=st.data(),
    part=set_parts(tree=True),
    l=st.integers(1, 6),
    k=st.integers(1, 5),
    c=limits,
    values=watched,
    support=st.integers(1, 4),
)
def test_sets_with_a_tree(data, part, l, k, c, values, support):
    secret = data.draw(secrets_for(part.records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=values)
    for algorithm in (Trajectory(support=support), Sets(support=support)):
        checked([part], [model], secret, algorithm)


@examples(80)
@given(data=st.data(), part=walk_parts(), l=st.integers(1, 4), k=st.integers(1, 4), c=limits, values=watched)
def test_paths_with_trees_over_places_and_times(data, part, l, k, c, values):
    secret = data.draw(secrets_for(part.records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=values)
    for algorithm in BOTH:
        checked([part], [model], secret, algorithm)


@examples(80)
@given(
    data=st.data(),
    part=walk_parts(places="ab") | set_parts(items="abcde", tree=True),
    l=st.integers(1, 3),
    k=st.integers(1, 4),
    c=limits,
    m=st.integers(1, 3),
    more=st.integers(1, 4),
)
def test_two_models_at_once(data, part, l, k, c, m, more):
    secret = data.draw(secrets_for(part.records))
    models = [LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=("hiv",)), KMAnonymity(k=more, m=m)]
    for algorithm in BOTH:
        checked([part], models, secret, algorithm)


@examples(150)
@given(
    data=st.data(),
    parts=mixed_parts(),
    l=st.integers(1, 3),
    k=st.integers(1, 3),
    c=limits,
    values=watched,
    generalize=st.sampled_from(["auto", "never"]),
)
def test_a_table_beside_a_path_by_greedy_search(data, parts, l, k, c, values, generalize):
    """Infeasible is said exactly where the closed columns violate at their coarsest, with all else left out."""
    secret = data.draw(secrets_for(parts[0].records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=values)
    outcome = or_infeasible(parts, [model], secret, Trajectory(support=2, generalize=generalize))
    if outcome and generalize == "never":
        risen = {step.label for step in outcome.steps if step.action == "generalize"}
        assert all(owner_of_shown(parts, label).closed for label in risen)


def owner_of_shown(parts: list[Part], label: str) -> Part:
    return next((part for part in parts if part.closed and label.startswith(f"{part.name}=")), parts[-1])


@examples(150)
@given(data=st.data(), parts=mixed_parts(), l=st.integers(1, 3), k=st.integers(1, 3), c=limits, values=watched)
def test_a_table_beside_a_path_by_apriori(data, parts, l, k, c, values):
    parts = [with_tree(part) for part in parts]
    secret = data.draw(secrets_for(parts[0].records))
    model = LKCPrivacy(l=l, k=k, c=float(c), column=SECRET, values=values)
    or_infeasible(parts, [model], secret, Sets(by="generalization"))


def with_tree(part: Part) -> Part:
    """The column with a flat tree where it had none."""
    if part.trunks[0] is not None:
        return part
    cells = [next(iter(record)).removeprefix(f"{part.name}=") for record in part.records]
    return cell_part(part.name, cells, part.on[0], dict.fromkeys(part.on[0], ()))


@examples(80)
@given(
    data=st.data(),
    parts=mixed_parts(),
    l=st.integers(1, 3),
    k=st.integers(1, 3),
    c=limits,
    m=st.integers(1, 3),
    more=st.integers(1, 3),
)
def test_a_table_beside_a_path_with_two_models(data, parts, l, k, c, m, more):
    secret = data.draw(secrets_for(parts[0].records))
    models = [KMAnonymity(k=more, m=m), LKCPrivacy(l=l, k=k, c=float(c), column=SECRET)]
    or_infeasible(parts, models, secret, Trajectory(support=2))


@examples(80)
@given(data=st.data(), part=set_parts(tree=True) | walk_parts(), k=st.integers(1, 3), m=st.integers(1, 4))
def test_nothing_rises_where_nothing_violates(data, part, k, m):
    records = part.records * k
    made = Part(name=part.name, records=records, labels=part.labels, on=part.on, values=part.values, trunks=part.trunks)
    for algorithm in BOTH:
        outcome = checked([made], [KMAnonymity(k=k, m=m)], ["flu"] * len(records), algorithm)
        assert outcome.steps == ()
        assert released(outcome) == records
        assert outcome.shown.labels == part.labels
        assert not outcome.shown.penalty.any()


@examples(80)
@given(part=set_parts(tree=True) | walk_parts(), k=st.integers(1, 4), m=st.integers(1, 3))
def test_what_can_rise_is_not_left_out(part, k, m):
    """With at least k records that are not empty nothing has to go: the root stands for all."""
    outcome = checked([part], [KMAnonymity(k=k, m=m)], ["flu"] * len(part.records), Sets(by="generalization"))
    if sum(map(bool, part.records)) >= k:
        assert {step.action for step in outcome.steps} <= {"generalize"}
        assert list(map(bool, released(outcome))) == list(map(bool, part.records))


UNEVEN = {"x": ("P", "PQ"), "y": ("P", "PQ"), "z": ("P",), "w": ()}


def test_a_closed_column_rises_on_from_a_risen_neighbour():
    """x and y rise to PQ first, which is too rare still; z can rise to P, which covers PQ, and none is refused."""
    part = cell_part("job", "xyzwww", "xyzw", UNEVEN)
    outcome = checked([part], [KMAnonymity(k=3, m=1)], ["flu"] * 6, Sets(by="generalization"))
    assert released(outcome) == [frozenset({"job=P"})] * 3 + [frozenset({"job=w"})] * 3


def test_an_item_rises_on_from_a_risen_neighbour():
    part = set_part("bought", [frozenset(item) for item in "xyzwww"], "xyzw", UNEVEN)
    outcome = checked([part], [KMAnonymity(k=3, m=1)], ["flu"] * 6, Sets(by="generalization"))
    assert released(outcome) == [frozenset("P")] * 3 + [frozenset("w")] * 3


def test_a_closed_column_rises_no_higher_than_it_must():
    """No value is frequent, so no way up loses anything; the lowest that does is taken."""
    part = cell_part("job", "xyzzz", "xyz", {"x": ("P",), "y": ("P",), "z": ()})
    outcome = checked([part], [KMAnonymity(k=2, m=1)], ["flu"] * 5, Trajectory(support=4))
    assert released(outcome) == [frozenset({"job=P"})] * 2 + [frozenset({"job=z"})] * 3


# The cover.


def walked(place_trunks, time_trunks, pairs="a1 a2 b1 b2"):
    records = [frozenset(f"{pair[0]}@{pair[1]}" for pair in pairs.split())]
    part = walk_part("way", records, "abc", "123", [place_trunks, time_trunks])
    return part, Cover([part.space(0)])


def node_at(part: Part, *labels: str) -> tuple[int, ...]:
    return tuple(axis.tree.labels.index(label) for axis, label in zip(part.space(0).axes, labels, strict=True))


AB = {"a": ("P",), "b": ("P",), "c": ()}
EARLY = {"1": ("Q",), "2": ("Q",), "3": ()}


def test_nodes_that_overlap_in_part_rise_to_their_closure():
    """a@1 and b@1 are shown as P@1; a at Q would cut through it, so all four are shown as P@Q."""
    part, cover = walked(AB, EARLY, "a1 a2 b1 b2 c3")
    assert cover.raise_to(part.labels.index("a@1"), node_at(part, "P", "1")) == node_at(part, "P", "1")
    assert cover.shown().labels == ("P@1", "a@2", "b@2", "c@3")
    node, inside = cover.raised(part.labels.index("a@2"), node_at(part, "a", "Q"))
    assert node == node_at(part, "P", "Q")
    assert [label for label, under in zip(part.labels, inside, strict=True) if under] == ["a@1", "b@1", "a@2", "b@2"]
    assert cover.raise_to(part.labels.index("a@2"), node_at(part, "a", "Q")) == node
    shown = cover.shown()
    assert shown.labels == ("P@Q", "c@3")
    assert shown.spread.tolist() == [4, 1]
    assert shown.penalty.tolist() == [3 / 8, 0]


def test_what_is_left_out_is_in_nobody_s_way():
    part, cover = walked(AB, EARLY, "a1 a2 b1 b2")
    cover.raise_to(part.labels.index("a@1"), node_at(part, "P", "1"))
    kept = cover.copy()
    cover.leave_out(part.labels.index("b@1"))
    assert cover.shown().labels == ("a@2", "b@2")
    assert cover.raise_to(part.labels.index("a@2"), node_at(part, "a", "Q")) == node_at(part, "a", "Q")
    assert cover.shown().labels == ("a@Q", "b@2")
    assert cover.shown().to.tolist() == [-1, -1, 0, 1]
    assert kept.shown().labels == ("P@1", "a@2", "b@2")


def test_showing_again_is_as_before():
    """a@1 was left out before b@1 rose to P@1; when P@1 is shown again, a@1 is not."""
    part, cover = walked(AB, EARLY, "a1 a2 b1 b2")
    cover.leave_out(part.labels.index("a@1"))
    cover.raise_to(part.labels.index("b@1"), node_at(part, "P", "1"))
    before = cover.shown()
    assert (before.labels, before.to.tolist()) == (("P@1", "a@2", "b@2"), [-1, 0, 1, 2])
    cover.leave_out(part.labels.index("b@1"))
    cover.show_again(part.labels.index("b@1"))
    assert cover.shown().to.tolist() == before.to.tolist()


@examples(100)
@given(data=st.data(), part=walk_parts(places="abcd", most=5))
def test_any_steps_leave_a_partition_and_rise_as_little_as_possible(data, part):
    space = part.space(0)
    cover, gone = Cover([space]), set()
    for _ in range(data.draw(st.integers(0, 4)) if part.labels else 0):
        item = data.draw(st.integers(0, len(part.labels) - 1))
        before = [cover.node_of(code) for code in range(len(part.labels))]
        if data.draw(st.booleans()):
            cover.leave_out(item)
            gone |= {code for code, node in enumerate(before) if node == before[item]}
        elif item not in gone and (ups := space.above(before[item])):
            to = data.draw(st.sampled_from(ups))
            assert cover.raise_to(item, to) == lowest(space, before, gone, to)
        shown = cover.shown()
        assert {code for code, new in enumerate(shown.to.tolist()) if new < 0} == gone
        assert len(set(shown.labels)) == len(shown.labels)
        for code in set(range(len(part.labels))) - gone:
            mine = shown.labels[shown.to[code]]
            alike = {other for other in range(len(part.labels)) if shown.to[other] == shown.to[code]}
            assert alike == {o for o, label in enumerate(part.labels) if o not in gone and part.covers(mine, label)}
        assert shown.first.tolist() == [shown.to.tolist().index(new) for new in range(len(shown.labels))]


def under(space, low, high):
    """Whether one node lies under another on every axis."""
    return all(h <= n <= axis.last[h] for axis, n, h in zip(space.axes, low, high, strict=True))


def lowest(space, nodes, gone, to):
    """The one node above ``to`` that cuts through no shown node and lies under all others that do not."""
    every = product(*(range(len(axis.tree.labels)) for axis in space.axes))
    leaves = [tuple(column) for column in space.leaves.T.tolist()]
    uncut = [
        node
        for node in every
        if under(space, to, node)
        and all(
            under(space, nodes[i], node) for i, leaf in enumerate(leaves) if i not in gone and under(space, leaf, node)
        )
    ]
    (found,) = [node for node in uncut if all(under(space, node, other) for other in uncut)]
    return found


def test_two_nodes_of_one_name_are_told_apart():
    axis = axis_of("abc", {"a": ("North", "Old"), "b": ("South", "Old"), "c": ("Old",)})
    nodes = [node for node, label in enumerate(axis.tree.labels) if label == "Old"]
    assert len(nodes) == 3
    assert sorted(axis.named(np.array(nodes, np.int32))) == ["Old (*)", "Old (North)", "Old (South)"]
    assert axis.named(np.array(nodes[:1] * 2, np.int32)) == ["Old", "Old"]


def test_two_nodes_of_one_name_under_one_name_are_told_apart():
    axis = axis_of("abcd", {v: (w, "East", "Old") for v, w in zip("abcd", "NNSS", strict=True)})
    nodes = [node for node, label in enumerate(axis.tree.labels) if label == "Old"]
    assert len(set(axis.named(np.array(nodes, np.int32)))) == 2


@examples(80)
@given(data=st.data())
@example(data=None)
def test_the_node_above_covers_more(data):
    way = {"a": ("P", "PQ"), "b": ("P",), "c": ()} if data is None else data.draw(trunks("abc"))
    axis = axis_of("abc", way)
    for value, leaf in zip("abc", axis.leaf.tolist(), strict=True):
        node, names = leaf, [value]
        while (up := axis.above(node)) >= 0:
            assert axis.spread[up] > axis.spread[node]
            node = up
            names.append(axis.tree.labels[node])
        assert axis.spread[node] == 3
        assert set(names) <= {value, "*", *way[value]}
    flat = axis_of("abc", None)
    assert [flat.above(node) for node in range(3)] == [-1, -1, -1]
