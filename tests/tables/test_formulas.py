"""Texts that a spreadsheet would run: found, escaped without making two into one, and read back as they were."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.csv_files import (
    escaped,
    escaped_text,
    formula_columns,
    is_formula,
    told_formulas,
    unescaped,
    unescaped_text,
)
from sfumato.tables.files import rendered
from tests.weights import examples

TEXTS = st.text(alphabet="=+-@'\t\r\n a1.e\uff1d", max_size=6)


def runs(text: str) -> bool:
    """The literal twin: what a spreadsheet may run, character by character."""
    while text.startswith("'"):
        text = text[1:]
    if len(text) < 2 or text[0] not in "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20":
        return False
    number = all(c in "0123456789.eE+-" for c in text)
    if number and text[-1] not in "+-eE":
        try:
            float(text)
        except ValueError:
            return True
        return False
    return True


@examples(400)
@given(TEXTS)
def test_what_is_a_formula_equals_its_twin(text: str) -> None:
    assert is_formula(text) == runs(text)


@examples(300)
@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_escaping_can_be_undone_and_never_makes_two_texts_one(texts: list[str]) -> None:
    frame = pl.DataFrame({"a": texts, "n": list(range(len(texts)))}, schema={"a": pl.String, "n": pl.Int64})
    written = escaped(frame)
    assert written["a"].to_list() == [escaped_text(text) for text in texts]
    assert unescaped(written).equals(frame)
    assert len(set(written["a"])) == len(set(texts))
    assert [unescaped_text(text) for text in written["a"]] == texts
    assert formula_columns(written) == []
    assert (formula_columns(frame) == ["a"]) == any(runs(text) and not text.startswith("'") for text in texts)


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+1+1", "-1-1", "\t=1", "\r=1", "\uff1d1+1", "=HYPERLINK(A1)"])
def test_no_escaped_cell_begins_like_a_formula(text: str) -> None:
    """Known-bad: written as they are, every one of these begins like a formula in the bytes."""
    frame = pl.DataFrame({text: [text, "-5", "x"]})
    plain, safe = rendered(frame, "x.csv").decode(), rendered(escaped(frame), "x.csv").decode()
    assert any(is_formula(cell) for row in csv.reader(io.StringIO(plain, newline="")) for cell in row)
    cells = [cell for row in csv.reader(io.StringIO(safe, newline="")) for cell in row]
    assert cells == [f"'{text}", f"'{text}", "-5", "x"]


def test_categories_and_nulls() -> None:
    frame = pl.DataFrame({"a": pl.Series(["=x", None, "y"], dtype=pl.Categorical)})
    assert escaped(frame)["a"].to_list() == ["'=x", None, "y"]
    assert "cells of 'a' as formulas" in told_formulas(formula_columns(frame))


def test_encoded_columns_are_looked_at_by_their_distinct_texts():
    texts = pl.Series("a", ["x", "=1+1", None, "x"])
    for cells in (texts, texts.cast(pl.Categorical), texts.cast(pl.Enum(["x", "=1+1", "unused"]))):
        assert formula_columns(cells.to_frame()) == ["a"]
    assert formula_columns(pl.Series("a", ["x"], dtype=pl.Enum(["x", "=1+1"])).to_frame()) == []
