"""Every model and both readings of missing values against their literal definitions, on small random tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations
from math import isclose
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sfumato.core.errors import DataError
from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.counts.wildcards import matched, resolved
from sfumato.models.composition import AllOf
from sfumato.models.confidence import ConfidenceBounding, DivergenceBounding, Template
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.k_anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    SimpleLDiversity,
)
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.model import Model, Verdict
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.models.presence import DeltaPresence, KMap
from sfumato.models.t_closeness import TCloseness
from sfumato.tables.table import Table
from tests.brute import models as brute
from tests.brute.readings import completions, known, matching
from tests.weights import examples

Rows = list[dict[str, str]]
Draw = Callable[[st.SearchStrategy[Any]], Any]
Judge = Callable[..., brute.Judged]
Case = Callable[[Draw], tuple[Model, Judge]]

TEXTS = ("p", "q", "r", "t")
NUMBERS = ("-3", "0", "0.5", "1", "2", "10")
COUNTS = st.integers(1, 5)
UNIT = st.fractions(0, 1, max_denominator=12)
SHARE = UNIT.filter(bool)
MORE = st.fractions(1, 4, max_denominator=12)

often = examples(60, whole=True, suppress_health_check=list(HealthCheck))
seldom = examples(25, suppress_health_check=list(HealthCheck))


@st.composite
def tables(draw: Draw, values: Sequence[str] = TEXTS, extra: Sequence[str] = ()) -> tuple[Rows, list[str]]:
    """Rows and their quasi-identifiers; the sensitive column is s, and g holds one of ``extra``."""
    quasi = ["a", "b", "c"][: draw(st.integers(1, 3))]
    gaps = draw(st.sampled_from([(), ("?",)]))
    few = draw(st.lists(st.sampled_from(values), min_size=1, max_size=4, unique=True))
    lost = draw(st.sampled_from([(), ("?",)]))
    row = {q: st.sampled_from((*"xyz"[: draw(st.integers(1, 3))], *gaps)) for q in quasi}
    row |= {"s": st.sampled_from((*few, *lost)), **({"g": st.sampled_from(extra)} if extra else {})}
    least = draw(st.sampled_from([1, 6]))
    return draw(st.lists(st.fixed_dictionaries(row), min_size=least, max_size=12)), quasi


def grouped(rows: Rows, quasi: Sequence[str], *, numeric: bool = False) -> Classes:
    table = Table(frame=pl.DataFrame(rows), missing=("?",))
    counted = [table.column("s", "real" if numeric else "text")]
    counted += [table.column("g", "text")] if "g" in table.names else []
    return cells([table.column(q, "text") for q in quasi], counted).classes


def failing(verdict: Verdict, classes: Classes) -> set[brute.Key]:
    return {tuple(classes.label(i).values()) for i in verdict.failing}


def agree(verdict: Verdict, classes: Classes, expected: brute.Judged) -> None:
    holds, reached, keys = expected
    assert failing(verdict, classes) == keys
    assert verdict.holds == holds
    assert isclose(verdict.reached, reached, rel_tol=1e-9, abs_tol=1e-9), (verdict.reached, reached)


def k_anonymity(draw: Draw) -> tuple[Model, Judge]:
    k = draw(COUNTS)
    return KAnonymity(k=k), partial(brute.k_anonymity, k=k)


def distinct_l(draw: Draw) -> tuple[Model, Judge]:
    l = draw(COUNTS)
    return DistinctLDiversity(l=l, column="s"), partial(brute.distinct_l, l=l, column="s")


def entropy_l(draw: Draw) -> tuple[Model, Judge]:
    l = draw(MORE)
    return EntropyLDiversity(l=float(l), column="s"), partial(brute.entropy_l, l=l, column="s")


def recursive_l(draw: Draw) -> tuple[Model, Judge]:
    c, l = draw(st.fractions(Fraction(1, 12), 6, max_denominator=12)), draw(COUNTS)
    return RecursiveLDiversity(c=float(c), l=l, column="s"), partial(brute.recursive_l, c=c, l=l, column="s")


def simple_l(draw: Draw) -> tuple[Model, Judge]:
    l = draw(MORE)
    return SimpleLDiversity(l=float(l), column="s"), partial(brute.simple_l, l=l, column="s")


def alpha_k(draw: Draw) -> tuple[Model, Judge]:
    alpha, k, values = draw(SHARE), draw(COUNTS), draw(st.lists(st.sampled_from(TEXTS), unique=True))
    model = AlphaKAnonymity(alpha=float(alpha), k=k, column="s", values=tuple(values))
    return model, partial(brute.alpha_k, alpha=alpha, k=k, column="s", values=values)


def closeness(draw: Draw, distance: str, **more: Any) -> tuple[Model, Judge]:
    t = draw(UNIT)
    exact = {**more, "costs": tuple(tuple(map(float, row)) for row in more.get("costs", ()))}
    model = TCloseness(t=float(t), column="s", distance=distance, **exact)
    return model, partial(brute.t_closeness, t=t, column="s", distance=distance, **more)


def ordered(draw: Draw) -> tuple[Model, Judge]:
    return closeness(draw, "emd-ordered", order=tuple(draw(st.permutations((*TEXTS, "?")))))


@st.composite
def trees(draw: Draw) -> dict[str, tuple[str, ...]]:
    """Ancestors of each value, nearest first; some leaves hang directly under a higher node or the root."""
    depth = draw(st.integers(0, 3))
    place = dict.fromkeys((*TEXTS, "?"), ())
    for leaf in place:
        branch = [draw(st.integers(0, 1)) for _ in range(depth)]  # from the root down
        labels = tuple("/".join(map(str, branch[:i])) for i in range(depth, 0, -1))
        place[leaf] = labels[draw(st.integers(0, depth)) if draw(st.booleans()) else 0 :]
    return place


def hierarchical(draw: Draw) -> tuple[Model, Judge]:
    return closeness(draw, "emd-hierarchical", paths=draw(trees()))


def matrix(draw: Draw) -> tuple[Model, Judge]:
    order = tuple(draw(st.permutations((*TEXTS, "?"))))
    cost = st.fractions(0, 2, max_denominator=4)
    costs = tuple(tuple(draw(cost) if i != j else Fraction(0) for j in range(5)) for i in range(5))
    return closeness(draw, "emd-matrix", order=order, costs=costs)


def personalized(draw: Draw) -> tuple[Model, Judge]:
    p, paths = draw(SHARE), draw(trees())
    nodes = sorted({*paths, *(node for path in paths.values() for node in path)} - {"?"})
    guards = draw(st.dictionaries(st.sampled_from(TEXTS), st.sampled_from(nodes), min_size=1))
    model = PersonalizedPrivacy(p=float(p), column="s", paths=paths, guards=guards)
    return model, partial(brute.personalized, p=p, column="s", paths=paths, guards=guards)


def divergence(draw: Draw) -> tuple[Model, Judge]:
    confidence, paths = draw(SHARE), draw(st.one_of(st.just({}), trees()))
    far = "branch" if paths else "value"
    model = DivergenceBounding(confidence=float(confidence), column="s", far=far, paths=paths)
    return model, partial(brute.divergence_bounding, confidence=confidence, column="s", paths=paths)


BY_CLASS: dict[str, Case] = {
    "k": k_anonymity,
    "distinct": distinct_l,
    "entropy": entropy_l,
    "recursive": recursive_l,
    "simple": simple_l,
    "alpha": alpha_k,
    "variational": partial(closeness, distance="variational"),
    "kl": partial(closeness, distance="kl"),
    "emd-equal": partial(closeness, distance="emd-equal"),
}
BY_PROGRAM: dict[str, Case] = {"ordered": ordered, "hierarchical": hierarchical, "matrix": matrix}
CASES = BY_CLASS | BY_PROGRAM | {"personalized": personalized, "divergence": divergence}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@often
@given(data=st.data(), drawn=tables())
def test_a_model_of_single_classes(case, data, drawn):
    rows, quasi = drawn
    model, judge = case(data.draw)
    classes = grouped(rows, quasi)
    agree(model.check(classes), classes, judge(rows, quasi))


@often
@given(data=st.data(), drawn=tables(("1.0", *NUMBERS)))
def test_numbers_are_ordered_by_size(data, drawn):
    """1 and 1.0 are one number."""
    rows, quasi = drawn
    model, judge = closeness(data.draw, "emd-ordered")
    classes = grouped(rows, quasi, numeric=True)
    plain = [{**row, "s": "1" if row["s"] == "1.0" else row["s"]} for row in rows]
    agree(model.check(classes), classes, judge(plain, quasi))


@pytest.mark.parametrize("reference", ["released", "original"])
@pytest.mark.parametrize("case", ["variational", "kl", "emd-equal", *BY_PROGRAM, "numbers"])
@seldom
@given(data=st.data())
def test_the_reference_may_be_the_original_table(case, reference, data):
    rows, quasi = data.draw(tables(NUMBERS if case == "numbers" else TEXTS))
    numbers = partial(closeness, distance="emd-ordered")
    model, judge = numbers(data.draw) if case == "numbers" else CASES[case](data.draw)
    whole = grouped(rows, quasi, numeric=case == "numbers")
    kept = data.draw(st.lists(st.booleans(), min_size=whole.count, max_size=whole.count).filter(any))
    classes = whole.take(np.array(kept))
    classes = classes.with_tally(replace(classes.tally("s"), original=whole.tally("s").overall))
    keys = {tuple(classes.label(i).values()) for i in range(classes.count)}
    left = [row for row in rows if tuple(row[q] for q in quasi) in keys]
    verdict = replace(model, reference=reference).check(classes)
    agree(verdict, classes, judge(left, quasi, reference=rows if reference == "original" else left))


@often
@given(data=st.data(), drawn=tables())
def test_confidence_bounding(data, drawn):
    rows, quasi = drawn
    known_columns = st.lists(st.sampled_from(quasi), unique=True).map(tuple)
    template = st.tuples(known_columns, st.just("s"), st.sampled_from(TEXTS), SHARE)
    templates = data.draw(st.lists(template, min_size=1, max_size=3))
    records = tuple(Template(quasi=q, column=s, value=v, limit=float(c)) for q, s, v, c in templates)
    classes = grouped(rows, quasi)
    verdict = ConfidenceBounding(templates=records).check(classes)
    holds, worst, keys = brute.confidence_bounding(rows, quasi, templates=templates)
    assert (verdict.holds, failing(verdict, classes)) == (holds, keys)
    told = [share for share, limit in worst if isclose(limit, verdict.limit) and isclose(share, verdict.reached)]
    assert told, (verdict.reached, verdict.limit, worst)
    assert holds or any(share > limit for share, limit in [(verdict.reached, verdict.limit)])


@examples(200, whole=True, suppress_health_check=list(HealthCheck))
@given(data=st.data(), drawn=tables())
def test_lkc(data, drawn):
    rows, quasi = drawn
    l, k, c = data.draw(COUNTS), data.draw(COUNTS), data.draw(SHARE)
    values = data.draw(st.lists(st.sampled_from(TEXTS), unique=True).map(tuple))
    classes = grouped(rows, quasi)
    verdict = LKCPrivacy(l=l, k=k, c=float(c), column="s", values=values).check(classes)
    judge = partial(brute.lkc, rows, quasi, l=l, k=k, c=c, column="s", values=values)
    longest = min(l, len(quasi))
    gaps = any(row[q] == "?" for row in rows for q in quasi)
    agree(verdict, classes, judge(sizes=range(1, longest + 1) if gaps else [longest]))
    assert verdict.holds == judge()[0]  # Definition 3.1 itself: every length up to L


@pytest.mark.parametrize("quasi", list(permutations("abc")))
@pytest.mark.parametrize("l", [1, 2, 3])
def test_lkc_looks_at_every_choice_of_columns(quasi, l):
    """One choice of columns has a small or a sure group, wherever it stands among the choices."""
    rows = [dict(zip("abcs", row, strict=True)) for row in ("xxxp", "xxxq", "xyxp", "xyxq", "yyyp", "yyxp")]
    classes = grouped(rows, quasi)
    for k, c in ((2, Fraction(1)), (1, Fraction(2, 3)), (2, Fraction(1, 2))):
        verdict = LKCPrivacy(l=l, k=k, c=float(c), column="s").check(classes)
        agree(verdict, classes, brute.lkc(rows, quasi, l=l, k=k, c=c, column="s", sizes=[l]))


@pytest.mark.parametrize("relative", [False, True])
@often
@given(data=st.data(), drawn=tables(("1.0", *NUMBERS)))
def test_e_m_anonymity(relative, data, drawn):
    rows, quasi = drawn
    e, m = data.draw(st.sampled_from([Fraction(i, 4) for i in range(13)])), data.draw(MORE)
    classes = grouped(rows, quasi, numeric=True)
    verdict = EMAnonymity(e=float(e), m=float(m), column="s", relative=relative).check(classes)
    agree(verdict, classes, brute.e_m(rows, quasi, e=e, m=m, column="s", relative=relative))


@pytest.mark.parametrize("relative", [False, True])
@often
@given(data=st.data(), drawn=tables(("0.7", "0.8", "0.9", "1.1")))
def test_e_m_anonymity_reads_decimals_as_written(relative, data, drawn):
    """0.8 - 0.1 is 0.7 for a person, though not for a float."""
    rows, quasi = drawn
    e = data.draw(st.sampled_from([Fraction(1, 10), Fraction(2, 10), Fraction(1, 8), Fraction(1, 9)]))
    classes = grouped(rows, quasi, numeric=True)
    verdict = EMAnonymity(e=float(e), m=1.5, column="s", relative=relative).check(classes)
    expected = brute.e_m(rows, quasi, e=e, m=Fraction(3, 2), column="s", relative=relative)
    agree(verdict, classes, expected)


@st.composite
def populations(draw: Draw) -> tuple[Rows, list[str], list[bool]]:
    rows, quasi = draw(tables())
    return rows, quasi, draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)).filter(any))


def sampled(rows: Rows, quasi: Sequence[str], taken: Sequence[bool]) -> Classes:
    table = Table(frame=pl.DataFrame(rows), missing=("?",))
    columns = [table.column(q, "text") for q in quasi]
    inside = cells([replace(column, codes=column.codes[np.array(taken)]) for column in columns]).classes
    return replace(inside, population=cells(columns).classes)


@often
@given(drawn=populations(), bounds=st.tuples(UNIT, UNIT).map(sorted))
def test_delta_presence(drawn, bounds):
    population, quasi, taken = drawn
    rows = [row for row, here in zip(population, taken, strict=True) if here]
    classes = sampled(population, quasi, taken)
    verdict = DeltaPresence(low=float(bounds[0]), high=float(bounds[1])).check(classes)
    expected = brute.delta_presence(rows, quasi, low=bounds[0], high=bounds[1], population=population)
    agree(verdict, classes, expected)


@often
@given(drawn=populations(), k=COUNTS)
def test_k_map(drawn, k):
    population, quasi, taken = drawn
    rows = [row for row, here in zip(population, taken, strict=True) if here]
    classes = sampled(population, quasi, taken)
    agree(KMap(k=k).check(classes), classes, brute.k_map(rows, quasi, k=k, population=population))


def test_a_table_that_is_not_part_of_its_population():
    classes = sampled([{"a": "x"}, {"a": "x"}], ["a"], [True, True])
    with pytest.raises(DataError, match="population"):
        DeltaPresence(low=0.0, high=1.0).check(replace(classes, sizes=classes.sizes + 1))
    for model in (DeltaPresence(low=0.0, high=1.0), KMap(k=2)):
        with pytest.raises(DataError, match="population"):
            model.check(replace(classes, population=None))


@often
@given(data=st.data(), p=SHARE)
def test_personalized_by_a_column_of_wishes(data, p):
    paths = data.draw(trees())
    nodes = sorted({*paths, *(node for path in paths.values() for node in path), "*", "", "?"})
    rows, quasi = data.draw(tables(extra=nodes))
    classes = grouped(rows, quasi)
    verdict = PersonalizedPrivacy(p=float(p), column="s", paths=paths, guard_column="g").check(classes)
    agree(verdict, classes, brute.personalized(rows, quasi, p=p, column="s", paths=paths, guard_column="g"))


@often
@given(data=st.data(), drawn=tables())
def test_all_of(data, drawn):
    rows, quasi = drawn
    names = data.draw(st.lists(st.sampled_from(sorted(BY_CLASS)), min_size=1, max_size=3))
    parts = [CASES[name](data.draw) for name in names]
    classes = grouped(rows, quasi)
    verdict = AllOf(models=tuple(model for model, _ in parts)).check(classes)
    agree(verdict, classes, brute.all_of([judge(rows, quasi) for _, judge in parts]))


@often
@given(drawn=tables())
def test_the_rows_that_match_a_class(drawn):
    rows, quasi = drawn
    wild = matched(grouped(rows, quasi))
    expected = matching(rows, quasi)
    tally = wild.tally("s")
    for i, counts in enumerate(tally.dense()):
        group = expected[tuple(wild.label(i).values())]
        assert wild.sizes[i] == len(group)
        found = {value: count for value, count in zip(tally.values, counts, strict=True) if count}
        assert found == Counter(row["s"] for row in group)
    whole = Counter(row["s"] for row in rows)
    assert {v: n for v, n in zip(tally.values, tally.overall, strict=True) if n} == whole


@pytest.mark.parametrize("case", BY_CLASS.values(), ids=BY_CLASS)
@seldom
@given(data=st.data(), drawn=tables())
def test_a_missing_quasi_identifier_as_a_wildcard(case, data, drawn):
    rows, quasi = drawn
    model, judge = case(data.draw)
    wild = matched(grouped(rows, quasi))
    agree(model.check(wild), wild, judge(rows, quasi, grouping=matching))


@pytest.mark.parametrize("case", BY_CLASS.values(), ids=BY_CLASS)
@seldom
@given(data=st.data(), drawn=tables())
def test_a_missing_sensitive_value_as_any_value(case, data, drawn):
    """Each value in turn, in the same order; so the worst of one side is the worst of the other."""
    rows, quasi = drawn
    model, judge = case(data.draw)
    reference = {"reference": known(rows, "s")} if isinstance(model, TCloseness) else {}
    wild = matched(grouped(rows, quasi))
    cases = list(zip(resolved(wild, "s"), completions(rows, "s"), strict=False))
    for classes, completed in cases:
        agree(model.check(classes), classes, judge(completed, quasi, grouping=matching, **reference))
    assert len(cases) == len({row["s"] for row in known(rows, "s")}) or "?" not in {row["s"] for row in rows}


@pytest.mark.parametrize("case", [*CASES.values(), lambda _: (LKCPrivacy(l=2, k=2, c=0.5, column="s"), None)])
@examples(3, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_table_without_rows_holds(case, data):
    table = Table(frame=pl.DataFrame(schema={"a": pl.String, "s": pl.String}), missing=("?",))
    verdict = case(data.draw)[0].check(cells([table.column("a")], [table.column("s")]).classes)
    assert verdict.holds
    assert not len(verdict.failing)


@often
@given(data=st.data())
def test_the_ordered_program_has_the_closed_form(data):
    """The brute force checks itself: the program and Li et al.'s sums are the same number."""
    weights = st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any)
    p = data.draw(weights)
    q = data.draw(st.lists(st.integers(0, 4), min_size=len(p), max_size=len(p)).filter(any))
    one, other = (tuple(Fraction(x, sum(w)) for x in w) for w in (p, q))
    assert brute.transport(one, other, brute.costs_ordered(len(p))) == brute.ordered_by_sums(one, other)


