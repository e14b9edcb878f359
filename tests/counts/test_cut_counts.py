"""Counts under a cut: every source passes the kit, and broken ones do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError, PlanError
from sfumato.counts.added_sources import AddedSources
from sfumato.counts.local_cuts import CellCuts, CodedColumn, CodedRows, JointCells, WeightedCells
from sfumato.counts.sources import ROWS, Division, by_value, refuse_lacking
from sfumato.testing.models import classes_of
from sfumato.testing.sources import BrokenSource, Domains, check_added, check_cut_counts, check_same_counts
from tests.algorithms.cut_sources import DuckSource, parted, rows_of_cells
from tests.weights import examples

FIGURES = (ROWS, ("k", (0,)), ("k", (1, 2)))
SIZES = (4, 3, 5)


@st.composite
def coded(draw: st.DrawFn, *, sets: bool = False) -> CodedRows:
    """Rows over three small domains; with ``sets`` a fourth column has sets of five values."""
    rows = draw(st.integers(0, 30))
    columns = [CodedColumn(codes=_codes(draw, rows, size), size=size) for size in SIZES]
    if sets:
        items = draw(st.lists(st.lists(st.integers(0, 4), unique=True, max_size=4), min_size=rows, max_size=rows))
        starts = np.concatenate([[0], np.cumsum([len(one) for one in items])]).astype(np.int64)
        codes = np.array([code for one in items for code in one], np.int32)
        columns.append(CodedColumn(codes=codes, size=5, starts=starts))
    return CodedRows(columns=tuple(columns), counted={"k": _codes(draw, rows, 3)})


def _codes(draw: st.DrawFn, rows: int, size: int) -> np.ndarray:
    return np.array(draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows)), np.int32)


def domains_of(rows: CodedRows) -> Domains:
    sets = [c for c, one in enumerate(rows.columns) if one.starts is not None]
    return Domains(sizes=[one.size for one in rows.columns], figures=FIGURES, sets=sets)


@examples(60)
@given(coded() | coded(sets=True), st.integers(0, 99))
def test_rows_pass_the_kit(rows, seed):
    check_cut_counts(rows, domains_of(rows), seed=seed)


@examples(60)
@given(coded() | coded(sets=True), st.integers(1, 4), st.integers(0, 99))
def test_parts_add_up_to_the_whole(rows, many, seed):
    check_added(parted(rows, many, seed).sources, rows, domains_of(rows), seed=seed)


@pytest.mark.slow
@examples(12)
@given(coded() | coded(sets=True), st.integers(0, 99))
def test_an_engine_counts_alike(rows, seed):
    check_cut_counts(DuckSource(rows), domains_of(rows), seed=seed)
    check_same_counts(DuckSource(rows), rows, domains_of(rows), seed=seed)


@examples(40)
@given(coded(), st.integers(0, 99), st.floats(0.01, 3))
def test_cells_and_real_weights_count_alike(rows, seed, weight):
    shares = {ROWS: np.full(rows.rows, weight)}
    shares |= {("k", (code,)): weight * (rows.counted["k"] == code) for code in range(3)}
    estimated = WeightedCells(columns=rows.columns, weights=shares)
    assert estimated.gives == frozenset()
    check_cut_counts(estimated, domains_of(rows), seed=seed)
    whole = WeightedCells(columns=rows.columns, weights={key: np.rint(w / weight) for key, w in shares.items()})
    check_same_counts(whole, rows, domains_of(rows), seed=seed)


def test_the_cells_of_a_table_pass_the_kit():
    cells = classes_of({"a": list("xxyyz"), "b": list("uvuvu"), "k": list("12321")}, quasi=["a", "b"])
    domains = Domains(sizes=[3, 2], figures=FIGURES)
    check_cut_counts(JointCells(cells=cells), domains)
    check_same_counts(JointCells(cells=cells), rows_of_cells(cells), domains)


def test_equal_rows_are_counted_together():
    one = CodedRows(
        columns=(CodedColumn(codes=np.tile(np.arange(4, dtype=np.int32), 50), size=4),),
        counted={"k": np.zeros(200, np.int32)},
    )
    walk = one.root((ROWS,))
    assert isinstance(walk, CellCuts)
    assert len(walk.weights) == 4
    assert walk.histogram(by_value(0, 4)).tolist() == [[[50]] * 4]
    assert one.take(np.arange(3)).root((ROWS,)).total().tolist() == [3]
    none = CodedRows(columns=(), counted={"k": np.zeros(3, np.int32)})
    assert none.root((ROWS,)).total().tolist() == [3]


def test_sets_are_divided_by_the_bits_of_their_values():
    """{0, 2}, {1}, {} and {3}, where 0 and 1 are bit 0, 2 is bit 1 and 3 is none."""
    sets = CodedColumn(codes=np.array([0, 2, 1, 3], np.int32), size=4, starts=np.array([0, 2, 3, 3, 4]))
    rows = CodedRows(columns=(sets,), counted={"k": np.array([0, 1, 2, 0], np.int32)})
    asked = Division(column=0, parts=None, child_of=np.array([0, 0, 1, -1], np.int32), children=4)
    found = rows.root(FIGURES).refine(asked)
    assert found.child.tolist() == [0, 1, 3]
    assert found.counts.tolist() == [[2, 1, 1], [1, 0, 1], [1, 1, 0]]


class Twisted:
    """A source whose walks are changed on the way."""

    gives = frozenset({"integers"})

    def __init__(self, rows, **changed):
        self.rows, self.changed = rows, changed

    def root(self, figures):
        walk = self.rows.root(figures)
        for name, make in self.changed.items():
            setattr(walk, name, make(getattr(walk, name)))
        return walk


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"total": lambda true: lambda: true() + 1}, "a histogram adds up to the total"),
        ({"apply": lambda true: lambda divided, places: true(divided, places - (places == 0))}, "after a step"),
        ({"apply": lambda true: lambda divided, places: true(divided, places[::-1].copy())}, "after a step"),
        ({"histogram": lambda true: lambda asked, groups=None: true(asked)}, "counted together"),
        ({"refine": lambda true: lambda asked: _halved(true(asked))}, "the children of a partition add up"),
    ],
)
def test_broken_sources_are_noticed(changed, said):
    dice = np.random.default_rng(1)
    columns = tuple(CodedColumn(codes=dice.integers(0, n, 60).astype(np.int32), size=n) for n in SIZES)
    rows = CodedRows(columns=columns, counted={"k": dice.integers(0, 3, 60).astype(np.int32)})
    with pytest.raises(BrokenSource, match=said):
        check_cut_counts(Twisted(rows, **changed), domains_of(rows), seed=3)


def _halved(divided):
    return type(divided)(
        division=divided.division, owner=divided.owner, child=divided.child, counts=(divided.counts + 1) // 2
    )


def test_what_a_source_cannot_give_is_refused():
    rows = CodedRows(columns=(), counted={"k": np.zeros(3, np.int32)})
    real = WeightedCells(columns=(), weights={ROWS: np.ones(2)})
    refuse_lacking(rows, ("integers", "rows"), "this")
    with pytest.raises(PlanError, match="this needs the cells of all columns together"):
        refuse_lacking(rows, ("joint",), "this")
    both = AddedSources(sources=(rows, real))
    with pytest.raises(PlanError, match="this needs whole counts, and the counts of this source are estimates"):
        refuse_lacking(both, ("integers",), "this")
    with pytest.raises(PlanError, match="this needs single rows, and this source only counts"):
        refuse_lacking(AddedSources(sources=(rows,)), ("rows",), "this")
    with pytest.raises(ParameterError, match="at least one"):
        AddedSources(sources=())
    with pytest.raises(ParameterError, match="value 7 of 'k'"):
        real.root((("k", (7,)),))
