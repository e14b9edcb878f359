"""Releases of the census, measured by pycanon 1.0.1 and by the models.

What pycanon does differently, found in its source:

* entropy l-diversity: it answers the whole part of exp(H), computed as ``int(np.exp(1) ** H)``; a class with l equally
  frequent values may round to just below l and is then told as l - 1. Compared: the whole part, both ways at a whole
  number.
* recursive (c, l)-diversity: it sorts frequencies upwards, so that its r1 is the rarest value and its tail the most
  frequent ones: a class A A A B is told to be (1, 2)-diverse, while r1 < c * r2 needs c > 3. It also answers only the
  smallest whole c for the largest l, and no c at all for l = 1. Compared: c after its sort is turned round.
* t-closeness: numbers get the ordered distance over the ranks of the distinct values, texts the equal one; never a
  hierarchical one; the reference is the released table. A column with a single number divides by zero (not compared).
* a missing value is dropped with its row if it is NaN; here it is the text "?", a value of its own on both sides.
* classes are looked up by position with index labels, so the rows must be numbered from 0.
"""

from __future__ import annotations

from math import floor, isclose
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pycanon import anonymity
from pycanon.anonymity import _l_diversity

from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.models.k_anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    SimpleLDiversity,
)
from sfumato.models.t_closeness import TCloseness
from sfumato.tables.datasets.synthetic_census import census, census_hierarchies
from sfumato.tables.hierarchy_files import read_hierarchy
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table

QUASI = ("age", "marital-status", "native-country", "race", "relationship", "sex", "workclass")
TEXT, NUMBER = "occupation", "education-num"
PATHS = {name: read_hierarchy(census_hierarchies()[name]) for name in QUASI}


class _SortedDownwards:
    """numpy, but for a sort that begins with the largest, as (c, l)-diversity is defined."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def sort(self, counts: list[int]) -> Any:
        return np.sort(counts)[::-1]


def release(seed: int) -> tuple[Classes, pd.DataFrame, list[str]]:
    """A generalization with 2 to 25 classes, the small ones taken out, as classes and as rows."""
    dice = Random(seed)
    table = Table(frame=census(dice.randint(300, 600), seed), missing=("?",))
    while True:
        quasi = dice.sample(QUASI, dice.randint(3, 4))
        columns = [table.column(name) for name in quasi]
        trees = [PATHS[column.name].build(ObservedDomain.of(column)) for column in columns]
        levels = [tree.levels[dice.randint(0, tree.height)] for tree in trees]
        counted = [table.column(TEXT), table.column(NUMBER)]
        finest = cells(columns, counted)
        lifts, labels = [level.parent for level in levels], [level.labels for level in levels]
        classes, ids = finest.classes.recoded(lifts, labels)
        kept = classes.sizes >= dice.choice([1, 4, 7, 10])
        if 2 <= kept.sum() <= classes.count <= 25:
            break
    rows = {
        column.name: [level.labels[level.parent[code]] for code in column.codes]
        for column, level in zip(columns, levels, strict=True)
    }
    rows[TEXT] = table.frame[TEXT].to_list()
    rows[NUMBER] = table.frame[NUMBER].to_list()
    left = pd.DataFrame(rows)[kept[ids[finest.row_cell]]].reset_index(drop=True)
    return classes.take(kept), left, quasi


@pytest.mark.parametrize("seed", range(50))
def test_a_release_of_the_census(seed, monkeypatch):
    classes, rows, quasi = release(seed)
    assert KAnonymity(k=1).check(classes).reached == anonymity.k_anonymity(rows, quasi)
    l = anonymity.l_diversity(rows, quasi, [TEXT])
    assert DistinctLDiversity(l=1, column=TEXT).check(classes).reached == l
    alpha, k = anonymity.alpha_k_anonymity(rows, quasi, [TEXT])
    share = AlphaKAnonymity(alpha=1.0, k=1, column=TEXT).check(classes).reached
    assert isclose(share, alpha, rel_tol=1e-12)
    assert AlphaKAnonymity(alpha=alpha, k=k, column=TEXT).check(classes).holds
    assert not AlphaKAnonymity(alpha=alpha - 1e-9, k=k, column=TEXT).check(classes).holds
    assert isclose(SimpleLDiversity(l=1, column=TEXT).check(classes).reached, alpha, rel_tol=1e-12)
    reached = EntropyLDiversity(l=1, column=TEXT).check(classes).reached
    assert anonymity.entropy_l_diversity(rows, quasi, [TEXT]) in {floor(reached - 1e-9), floor(reached + 1e-9)}
    assert isclose(
        TCloseness(t=1.0, column=TEXT, distance="emd-equal").check(classes).reached,
        anonymity.t_closeness(rows, quasi, [TEXT]),
        rel_tol=1e-9,
        abs_tol=1e-12,
    )
    assert isclose(
        TCloseness(t=1.0, column=NUMBER, distance="emd-ordered").check(classes).reached,
        anonymity.t_closeness(rows, quasi, [NUMBER]),
        rel_tol=1e-9,
        abs_tol=1e-12,
    )
    monkeypatch.setattr(_l_diversity, "np", _SortedDownwards())
    c, l = anonymity.recursive_c_l_diversity(rows, quasi, [TEXT])
    if l > 1:
        verdict = RecursiveLDiversity(c=float(c), l=l, column=TEXT).check(classes)
        assert verdict.holds
        assert floor(verdict.reached) + 1 == c
        assert c == 1 or not RecursiveLDiversity(c=float(c - 1), l=l, column=TEXT).check(classes).holds


def test_pycanon_sorts_frequencies_upwards(monkeypatch):
    rows = pd.DataFrame({"q": ["x"] * 4, "s": [*"AAAB"]})
    assert anonymity.recursive_c_l_diversity(rows, ["q"], ["s"]) == (1, 2)
    monkeypatch.setattr(_l_diversity, "np", _SortedDownwards())
    assert anonymity.recursive_c_l_diversity(rows, ["q"], ["s"]) == (4, 2)
