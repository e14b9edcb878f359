"""Models of bounded knowledge: their verdicts against the definitions, and what they refuse."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.counts.transactions import Transactions
from sfumato.models import item_models
from sfumato.models.item_models import KMAnonymity, RhoUncertainty
from sfumato.models.lkc import LKCPrivacy
from tests.brute import itemsets as brute
from tests.itemized import LIMITS, baskets, requests, secrets_of
from tests.weights import examples

limits = st.sampled_from(LIMITS)
bounds = st.none() | st.integers(1, 4)


def looked_at(records, secrets, l, k, c, values=()):
    """The known sets of which no proper part violates: what a search that stops at violating sets has counted."""
    bad = brute.violating(records, secrets, l, k, c, values)
    return {q for q in brute.known(records, l) if not any(part < q for part in bad)}


def surest(records, secrets, sets, values) -> Fraction:
    named = brute.watched(secrets, values)
    return max((brute.share(records, secrets, q, value) for q in sets for value in named), default=Fraction(0))


@examples(150)
@given(table=baskets(), k=st.integers(1, 5), m=st.integers(1, 7))
def test_km_anonymity(table, k, m):
    records, secrets = table
    model, made = KMAnonymity(k=k, m=m), Transactions.of(records, secret=secrets)
    verdict = model.check_items(made)
    bad = brute.minimal_violating(records, None, m, k, 1)
    assert verdict.holds == brute.holds_km(records, k, m) == (not bad)
    known = looked_at(records, None, m, k, 1)
    assert verdict.reached == min((brute.supported(records, q) for q in known), default=len(records))
    assert (verdict.limit, verdict.sense, len(verdict.failing)) == (k, "at least", len(bad))
    found = model.violating(Transactions.of(records))
    assert set(map(frozenset, found.labelled(sorted(set().union(*records))))) == bad


@examples(150)
@given(data=st.data(), table=baskets())
def test_lkc_privacy(data, table):
    records, _ = table
    secrets = data.draw(secrets_of(len(records)))
    l, k, c, values = data.draw(requests(secrets, max(map(len, records))))
    model = LKCPrivacy(l=l, k=k, c=float(c), column="ill", values=values)
    verdict = model.check_items(Transactions.of(records, secret=secrets))
    bad = brute.minimal_violating(records, secrets, l, k, c, values)
    assert verdict.holds == brute.holds_lkc(records, secrets, l, k, c, values)
    assert len(verdict.failing) == len(bad)
    known = looked_at(records, secrets, l, k, c, values)
    fewest = min((brute.supported(records, q) for q in known), default=len(records))
    share = surest(records, secrets, known, values)
    assert verdict.note == f"the smallest group of a known set has {fewest} records"
    if bad and share <= c:
        assert (verdict.reached, verdict.limit, verdict.sense) == (fewest, k, "at least")
    else:
        assert (verdict.reached, verdict.limit, verdict.sense) == (pytest.approx(float(share)), float(c), "at most")


@examples(100)
@given(data=st.data(), table=baskets(), most=st.integers(1, 7))
def test_fewer_known_items_can_be_asked_for(data, table, most):
    records, _ = table
    secrets = data.draw(secrets_of(len(records)))
    l, k, c, values = data.draw(requests(secrets, max(map(len, records))))
    made = Transactions.of(records, secret=secrets)
    lkc, km = LKCPrivacy(l=l, k=k, c=float(c), column="ill", values=values), KMAnonymity(k=k, m=l)
    for model, watched, share in ((lkc, secrets, c), (km, None, 1)):
        seen = made if watched else Transactions.of(records)
        found = set(map(frozenset, model.violating(seen, most=most).labelled(made.labels)))
        assert found == brute.minimal_violating(records, watched, min(l, most), k, share, values if watched else ())


@examples(150)
@given(table=baskets(items="abcde"), sensitive=st.sets(st.sampled_from("abz"), min_size=1), rho=limits, l=bounds)
def test_rho_uncertainty(table, sensitive, rho, l):
    records, _ = table
    made = Transactions.of(records)
    model = RhoUncertainty(rho=float(rho), sensitive=tuple(sorted(sensitive)), l=l)
    verdict = model.check_items(made)
    shares = inferences(records, sensitive, l)
    bad = {pair for pair, share in shares.items() if share > rho}
    assert verdict.holds == brute.rho_uncertain(records, sensitive, rho, l) == (not bad)
    assert verdict.reached == pytest.approx(float(max(shares.values(), default=Fraction(0))))
    assert (verdict.limit, verdict.sense, len(verdict.failing)) == (float(rho), "at most", len(bad))
    found = model.violating(made)
    named = list(map(frozenset, found.labelled(made.labels)))
    assert sorted(map(sorted, named)) == sorted(sorted(q | {item}) for q, item in bad)
    assert found.rows.tolist() == [brute.supported(records, q) for q in named]


def inferences(records, sensitive, l) -> dict[tuple[frozenset[str], str], Fraction]:
    """For known items and another sensitive one, where both occur together, the confidence."""
    return {
        (q, item): Fraction(brute.supported(records, q | {item}), brute.supported(records, q))
        for q in brute.known(records, l)
        for item in sensitive - q
        if brute.supported(records, q | {item})
    }


@examples(100)
@given(table=baskets(items="abcde"), rho=limits, l=st.integers(1, 4))
def test_a_bounded_adversary_infers_no_more(table, rho, l):
    made = Transactions.of(table[0])
    bounded, whole = (RhoUncertainty(rho=float(rho), sensitive=("a", "c"), l=bound) for bound in (l, None))
    assert bounded.check_items(made).reached <= whole.check_items(made).reached
    longest = RhoUncertainty(rho=float(rho), sensitive=("a", "c"), l=5)
    assert longest.check_items(made).reached == whole.check_items(made).reached
    assert longest.check_items(made).failing.tolist() == whole.check_items(made).failing.tolist()


def test_long_knowledge_tells_more():
    """Of those with a and b everybody has s; of those with one of them half."""
    records = ["abs", "abs", "a", "a", "b", "b"]
    made = Transactions.of(records)
    assert RhoUncertainty(rho=0.5, sensitive=("s",), l=1).check_items(made).holds
    verdict = RhoUncertainty(rho=0.5, sensitive=("s",)).check_items(made)
    assert (verdict.holds, verdict.reached, len(verdict.failing)) == (False, 1.0, 1)


def test_too_many_sets_are_refused(monkeypatch):
    """Two records of five items: 2 * 31 sets in all, 2 * 15 of up to two items."""
    made = Transactions.of(["abcde", "abcde"])
    monkeypatch.setattr(item_models, "MOST_SETS", 30)
    with pytest.raises(ParameterError, match="l must be smaller, or given: the records have 62 sets of up to 6 items"):
        RhoUncertainty(rho=1.0, sensitive=("a",)).check_items(made)
    with pytest.raises(ParameterError, match="have 50 sets of up to 3 items, more than the 30 that are looked at"):
        RhoUncertainty(rho=1.0, sensitive=("a",), l=2).violating(made)
    assert RhoUncertainty(rho=1.0, sensitive=("a",), l=1).check_items(made).holds


def test_sixty_items_are_too_many_without_a_bound():
    made = Transactions.of([[f"i{n}" for n in range(60)]] * 2)
    with pytest.raises(ParameterError, match="l must be smaller, or given"):
        RhoUncertainty(rho=0.5, sensitive=("i1",)).check_items(made)


GOOD = {
    KMAnonymity: {"k": 2, "m": 2},
    RhoUncertainty: {"rho": 0.5, "sensitive": ("hiv",), "l": 2},
    LKCPrivacy: {"l": 2, "k": 2, "c": 0.5, "column": "ill"},
}


@pytest.mark.parametrize(
    ("model", "wrong", "words"),
    [
        (KMAnonymity, {"k": 0}, "k must be at least 1, not 0"),
        (KMAnonymity, {"k": 2.0}, "k must be a whole number, not 2.0"),
        (KMAnonymity, {"m": 0}, "m must be at least 1, not 0"),
        (KMAnonymity, {"m": True}, "m must be a whole number, not True"),
        (RhoUncertainty, {"rho": 0}, r"rho must lie in \(0, 1\], not 0"),
        (RhoUncertainty, {"rho": 1.1}, r"rho must lie in \(0, 1\], not 1.1"),
        (RhoUncertainty, {"rho": "half"}, "rho must be a finite number, not 'half'"),
        (RhoUncertainty, {"sensitive": ()}, "sensitive must name at least one item"),
        (RhoUncertainty, {"sensitive": "hiv"}, "sensitive must be a tuple of texts, not 'hiv'"),
        (RhoUncertainty, {"sensitive": ("",)}, "sensitive must be a non-empty text"),
        (RhoUncertainty, {"sensitive": ("a", "a")}, "sensitive must not name anything twice"),
        (RhoUncertainty, {"l": 0}, "l must be at least 1, not 0"),
        (RhoUncertainty, {"l": 1.5}, "l must be a whole number, not 1.5"),
        (LKCPrivacy, {"l": 0}, "l must be at least 1, not 0"),
        (LKCPrivacy, {"k": 0}, "k must be at least 1, not 0"),
        (LKCPrivacy, {"c": 0}, r"c must lie in \(0, 1\], not 0"),
        (LKCPrivacy, {"column": ""}, "column must be a non-empty text"),
        (LKCPrivacy, {"values": ["hiv"]}, "values must be a tuple of texts"),
    ],
)
def test_arguments_are_refused_by_name(model, wrong, words):
    model(**GOOD[model])
    with pytest.raises(ParameterError, match=words):
        model(**{**GOOD[model], **wrong})


def test_what_models_say_of_themselves():
    km, rho, lkc = (model(**arguments) for model, arguments in GOOD.items())
    assert (km.columns, rho.columns, lkc.columns) == ((), (), ("ill",))
    assert (km.generalizes, rho.generalizes, lkc.generalizes) == (True, False, True)
    assert (km.allows(2, 2), km.allows(1, 0)) == (True, False)
    assert (lkc.allows(4, 2), lkc.allows(4, 3), lkc.allows(1, 0), lkc.allows(0, 0)) == (True, False, False, False)
    assert (rho.allows(4, 2), rho.allows(4, 3)) == (True, False)


# Cells that are shown as * and may be anything.


@st.composite
def starred(draw: st.DrawFn) -> tuple[list[tuple[str, ...]], list[frozenset[str]], list[str]]:
    """Rows of one to three closed columns, some cells *, each row with a set of items beside, and a secret."""
    columns, rows = draw(st.integers(1, 3)), draw(st.integers(1, 8))
    kinds = draw(
        st.lists(
            st.tuples(st.tuples(*[st.sampled_from("uv*")] * columns), st.frozensets(st.sampled_from("ab"))),
            min_size=1,
            max_size=4,
        )
    )
    table = [draw(st.sampled_from(kinds)) for _ in range(rows)]
    return [cells for cells, _ in table], [items for _, items in table], draw(secrets_of(rows))


def as_values(cells, items) -> list[frozenset[str]]:
    """Every cell is an item, * like any other value."""
    return [frozenset(f"{n}={v}" for n, v in enumerate(row)) | more for row, more in zip(cells, items, strict=True)]


def matching(cells, items, q: frozenset[str]) -> list[int]:
    """The rows that may have all of q: a cell that is * matches every value."""
    return [
        row
        for row, record in enumerate(as_values(cells, items))
        if all(one in record or ("=" in one and f"{one.split('=')[0]}=*" in record) for one in q)
    ]


@examples(150)
@given(table=starred(), l=st.integers(1, 4), values=st.sampled_from([(), ("hiv",)]))
def test_what_holds_for_values_holds_where_a_star_may_be_anything(table, l, values):
    """With the strictest k and c that hold for the values at every length up to l, as few rows and as sure a value."""
    cells, items, secrets = table
    records = as_values(cells, items)
    known = brute.known(records, l)
    k = min((brute.supported(records, q) for q in known), default=1)
    c = surest(records, secrets, known, values)
    assert brute.holds_lkc(records, secrets, l, k, c, values)
    names = [f"{n}={v}" for n in range(len(cells[0])) for v in "uv"] + ["a", "b"]
    for q in (frozenset(q) for size in range(1, l + 1) for q in combinations(names, size)):
        if len({one[0] for one in q}) < len(q):
            continue  # two values of one column: nobody has both
        rows = matching(cells, items, q)
        if rows:
            assert len(rows) >= k
            for value in brute.watched(secrets, values):
                assert Fraction(sum(secrets[row] == value for row in rows), len(rows)) <= c
