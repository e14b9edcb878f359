"""The wildcard reading, by patterns and by a tree, is what comparing every two classes gives."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import wildcards
from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.counts.wildcards import as_wildcards, matched
from tests.example_tables import column
from tests.weights import examples

TREE, PATTERNS = (lambda classes: -1), (lambda classes: 10_000)
WAYS = {
    "patterns": {(wildcards, "_most_kinds"): PATTERNS},
    "whichever is quicker": {},
    "patterns, combinations beyond one number": {(wildcards, "_MOST"): 1},
    "patterns, entries added up at once": {(wildcards, "_HELD"): 0},
    "tree": {(wildcards, "_most_kinds"): TREE},
    "tree, one pair at a time": {(wildcards, "_most_kinds"): TREE, (wildcards, "_PAIRS"): 1},
    "tree, seven pairs, entries added up at once": {
        (wildcards, "_most_kinds"): TREE,
        (wildcards, "_PAIRS"): 7,
        (wildcards, "_HELD"): 0,
    },
}


def every_two(classes: Classes) -> tuple[list[int], list[list[int]]]:
    """The literal definition: classes match where they agree in every column that both know."""
    wild = classes.wild or tuple(np.zeros(len(names), np.bool_) for names in classes.labels)

    def match(i: int, j: int) -> bool:
        return all(
            codes[i] == codes[j] or flags[codes[i]] or flags[codes[j]]
            for codes, flags in zip(classes.keys, wild, strict=True)
        )

    held = classes.tally("s").dense()
    fits = [[j for j in range(classes.count) if match(i, j)] for i in range(classes.count)]
    return [int(classes.sizes[some].sum()) for some in fits], [held[some].sum(axis=0).tolist() for some in fits]


@st.composite
def tables(draw: st.DrawFn) -> Classes:
    """Columns without unknown values, with some, and with nothing else; two spellings of unknown."""
    rows, width = draw(st.integers(1, 24)), draw(st.integers(1, 4))

    def values(name: str, of: str) -> object:
        return column(name, draw(st.lists(st.sampled_from(of), min_size=rows, max_size=rows)))

    quasi = [values(f"q{c}", draw(st.sampled_from(["ab", "ab*", "abcd*", "a*", "*", "ab*?"]))) for c in range(width)]
    table = cells(quasi, [values("s", "xyz")], stars="*").classes
    wild = tuple(np.array([label in "*?" for label in names], np.bool_) for names in table.labels)
    return replace(table, wild=wild)


@pytest.mark.parametrize("way", WAYS)
@examples(80)
@given(table=tables())
def test_every_way_counts_what_comparing_every_two_gives(way, table):
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in WAYS[way].items():
            patch.setattr(module, name, value)
        found = matched(table)
    sizes, held = every_two(table)
    assert found.sizes.tolist() == sizes
    assert found.tally("s").dense().tolist() == held
    assert found.tally("s").overall.tolist() == table.tally("s").overall.tolist()
    assert (np.diff(found.tally("s").owners) >= 0).all()


def test_the_definition_catches_a_way_that_forgets_the_own_unknown_values(monkeypatch):
    """A known-bad twin: whoever walks down the tree with an unknown value gets nowhere."""
    table = cells([column("a", ["u", "*"]), column("b", ["v", "v"])], [column("s", ["x", "y"])], stars="*").classes

    def below(self, level, mine, nodes):
        return whole(self, level, mine[self.codes[level][mine] > 0], nodes[self.codes[level][mine] > 0])

    whole = wildcards._Tree._below
    monkeypatch.setattr(wildcards, "_most_kinds", TREE)
    assert matched(table).sizes.tolist() == every_two(table)[0] == [2, 2]
    monkeypatch.setattr(wildcards._Tree, "_below", below)
    assert matched(table).sizes.tolist() != every_two(table)[0]


def holed(rows: int) -> Classes:
    """Nine in ten rows know everything; the others lack one of three columns, or two."""
    rng = np.random.Generator(np.random.PCG64(rows))
    drawn = [rng.integers(0, most, rows) for most in (rows, 60, 40)]
    lacks = rng.choice([0, 1, 2, 4, 6], size=rows, p=[0.9, 0.03, 0.03, 0.03, 0.01])
    quasi = [
        column(f"q{c}", ["*" if lack >> c & 1 else str(v) for v, lack in zip(codes, lacks, strict=True)])
        for c, codes in enumerate(drawn)
    ]
    return cells(quasi, [], stars="*").classes


@pytest.mark.parametrize("way", [TREE, PATTERNS])
def test_the_work_grows_with_classes_and_not_with_their_square(way, monkeypatch):
    """What is held in meetings: at most the classes times the patterns on each side, of either way."""
    monkeypatch.setattr(wildcards, "_most_kinds", way)
    for rows in (500, 4_000):
        table = holed(rows)
        unknown = wildcards._patterns(table)
        held = sum(len(met.mine) + len(met.theirs) for met in wildcards._meetings(table, unknown))
        assert held <= 2 * 5 * 5 * table.count < table.count**2


def test_the_reading_of_a_record_is_worked_out_once_and_goes_with_it(monkeypatch):
    table = holed(50)
    first = as_wildcards(table)
    monkeypatch.setattr(wildcards, "matched", None)
    assert as_wildcards(table) is first
    assert first.sizes.tolist() == matched(table).sizes.tolist()
    seen = weakref.ref(table)
    del table
    gc.collect()
    assert seen() is None


def test_a_record_without_unknown_values_is_its_own_reading():
    table = cells([column("a", ["u", "v"])], []).classes
    assert as_wildcards(table) is table
    seen = weakref.ref(table)
    del table
    gc.collect()
    assert seen() is None
