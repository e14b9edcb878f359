"""Golden G10 (document 002, tables 1 and 3, figures 6 and 7; errata 10 and 11): the paper's column for k = 5."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from sfumato.tables.graded_grouping import GradedGrouping, read_terms
from sfumato.tables.graded_secret import AliasTable, GradedSecret

AGES = [30, 40, 70, 25, 15, 58, 73, 37, 90]
PAPER = ["2.000", "2.667", "4.667", "1.667", "1.000", "3.867", "4.867", "2.467", "5.999"]
FIVE = GradedGrouping(limits=(15, 30, 45, 60, 75, 90), values=(1, 2, 3, 4, 5))


def test_the_papers_column():
    assert FIVE.codes(AGES) == PAPER


def test_it_keeps_correlations():
    assert np.corrcoef(AGES, [float(code) for code in FIVE.codes(AGES)])[0, 1] == pytest.approx(1, abs=1e-3)


def test_everything_is_read_back_to_the_last_digit():
    assert FIVE.numbers(PAPER) == [str(age) for age in AGES]


def test_the_same_from_a_plan_s_terms():
    terms = read_terms({"age": {"low": 15, "high": 90, "categories": 5, "first": 1}})
    column = GradedSecret.new(terms).columns["age"]
    assert [column.shown(str(age)) for age in AGES] == PAPER


def five_points(numbers: list[Decimal]) -> list[Decimal]:
    """As the paper does: the quartiles are the medians of the halves without the middle."""
    some = sorted(numbers)
    middle = len(some) // 2

    def median(part: list[Decimal]) -> Decimal:
        return (part[(len(part) - 1) // 2] + part[len(part) // 2]) / 2

    return [some[0], median(some[:middle]), some[middle], median(some[middle + 1 :]), some[-1]]


def test_the_box_plots():
    """Figures 6 and 7; the paper shows 5.99 for the largest."""
    assert five_points([Decimal(age) for age in AGES]) == [15, Decimal("27.5"), 40, Decimal("71.5"), 90]
    told = [Decimal(one) for one in ("1", "1.8335", "2.667", "4.767", "5.999")]
    assert five_points([Decimal(code) for code in FIVE.codes(AGES)]) == told


def test_the_mapping_table():
    """Table 1: every illness has one alias and every alias one illness; the order is drawn."""
    names = ["Gastritis", "Flu", "Stomach Cancer", "Throat infection", "Mouth ulcer"]
    orders = set()
    for _ in range(40):
        table = GradedSecret.new(read_terms({"Illness": names})).columns["Illness"]
        assert isinstance(table, AliasTable)
        assert sorted(table.aliases.values()) == [f"Illness_{place}" for place in range(1, 6)]
        assert [table.behind(table.shown(name)) for name in names] == names
        orders.add(tuple(table.aliases[name] for name in names))
    assert len(orders) > 20, "40 draws of 120 orders; fewer than 21 different ones come less than once in 10^9 runs"