def test_the_brute_force_knows_the_worked_examples():
    """G2: HIV is sure in one group. G3: (2, 2, 50 %)-privacy without 2-anonymity; the raw table has neither."""
    release = [("Professional Male [35-40)", "Hepatitis Hepatitis HIV"), ("Writer Female [30-35)", "Flu HIV")]
    rows = told("job sex age", "s", [*release, ("Dancer * 30", "HIV HIV")])
    quasi = ["job", "sex", "age"]
    assert brute.k_anonymity(rows, quasi, k=2) == (True, 2, set())
    bound = brute.confidence_bounding(rows, quasi, templates=[((), "s", "HIV", Fraction(1, 2))])
    assert bound == (False, [(1.0, 0.5)], {("Dancer", "*", "30")})
    groups = [
        ("Non-Technical M [30,60)", "Transgender Transgender Urology Plastic"),
        ("Professional M [30,60)", "Plastic"),
        ("Professional M [1,30)", "Vascular Urology"),
        ("Professional F [30,60)", "Plastic Vascular"),
        ("Technical F [60,99)", "Vascular Plastic"),
    ]
    rows = told("job sex age", "s", groups)
    limits = {"l": 2, "k": 2, "c": Fraction(1, 2), "column": "s", "values": ["Transgender"]}
    assert brute.lkc(rows, quasi, **limits)[0]
    assert brute.k_anonymity(rows, quasi, k=2) == (False, 1, {("Professional", "M", "[30,60)")})
    raw = [("Janitor M 34", "Transgender"), ("Mover M 34", "Transgender"), ("Mover M 58", "Urology")]
    assert not brute.lkc(told("job sex age", "s", raw), quasi, **limits)[0]


def told(quasi: str, column: str, groups: Sequence[tuple[str, str]]) -> Rows:
    """One row for each sensitive value of each group."""
    return [
        {**dict(zip(quasi.split(), key.split(), strict=True)), column: value}
        for key, values in groups
        for value in values.split()
    ]
