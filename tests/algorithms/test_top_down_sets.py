"""rho-uncertainty by generalization: rules word for word, every adversary, and never worse than suppression alone."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.items import Sets, TopDownSets, guarded_cut
from sfumato.algorithms.items.guarded_cut import inferences
from sfumato.algorithms.items.top_down_sets import Specializing
from sfumato.core.errors import ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.metrics.item_utility import certainty_penalty
from sfumato.models.item_models import KMAnonymity, RhoUncertainty
from tests.brute import covering
from tests.brute import itemsets as brute
from tests.item_problems import Part, cell_part, cell_parts, joined, problem_of, released, set_part, trunks, walk_part
from tests.itemized import LIMITS
from tests.weights import examples

PLAIN, SECRET = "abcde", "st"
RHOS = st.sampled_from([Fraction(1, 4), *LIMITS])
BOUNDS = st.none() | st.integers(1, 3)


@st.composite
def guarded(draw: st.DrawFn) -> list[Part]:
    """A set whose sensitive items s and t lie right below the top or in a branch of their own; perhaps a column."""
    records = draw(st.lists(st.frozensets(st.sampled_from(PLAIN + SECRET)), min_size=1, max_size=10))
    above = {**draw(trunks(PLAIN)), **dict.fromkeys(SECRET, draw(st.sampled_from([(), ("S",)])))}
    part = set_part("bought", records, PLAIN + SECRET, above)
    more = [draw(cell_parts(len(records)))] if draw(st.integers(0, 3)) == 0 else []
    return [one for one in more if one.trunks[0] is not None] + [part]


def problem_for(parts: list[Part], rho, l, sensitive=("s", "t")):
    model = RhoUncertainty(rho=float(rho), sensitive=tuple(sensitive), l=l)
    return problem_of(parts, [model], ["flu"] * len(parts[0].records))


def covers_of(parts: list[Part]):
    """A sensitive item is covered by itself only; the top of the tree stands for all others."""

    def covers(label: str, item: str) -> bool:
        part = next(one for one in parts if item in one.labels)
        if item in SECRET or label in SECRET:
            return label == item
        mine = (
            label.startswith(f"{part.name}=")
            if part.closed
            else not any(label.startswith(f"{one.name}=") for one in parts if one.closed)
        )
        return mine and part.covers(label, item)

    return covers


@examples(150, whole=True)
@given(
    records=st.lists(st.frozensets(st.sampled_from("abcdst")), min_size=1, max_size=9),
    heads=st.sets(st.sampled_from("abcd"), min_size=1),
    rho=RHOS,
    l=BOUNDS,
)
def test_rules_with_an_item_are_found_one_by_one(records, heads, rho, l):
    """Every set of at most l items with one of the heads, and every other sensitive item: the share, exactly."""
    items = "abcdst"
    pairs = [(row, items.index(item)) for row, record in enumerate(records) for item in record]
    rows, codes = np.array(pairs, np.int64).reshape(-1, 2).T
    secret = np.array([item in SECRET for item in items])
    model = RhoUncertainty(rho=float(rho), sensitive=("s", "t"), l=l)
    for chosen in (heads, set(items)):
        found = inferences(rows, codes, np.array(sorted(map(items.index, chosen))), secret, model, 10**6)
        assert found.whole
        lines = [found.items[a:b].tolist() for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)]
        told = sorted(("".join(sorted(items[n] for n in line[:-1])), items[line[-1]]) for line in lines)
        expected = [
            ("".join(q), one)
            for size in range(1, (l or 6) + 1)
            for q in combinations(items, size)
            for one in sorted(set(SECRET) - set(q))
            if chosen & set(q)
            and (many := brute.supported(records, frozenset(q)))
            and Fraction(brute.supported(records, frozenset({*q, one})), many) > rho
        ]
        assert told == sorted(expected)


@examples(150, whole=True)
@given(parts=guarded(), rho=RHOS, l=BOUNDS, secrets=st.sampled_from(["keep", "price"]))
def test_no_adversary_infers_too_much(parts, rho, l, secrets):
    """The definition on the labels of the release, and everybody who knows original items."""
    problem = problem_for(parts, rho, l)
    outcome = TopDownSets(secrets=secrets)(problem, Work())
    after, covers, people = released(outcome), covers_of(parts), joined(parts)
    assert brute.rho_uncertain(after, SECRET, rho, l)
    assert covering.surest(people, after, covers, SECRET, l) <= rho
    for old, new in zip(people, after, strict=True):
        assert all(any(covers(label, item) for item in old) for label in new)
        assert new & set(SECRET) <= old


@examples(100)
@given(parts=guarded(), rho=RHOS, l=BOUNDS, secrets=st.sampled_from(["keep", "price"]))
def test_every_item_is_shown_alike(parts, rho, l, secrets):
    problem = problem_for(parts, rho, l)
    outcome = TopDownSets(secrets=secrets)(problem, Work())
    shown = {
        item: outcome.shown.labels[code]
        for item, code in zip(problem.transactions.labels, outcome.shown.to.tolist(), strict=True)
        if code >= 0
    }
    assert released(outcome) == [frozenset(shown[item] for item in row if item in shown) for row in joined(parts)]
    assert all(shown[item] == item for item in SECRET if item in shown)
    closed = [item for part in parts if part.closed for item in part.labels]
    assert set(closed) <= set(shown)


@examples(80)
@given(parts=guarded(), l=BOUNDS)
def test_nothing_is_hidden_where_everything_may_be_told(parts, l):
    outcome = TopDownSets()(problem_for(parts, 1, l), Work())
    assert released(outcome) == joined(parts)


@examples(80)
@given(parts=guarded(), rho=RHOS, l=BOUNDS, spare=st.booleans())
def test_no_more_is_lost_than_by_leaving_items_out(parts, rho, l, spare):
    """The items as they are, less those that break every rule, are one of the choices; sensitive ones count first."""
    problem = problem_for(parts, rho, l)
    found = TopDownSets(secrets="keep" if spare else "price")(problem, Work())
    labels = problem.transactions.labels
    named = np.array([item in SECRET for item in labels])
    plain = Specializing(problem, problem.models, named, spare=spare)
    plain.begin()
    if not plain.leaves():
        return
    shown = plain.cut.shown_as >= 0
    after = [frozenset(item for item in row if shown[labels.index(item)]) for row in joined(parts)]
    assert brute.rho_uncertain(after, SECRET, rho, l)
    lost = certainty_penalty(found.view(problem.transactions)) * max(len(problem.transactions.codes), 1)
    gone = int(named[problem.transactions.codes][found.entries(problem.transactions) < 0].sum())
    if spare:
        assert (gone, lost) <= (plain.cut.secrets_lost, plain.cut.lost + 1e-9)
    else:
        assert lost <= plain.cut.lost + 1e-9


def test_coarser_bread_keeps_the_test_and_the_rest():
    """Of two with rye one has the test, of two with spelt none: bread tells 1/4, and the test stays."""
    records = [frozenset(one) for one in (["rye", "test"], ["rye"], ["spelt"], ["spelt"], ["milk"], ["milk"])]
    above = {"rye": ("bread",), "spelt": ("bread",), "milk": ("dairy",), "test": ()}
    part = set_part("bought", records, ["rye", "spelt", "milk", "test"], above)
    problem = problem_for([part], Fraction(1, 4), None, sensitive=("test",))
    outcome = TopDownSets()(problem, Work())
    assert released(outcome) == [frozenset({"bread", "test"}), *[frozenset({"bread"})] * 3, *[frozenset({"milk"})] * 2]
    without = Sets(by="suppression", support=1)(problem, Work())
    assert {"rye", "test"} - set().union(*released(without)), "one of them is left out of all records"
    losses = [certainty_penalty(one.view(problem.transactions)) for one in (outcome, without)]
    assert losses == pytest.approx([4 * (1 / 3) / 7, 2 / 7])
    assert [(step.action, step.label) for step in outcome.steps] == [("specialize", "*")]


def test_a_sensitive_item_that_tells_another_cannot_stay():
    """Everybody with s has t: one of them must go, whatever else is hidden."""
    part = set_part(
        "bought",
        [frozenset("ast"), frozenset("a"), frozenset("a"), frozenset("at")],
        "ast",
        {"a": (), "s": (), "t": ()},
    )
    outcome = TopDownSets()(problem_for([part], Fraction(1, 2), None), Work())
    shown = set().union(*released(outcome))
    assert len(shown & {"s", "t"}) == 1


def test_more_sets_than_can_be_looked_at_stay_coarse(monkeypatch: pytest.MonkeyPatch):
    """Ten items in each record are 2,047 sets with the test; with room for a hundred the items stay together."""
    items = [*"abcdefghij", "s"]
    records = [frozenset(items)] + [frozenset("abcdefghij")] * 3
    above = {item: ("P",) if item < "f" else ("Q",) for item in items[:-1]} | {"s": ()}
    problem = problem_for([set_part("bought", records, items, above)], Fraction(1, 4), None, sensitive=("s",))
    assert released(TopDownSets()(problem, Work())) == records
    monkeypatch.setattr(guarded_cut, "MOST_SETS", 100)
    outcome = TopDownSets()(problem, Work())
    assert released(outcome) == [frozenset("PQs"), *[frozenset("PQ")] * 3]


def test_a_count_that_gives_up_says_so():
    rows, items = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    model = RhoUncertainty(rho=0.5, sensitive=("s",))
    secret, heads = np.array([False, False, True]), np.array([0])
    assert inferences(rows, items, heads, secret, model, 100).count == 2
    assert not inferences(rows, items, heads, secret, model, 1).whole


def test_when_the_time_is_over_what_is_shown_still_holds():
    records = [frozenset("as"), frozenset("a"), frozenset("b"), frozenset("b")]
    part = set_part("bought", records, "abs", {"a": ("P",), "b": ("P",), "s": ()})
    problem = problem_for([part], Fraction(1, 4), None, sensitive=("s",))
    outcome = TopDownSets()(problem, Work(seconds=-1.0))
    assert brute.rho_uncertain(released(outcome), {"s"}, Fraction(1, 4), None)


def refused(columns: list[Part], words: str, models=None, **options) -> None:
    asked = models or [RhoUncertainty(rho=0.5, sensitive=("s",))]
    problem = problem_of(columns, asked, ["flu"] * len(columns[0].records))
    with pytest.raises(PlanError, match=words):
        TopDownSets(**options)(problem, Work())


def test_what_cannot_be_done_is_refused_with_what_would_do():
    records = [frozenset("as"), frozenset("ab")]
    refused([set_part("bought", records, "abs")], r"columns.bought.hierarchy is missing; top-down-sets .* 'sets'")
    mixed = {"a": ("P",), "b": (), "s": ("P",)}
    refused([set_part("bought", records, "abs", mixed)], r"sensitive item 's' lies under 'P' with items that are not")
    fine = set_part("bought", records, "abs", {"a": ("P",), "b": ("P",), "s": ("Q",)})
    refused([fine], "top-down-sets goes with rho_uncertainty only; for km-anonymity", [KMAnonymity(k=1, m=1)])
    refused([walk_part("way", [frozenset({"a@1"})], "a", "1", [{"a": ()}, {"1": ()}])], "takes no paths")
    cells = cell_part("job", "uv", "uv", {"u": (), "v": ()})
    named = [RhoUncertainty(rho=0.5, sensitive=("job=u",))]
    refused([cells, fine], "'job=u' is a value of a column, which cannot be left out", named)
    for wrong in ({"secrets": "all"}, {"support": 0}):
        with pytest.raises(ParameterError):
            TopDownSets(**wrong)
