"""Hierarchies: what they bind, and what they refuse, by value and count."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import HierarchyError, ParameterError
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_builders import Dates, Flat, Intervals, Mask, OrderedGroups, Quantiles, named_groups
from sfumato.tables.hierarchy_files import Paths, line_paths, read_hierarchy, tree_paths
from sfumato.tables.schema import Categories, Numbers, ObservedDomain
from sfumato.tables.table import Table


def domain(values: list[str], *, missing: tuple[str, ...] = (), kind=None) -> ObservedDomain:
    return ObservedDomain.of(Table(frame=pl.DataFrame({"v": values}), missing=missing).column("v", kind))


def shown(hierarchy: Hierarchy) -> dict[str, list[str]]:
    """Each value with its labels, level by level."""
    leaves = hierarchy.levels[0].labels
    return {leaf: [lv.labels[lv.parent[code]] for lv in hierarchy.levels[1:]] for code, leaf in enumerate(leaves)}


def test_lines_with_either_mark_and_uneven_depth():
    text = "a;A;AB;*\nb;B;AB;*\nc;C;*\n\n"
    found = line_paths(text, source="t").build(domain(["a", "b", "c", "c"]))
    assert shown(found) == {"a": ["A", "AB", "*"], "b": ["B", "AB", "*"], "c": ["C", "C", "*"]}
    assert found.levels[2].sizes.tolist() == [2.0, 1.0]
    assert line_paths('"[0,5)",x,*\n"[5,9)",x,*', source="t").paths == {"[0,5)": (), "[5,9)": ()}
    assert isinstance(found.declared, Categories)


@pytest.mark.parametrize("suffix", [".json", ".toml", ".csv"])
def test_files(tmp_path: Path, suffix: str):
    path = tmp_path / f"h{suffix}"
    tree = {"Any": {"East": ["a", "b"], "West": ["c"]}}
    text = {
        ".json": json.dumps(tree),
        ".toml": '[Any]\nEast = ["a", "b"]\nWest = ["c"]\n',
        ".csv": "a;East\nb;East\nc;West\n",
    }[suffix]
    path.write_text(text)
    assert shown(read_hierarchy(path).build(domain(["a", "c"]))) == {"a": ["East", "*"], "c": ["West", "*"]}


def test_refusals_name_value_and_count(tmp_path: Path):
    some = domain(["a", "b", "b", "q", "q", "q"])
    with pytest.raises(HierarchyError, match=r"no leaf for 'q' \(3 rows\)"):
        line_paths("a;x;*\nb;x;*", source="t").build(some)
    with pytest.raises(HierarchyError, match=r"'b' \(2 rows\) has two parents: 'x;\*' and, on line 3, 'y;\*'"):
        line_paths("a;x;*\nb;x;*\nb;y;*\nq;y;*", source="t").build(some)
    with pytest.raises(HierarchyError, match=r"'b' \(2 rows\) has an empty level on line 2"):
        line_paths("a;x;*\nb;;*\nq;y;*", source="t").build(some)
    with pytest.raises(HierarchyError, match=r"'x' at level 1 \(3 rows\) has two parents at level 2, 'P' and 'Q'"):
        line_paths("a;x;P;*\nb;x;Q;*\nq;y;Q;*", source="t").build(some)
    with pytest.raises(HierarchyError, match="empty level"):
        tree_paths({"Any": {"East": []}}, source="t")
    with pytest.raises(HierarchyError, match=r"'a' \(1 rows\) has two parents"):
        tree_paths({"Any": {"East": ["a"], "West": ["a", "b", "q"]}}, source="t").build(some)
    with pytest.raises(HierarchyError, match="is empty"):
        line_paths("\n\n", source="t")
    with pytest.raises(HierarchyError, match="does not exist"):
        read_hierarchy(tmp_path / "none.csv")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(HierarchyError, match="not valid JSON"):
        read_hierarchy(tmp_path / "bad.json")


def test_intervals():
    found = Intervals(widths=(5, 10, 20), low=0, high=100).build(domain(["0", "4", "5", "37", "100"]))
    assert shown(found)["37"] == ["[35-40)", "[30-40)", "[20-40)", "*"]
    assert shown(found)["100"] == ["[95-100]", "[90-100]", "[80-100]", "*"]
    assert isinstance(found.declared, Numbers)
    cut = Intervals(cuts=((18, 40, 65), (40,)), low=0, high=120).build(domain(["17", "18", "64", "65"]))
    assert shown(cut)["18"] == ["[18-40)", "[0-40)", "*"]
    assert Intervals(widths=(10,)).build(domain(["3", "17"])).declared is None
    assert shown(Intervals(widths=(0.1,), low=-0.2, high=0.3).build(domain(["-0.15", "0.25"])))["-0.15"] == [
        "[-0.2 to -0.1)",
        "*",
    ]
    clamped = Intervals(widths=(10,), low=0, high=20, outside="clamp").build(domain(["-5", "3", "99"]))
    assert shown(clamped) == {"-5": ["<10", "*"], "3": ["<10", "*"], "99": [">=10", "*"]}
    undeclared = Intervals(widths=(10,)).build(domain(["3", "17", "25"]))
    assert shown(undeclared) == {"3": ["[0-10)", "*"], "17": ["[10-20)", "*"], "25": ["[20-30)", "*"]}
    with pytest.raises(HierarchyError, match=r"'99' \(2 rows\) outside the limits 0 to 20"):
        Intervals(widths=(10,), low=0, high=20).build(domain(["3", "99", "99"]))
    with pytest.raises(HierarchyError, match="type text"):
        Intervals(widths=(10,)).build(domain(["03", "04"]))
    for bad in ({"widths": (5, 7)}, {"widths": (5, 5)}, {"widths": (0,)}, {}, {"widths": (5,), "cuts": ((1,),)}):
        with pytest.raises(ParameterError):
            Intervals(**bad)
    with pytest.raises(ParameterError, match="finer level"):
        Intervals(cuts=((1, 2), (3,)))
    with pytest.raises(ParameterError, match="high must be above low"):
        Intervals(widths=(5,), low=5, high=5)


def test_quantiles_masks_dates_groups():
    found = Quantiles(groups=(4, 2)).build(domain([str(i) for i in range(1, 9)]))
    assert [len(level.labels) for level in found.levels] == [8, 4, 2, 1]
    assert shown(found)["1"] == ["<3", "<5", "*"]
    assert shown(found)["8"] == [">=7", ">=5", "*"]
    masked = shown(Mask().build(domain(["02139", "10598"])))
    assert masked["02139"] == ["0213*", "021**", "02***", "0****", "*"]
    assert shown(Mask(side="left", levels=(2,)).build(domain(["abc", "xbc"])))["abc"] == ["**c", "*"]
    dates = shown(
        Dates(levels=("day", "month", "quarter", "year", "decade")).build(domain(["1984-05-17", "1999-12-31"]))
    )
    assert dates["1984-05-17"] == ["1984-05", "1984-Q2", "1984", "1980s", "*"]
    ordered = OrderedGroups(order=("low", "mid", "high"), sizes=(2,)).build(domain(["low", "high"]))
    assert shown(ordered) == {"high": ["high", "*"], "low": ["low to mid", "*"]}
    grouped = named_groups({"school": ("9th", "10th"), "uni": ("BSc",)}).build(domain(["9th", "BSc"]))
    assert shown(grouped)["9th"] == ["school", "*"]
    assert shown(Flat().build(domain(["x", "y"]))) == {"x": ["*"], "y": ["*"]}
    with pytest.raises(HierarchyError, match=r"no leaf for 'top' \(1 rows\)"):
        OrderedGroups(order=("low", "mid"), sizes=(2,)).build(domain(["low", "top"]))
    with pytest.raises(HierarchyError, match="type text"):
        Dates().build(domain(["17 May 1984"]))
    with pytest.raises(HierarchyError, match="two parents"):
        named_groups({"a": ("x",), "b": ("x",)})
    for make in (
        lambda: Quantiles(groups=(4, 3)),
        lambda: Quantiles(groups=(1,)),
        lambda: Mask(levels=(2, 1)),
        lambda: Mask(mark="xx"),
        lambda: Dates(levels=("year", "month")),
        lambda: OrderedGroups(order=("a", "a"), sizes=(2,)),
        lambda: OrderedGroups(order=("a", "b"), sizes=(2, 3)),
    ):
        with pytest.raises(ParameterError):
            make()


def test_missing_stays_itself_below_the_top():
    found = Paths(paths={"a": ("A",), "b": ("A",)}).build(domain(["a", "?", "b"], missing=("?",)))
    assert shown(found)["?"] == ["?", "*"]
    assert found.missing == 2


@given(st.lists(st.integers(0, 99), min_size=1, max_size=30), st.data())
def test_every_value_has_one_ancestor_per_level_and_levels_nest(numbers, data):
    """Laws of every builder: each level is coarser than the one below, and lifting composes."""
    values = [str(n) for n in numbers]
    builder = data.draw(
        st.sampled_from(
            [
                Intervals(widths=(2, 10, 50), low=0, high=99),
                Intervals(cuts=((10, 20, 50), (20,)), low=0, high=99),
                Quantiles(groups=(4, 2)),
                Flat(),
                Mask(),
                OrderedGroups(order=tuple(str(i) for i in range(100)), sizes=(5, 25)),
            ]
        )
    )
    found = builder.build(domain(values))
    assert found.levels[-1].labels == ("*",)
    for low in range(found.height):
        lifted = found.lift(low, low + 1)
        assert np.array_equal(lifted[found.levels[low].parent], found.levels[low + 1].parent)
        assert np.array_equal(found.lift(low + 1, found.height)[lifted], found.lift(low, found.height))
        assert (found.levels[low].sizes <= found.levels[low + 1].sizes[lifted] + 1e-9).all()
