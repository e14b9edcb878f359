"""Inference channels: found ones are those of the definition, repairs leave none and change the least."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import DataError, Infeasible
from sfumato.mining.channels import detection
from sfumato.mining.channels.bounds import complete_channels, derived
from sfumato.mining.channels.detection import find_channels, group_text
from sfumato.mining.channels.published_sets import ToldSets, told_sets
from sfumato.mining.channels.repair import raise_supports, withhold
from tests.brute import channels as brute
from tests.weights import examples

ITEMS = 3
SETS = [one for size in (1, 2, 3) for one in combinations(range(ITEMS), size)]


@st.composite
def publications(draw, most: int = 6):
    """A small database, and the supports of some sets."""
    records = draw(st.lists(st.integers(0, 7), min_size=1, max_size=most))
    some = draw(st.lists(st.sampled_from(SETS), unique=True, min_size=1))
    told = {one: sum(all(mask >> item & 1 for item in one) for mask in records) for one in sorted(some)}
    return len(records), told, draw(st.integers(2, 5))


def made(records: int, told: dict) -> ToldSets:
    return told_sets(records, ("a", "b", "c", "d"), told)


@given(publications())
@examples(160, whole=True, deadline=None)
def test_found_channels_are_those_of_the_definition(drawn):
    records, told, k = drawn
    found, expected = find_channels(made(records, told), k), brute.channels(records, ITEMS, told, k)
    assert (found.reach, found.many) == ("exact", len(expected))
    assert bool(found.listed) == bool(expected)
    for one in found.listed:
        assert expected[one.channel.have, one.channel.lack] == one.channel.people
        alone = {some: rows for some, rows in told.items() if some in one.sets}
        if one.proven:
            assert (one.channel.have, one.channel.lack) in brute.channels(records, ITEMS, alone, k) or (
                {*one.channel.have, *one.channel.lack} - {item for some in one.sets for item in some}
            )


@given(publications())
@examples(160, whole=True, deadline=None)
def test_inclusion_and_exclusion_and_bounds_find_nothing_that_does_not_follow(drawn):
    """The quick search: every support that bounds pin is the same in all databases, and so is every channel."""
    records, told, k = drawn
    more = derived(made(records, told))
    agree = brute.databases(records, ITEMS)
    for some, rows in told.items():
        agree = agree[agree[:, brute.support_cells(ITEMS, some)].sum(axis=1) == rows]
    for items, rows in more.told.each():
        assert (agree[:, brute.support_cells(ITEMS, items)].sum(axis=1) == rows).all()
    many, _ = complete_channels(more.told, k)
    assert many <= len(brute.channels(records, ITEMS, told, k))


@given(publications(5))
@examples(60, deadline=None)
def test_the_fewest_sets_are_withheld(drawn):
    records, told, k = drawn
    if records < k:
        with pytest.raises(Infeasible, match="their number is public"):
            withhold(made(records, told), k)
        return
    repaired, fewest = withhold(made(records, told), k), brute.fewest_withheld(records, ITEMS, told, k)
    assert repaired.least <= fewest <= repaired.withheld
    assert not brute.channels(records, ITEMS, dict(repaired.told.each()), k)
    if repaired.proven:
        assert repaired.withheld == fewest
    assert all(told[one] == rows for one, rows in repaired.told.each())


@given(publications(5))
@examples(40, deadline=None)
def test_raised_supports_are_those_of_a_table_without_channels(drawn):
    records, told, k = drawn
    if records < k:
        return
    repaired = raise_supports(made(records, told), k)
    after = dict(repaired.told.each())
    assert set(after) == set(told)
    assert all(0 <= after[one] - told[one] <= repaired.added for one in told)
    assert repaired.told.records == records + repaired.added
    assert not find_channels(repaired.told, k).many  # refuses what no table has
    assert repaired.added >= repaired.least


@given(st.lists(st.integers(1, 15), min_size=6, max_size=40), st.integers(2, 6), st.integers(0, 14))
@examples(30, deadline=None)
def test_the_quick_search_breaks_what_it_finds(records, k, gone):
    """As for many items: no integer programs over all tables."""
    every = [one for size in (1, 2, 3, 4) for one in combinations(range(4), size)]
    told = {one: sum(all(mask >> item & 1 for item in one) for mask in records) for one in every if one != every[gone]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detection, "MOST_WHOLE", 3)
        for repair in (withhold, raise_supports):
            repaired = repair(made(len(records), told), k)
            assert repaired.least <= repaired.withheld + repaired.added
            left = find_channels(repaired.told, k)
            assert left.many == 0


def test_the_example_of_the_docs():
    """docs/theory/publishing-patterns.md."""
    bread, milk, tea = 0, 1, 2
    told = {(bread,): 50, (milk,): 70, (tea,): 30, (bread, milk): 50, (bread, tea): 12, (milk, tea): 13}
    some = told_sets(100, ("bread", "milk", "tea"), told)
    assert complete_channels(some, 5) == (0, [])
    found = find_channels(some, 5)
    assert [group_text(some, one.channel) for one in found.listed] == ["with milk, tea and without bread"]
    assert found.listed[0].channel.people == 1
    assert derived(some).told.family.supports(np.array([[bread, milk, tea]], np.int32)).tolist() == [12]
    repaired = withhold(some, 5)
    assert (repaired.withheld, repaired.proven) == (1, True)
    raised = raise_supports(some, 5)
    assert dict(raised.told.each()) == {**told, (milk,): 75, (tea,): 35, (milk, tea): 18}
    assert (raised.told.records, raised.added, raised.least) == (105, 5, 4)


def test_intervals_by_hand():
    """Atzori and others: three supports of a chain, and the complement of two frequent items."""
    some = told_sets(1000, ("a", "b"), {(0,): 700, (1,): 298, (0, 1): 0})
    many, listed = complete_channels(some, 5)
    assert many == 1
    assert (listed[0].have, listed[0].lack, listed[0].people) == ((), (0, 1), 2)
    assert list(listed[0].between()) == [(), (0,), (1,), (0, 1)]


def test_supports_that_no_records_have_are_refused():
    with pytest.raises(DataError, match="no records can have these supports: -1 of them would be with b and without a"):
        find_channels(told_sets(9, ("a", "b"), {(1,): 4, (0, 1): 5}), 2)
    with pytest.raises(DataError, match="no records agree"):
        find_channels(told_sets(9, ("a", "b", "c"), {(0, 1): 5, (1, 2): 5, (0, 2): 5, (0, 1, 2): 0}), 2)
    with pytest.raises(sf.ParameterError, match="k must be"):
        find_channels(told_sets(9, ("a",), {(0,): 4}), 0)


def test_whole_numbers_tell_more_than_real_ones():
    """Two of three pairs overlap by half a record among real tables; among whole ones the triple is known."""
    told = {(0,): 1, (1,): 1, (2,): 1, (0, 1): 1}
    found = find_channels(told_sets(3, ("a", "b", "c"), told), 2)
    assert found.many == len(brute.channels(3, 3, told, 2))
