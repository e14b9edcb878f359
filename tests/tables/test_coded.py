"""Codes become categories and chapters; of other categories the common ones keep their name."""

from __future__ import annotations

import csv
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import HierarchyError, ParameterError
from sfumato.tables.code_hierarchies import SYSTEMS, Codes, Common, above, chapters, others_label
from sfumato.tables.hierarchy import TOP
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from tests.shared_data import shared
from tests.weights import examples


def domain(values: list[str]) -> ObservedDomain:
    return ObservedDomain.of(Table(frame=pl.DataFrame({"x": values})).column("x", "text"))


def test_chapters_follow_each_other_and_have_names_of_their_own() -> None:
    for system in SYSTEMS:
        found = chapters(system)
        assert len({one.name for one in found}) == len(found)
        assert all(one.first <= one.last for one in found)
        for one, then in pairwise(found):
            assert len(one.last) != len(then.first) or one.last < then.first


def test_icd_9_chapters_are_those_of_the_published_hierarchy() -> None:
    """17,561 codes of another source lie in the same groups: equal chapters there are equal chapters here."""
    with shared("icd9", "icd9cm_hierarchy.csv").open() as file:
        pairs = {(row["chapter"], (above(row["code"], "icd-9") or ("", ""))[-1]) for row in csv.DictReader(file)}
    assert len({theirs for theirs, _ in pairs}) == len({ours for _, ours in pairs}) == len(pairs) == 19


def test_levels_of_medicines() -> None:
    assert above("A10BA02", "atc") == ("A10BA-", "A10B-", "A10-", "A Alimentary tract and metabolism")
    made = Codes(system="atc").build(domain(["A10BA02", "A10BB01", "C07AB02"]))
    assert made.height == 5
    assert made.levels[3].labels == ("A10-", "C07-")


def test_a_text_that_is_no_code_is_refused_with_its_rows() -> None:
    with pytest.raises(HierarchyError, match=r"'sepsis' \(2 rows\) is no code of ICD-10; declare such values"):
        Codes(system="icd-10").build(domain(["A00", "sepsis", "sepsis"]))
    with pytest.raises(ParameterError, match="system must be one of"):
        Codes(system="icd-12")


@given(
    values=st.lists(st.sampled_from("abcdefgh"), min_size=1), kept=st.lists(st.sampled_from("abcdefgh"), unique=True)
)
@examples(100)
def test_a_label_depends_on_its_value_and_level_alone(values: list[str], kept: list[str]) -> None:
    levels = tuple(tuple(kept[:many]) for many in range(len(kept), 0, -1))
    if not levels:
        with pytest.raises(ParameterError, match="keep must name at least one level"):
            Common(keep=levels)
        return
    made, seen = Common(keep=levels).build(domain(values)), domain(values)
    assert made.declared is None
    for code, value in enumerate(seen.values):
        path = [level.labels[level.parent[code]] for level in made.levels]
        assert path == [value, *(value if value in level else others_label(level) for level in levels), TOP]


def test_levels_must_shrink_and_labels_must_be_free() -> None:
    with pytest.raises(ParameterError, match="must be some of"):
        Common(keep=(("a",), ("b",)))
    with pytest.raises(HierarchyError, match="is also the label of other values"):
        Common(keep=(("a",),)).build(domain(["a", "other than 'a'"]))
