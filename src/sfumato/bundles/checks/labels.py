"""Checks released labels, and cells that are distributions, against the manifest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf, isclose, isfinite
from typing import Any

import numpy as np

from sfumato.counts.classes import Classes
from sfumato.tables.code_hierarchies import others_label
from sfumato.tables.hierarchy import TOP
from sfumato.tables.labels import Interval, read_distribution, read_interval, read_set
from sfumato.tables.schema import DECLARING
from sfumato.tables.table import is_readable

# What released labels say by themselves, held against what the manifest says about them: sizes, steps and rules.
#
# An interval tells how wide it is and which numbers it holds; a label of a mask or of a calendar tells its level; a
# label of level 0 stands for itself. What a word such as ``Higher education`` covers nobody can tell from the word.


FORMS = ("levels", "nodes", "intervals", "boxes", "means", "distributions")
"""How labels are made; the first where nothing is said."""
_SHARES = ("boxes", "intervals", "distributions")
"""Labels that lie as high as their share of the domain says."""
_NUMERIC = ("intervals", "grown")
"""Hierarchies that declare a range of numbers."""
_BOX = re.compile(r"\[(\S+) - (\S+)\]")
_WAYS = ("values", "intervals", "above")
"""How a rule reads values: by a table, by intervals, or by what lies above them. It has one of these."""
_UNITS = {"month": r"\d{4}-\d{2}", "quarter": r"\d{4}-Q[1-4]", "year": r"\d{4}", "decade": r"\d{3}0s"}


def contradictions(stated: Mapping[str, Any], planned: Mapping[str, Any], missing: Sequence[str]) -> list[str]:
    """What the labels of one quasi-identifier contradict in its description, in words.

    ``stated`` is the column's recoding, ``planned`` the column of the plan, ``missing`` the texts of missing values.
    """
    form = stated.get("form", FORMS[0])
    wrong = [] if form in FORMS else [f"form {form!r}"]
    words = [label for label in stated.get("labels", {}) if label not in (TOP, *missing)]
    numeric = planned.get("hierarchy") in _NUMERIC or stated.get("rule", {}).get("intervals") is True
    if "sizes" in stated:
        wrong += _sizes(stated, numeric, words, missing)
    if form in _SHARES and "sizes" in stated:
        wrong += [label for label, steps in stated["labels"].items() if not _shared(label, steps, stated)]
    if form == "distributions":
        distributions = [label for label in words if label.startswith('{"') and stated["labels"][label] != 0]
        wrong += [f"{label} counts nothing" for label in distributions if read_distribution(label) is None]
    if form == "intervals":
        wrong += [label for label in words if read_interval(label) is None]
    if "rule" in stated:
        wrong += rule_faults(stated["rule"], words) + _planned_rule(stated, planned, words)
    return wrong


def _sizes(stated: Mapping[str, Any], numeric: bool, words: list[str], missing: Sequence[str]) -> list[str]:
    """Labels whose size is not what they say themselves."""
    sizes, total, leaf = stated["sizes"], stated["total"], 0.0 if stated["continuous"] else 1.0
    wrong = [f"{label} has no size" for label in stated["labels"] if label not in sizes]
    wrong += [f"size of {label}" for label in sizes if label not in stated["labels"]]
    known_sizes: dict[str, float | None] = {TOP: float(total), **dict.fromkeys(missing, leaf)}
    known_sizes |= {label: leaf for label in words if stated["labels"][label] == 0}
    if numeric:
        known_sizes |= {label: _width(label, leaf) for label in words}
        wrong += _beyond(words, float(total), leaf)
        kind = stated.get("rule", {}).get("type")
        wrong += ["continuous"] * (kind is not None and bool(stated["continuous"]) != (kind != "integer"))
    if stated.get("form") == "distributions" and not leaf:
        wrong += [f"size {sizes[label]:g} of {label}" for label in words if not _as_wide(label, sizes.get(label))]
    if leaf:
        boxes = stated.get("form") in ("boxes", "distributions")
        wrong += _miscounted({x: sizes[x] for x in words if boxes and x in sizes}, int(total), missing)
    values = stated.get("rule", {}).get("values")
    if values is not None:
        wrong += ["continuous"] * bool(stated["continuous"]) + ["total"] * (total != len(values))
    for label, size in sizes.items():
        known_size = known_sizes.get(label)
        near = known_size is None or isclose(size, known_size, rel_tol=1e-9, abs_tol=1e-9)
        counted = leaf and _BOX.fullmatch(label) and known_size is not None and leaf <= size <= known_size
        if not near and not counted:  # what lies beyond declared limits has no size
            wrong.append(f"size {size:g} of {label}")
    return wrong


def words_without_values(stated: Mapping[str, Any], missing: Sequence[str]) -> list[str]:
    """The labels whose size only the publisher's hierarchy shows: words that no rule gives values for."""
    if "sizes" not in stated or stated.get("rule", {}).get("values"):
        return []
    leaf = 0.0 if stated.get("continuous") else 1.0
    single = stated.get("form") != "boxes"  # a word of a box may be a value or stand for several
    words = [x for x in stated["sizes"] if x not in (TOP, *missing) and not (single and stated["labels"].get(x) == 0)]
    words = [label for label in words if _width(label, leaf) is None and _listed(label, missing) is None]
    return [label for label in words if stated["sizes"][label] != stated.get("total")]


def _miscounted(sizes: Mapping[str, float], total: int, missing: Sequence[str]) -> list[str]:
    """Labels that list whole numbers or values, and whose size is another number of them.

    Values outside the declared limits do not count. The limits are not published, so one pair of limits must explain
    all sizes together.
    """
    values = {label: members for label in sizes if (members := _listed(label, missing)) is not None}
    wrong = [label for label, members in values.items() if sizes[label] != len(members)]
    if not wrong:
        return []
    numbers = {label: members for label, members in values.items() if isinstance(members, range) or _whole(members)}
    if len(numbers) == len(values):
        seen = {int(number) for members in numbers.values() for number in _ends(members)}
        lows = {low for number in seen for low in (number, number - total + 1)}
        for label in wrong:  # the limits cut this one off, at its lower or at its upper end
            first, *_, last = sorted(_ends(numbers[label]))
            lows |= {last - int(sizes[label]) + 1, first + int(sizes[label]) - total}
        if any(all(_inside(members, low, total) == sizes[x] for x, members in numbers.items()) for low in lows):
            return []
    return [f"size {sizes[label]:g} of {label}" for label in wrong]


def _listed(label: str, missing: Sequence[str]) -> range | list[str] | None:
    """The values that a box or a distribution covers; None where the label does not list them."""
    if match := _BOX.fullmatch(label):
        ends = match.groups()
        return range(int(ends[0]), int(ends[1]) + 1) if all(is_readable(end, "integer") for end in ends) else None
    if (counts := read_distribution(label)) is not None:
        return [value for value in counts if value not in missing]
    return read_set(label)


def _whole(values: Sequence[str]) -> bool:
    return all(is_readable(value, "integer") for value in values)


def _ends(values: range | Sequence[str]) -> Iterable[int]:
    return (values[0], values[-1]) if isinstance(values, range) else map(int, values)


def _inside(values: range | Sequence[str], low: int, total: int) -> int:
    """How many of some whole numbers lie within limits."""
    if isinstance(values, range):
        return max(min(values.stop, low + total) - max(values.start, low), 0)
    return sum(low <= int(value) < low + total for value in values)


def _as_wide(label: str, size: float | None) -> bool:
    """Whether the size of a distribution of measurements is at most their range."""
    counts = read_distribution(label)
    if counts is None or size is None:
        return True
    numbers = [float(value) for value in counts if is_readable(value, "real")]
    return len(numbers) == len(counts) and size <= (max(numbers) - min(numbers)) * (1 + 1e-9)


def _width(label: str, leaf: float) -> float | None:
    """How much of a range an interval or a box covers; None where its words do not say."""
    if match := _BOX.fullmatch(label):
        ends = [read_interval(text) for text in match.groups()]
        if None in ends:
            return None
        low, high = ends
        return high.high - low.low + leaf  # type: ignore[union-attr]
    interval = read_interval(label)
    if interval is None or not isfinite(interval.high - interval.low):
        return None
    return interval.high - interval.low + (leaf if interval.closed else 0.0)


def _beyond(words: Iterable[str], total: float, leaf: float) -> list[str]:
    """Whether the intervals reach further than the whole range."""
    spans = [span for span in map(read_interval, words) if span is not None and span.low < span.high]
    lows = [span.low for span in spans if span.low > -inf]
    highs = [span.high + (leaf if span.closed else 0.0) for span in spans if span.high < inf]
    wide = max(highs, default=0.0) - min(lows, default=0.0) if lows and highs else 0.0
    return [f"total {total:g}, less than the labels cover"] if wide > total * (1 + 1e-9) else []


def _shared(label: str, steps: float | None, stated: Mapping[str, Any]) -> bool:
    """Whether a label lies as high as its share of the domain says."""
    leaf = 0.0 if stated["continuous"] else 1.0
    share = (stated["sizes"].get(label, leaf) - leaf) / max(stated["total"] - leaf, 1e-300)
    return steps is not None and isclose(steps, stated["of"] * min(max(share, 0.0), 1.0), rel_tol=1e-9, abs_tol=1e-9)


def rule_faults(rule: Mapping[str, Any], words: Sequence[str]) -> list[str]:
    """What is wrong with a rule by itself: no way or two ways to read a value, labels that do not hold what they show.

    ``words`` are the released labels but for ``*`` and missing values.
    """
    ways = [way for way in _WAYS if way in rule]
    if len(ways) != 1 or not rule[ways[0]]:
        return [f"rule by {' and '.join(ways) or 'nothing'}"]
    if "values" in rule:
        return [f"{value} as {label}" for value, label in rule["values"].items() if not _holds(label, value)]
    if "intervals" not in rule:
        return []
    spans = {label: read_interval(label) for label in words}
    wrong = [f"{label} is no interval" for label, span in spans.items() if span is None]
    wrong += ["intervals of no numbers"] * (rule["type"] not in ("integer", "real"))
    met = sorted((s for s in spans.values() if s is not None), key=lambda s: (s.low, s.high))
    wrong += [f"{a} and {b} overlap" for a, b in pairwise(met) if _overlap(a, b)]
    return wrong


def _overlap(first: Interval, then: Interval) -> bool:
    """Whether two intervals share numbers; two writings of one number do not count."""
    if first == then and first.low == first.high:
        return False
    return then.low < first.high or (first.closed and then.low == first.high)


def _holds(label: Any, value: str) -> bool:
    """Whether an interval holds a number that reads as it; other labels say nothing."""
    span = read_interval(label) if isinstance(label, str) and label[:1] in ("[", "<", ">") else None
    return span is None or not is_readable(value, "real") or bool(span.holds(np.array([float(value)]))[0])


def _planned_rule(stated: Mapping[str, Any], planned: Mapping[str, Any], words: Sequence[str]) -> list[str]:
    """What a rule and the hierarchy that the plan names, or the level that is stated, contradict in each other."""
    rule, tree = stated["rule"], planned.get("hierarchy", "flat")
    single = stated.get("form") not in _SHARES  # an interval of one whole number is as narrow as a value
    leaves = {label for label in words if single and stated["labels"][label] == 0}
    wrong = [f"{x} as {rule['type']}" for x in sorted(leaves) if not is_readable(x, rule["type"])]
    if "above" in rule:
        return wrong + _above(stated, rule["above"], str(tree), words)
    if "values" not in rule:
        return wrong
    wrong += [] if tree in DECLARING else [f"a table of values from a hierarchy of {tree}"]
    for value, label in rule["values"].items():
        alone = label in leaves or stated.get("level") == 0
        hidden = stated.get("level") == stated["of"]
        if (alone and label != value) or (hidden and label != TOP):
            wrong.append(f"{value} as {label}")
    return wrong


def _above(stated: Mapping[str, Any], above: Mapping[str, Any], tree: str, words: Sequence[str]) -> list[str]:
    """Labels of a mask or a calendar that do not look like those of their level, or too many levels."""
    kind = str(above.get("kind") or next(iter(above), ""))
    wrong = [] if kind == tree else [f"a rule by {kind}, where the plan has {tree}"]
    wrong += ["a calendar without dates"] * (kind == "dates" and stated["rule"]["type"] != "date")
    shapes = _common(above, int(stated["of"])) if kind == "common" else _shapes(kind, above)
    if shapes is None:
        return wrong
    if shapes and stated["of"] != len(shapes):
        wrong.append(f"{stated['of']} levels of {kind}")
    steps = {label: int(stated["labels"][label] or 0) for label in words}
    return wrong + [x for x, n in steps.items() if not 0 <= n < len(shapes) or not re.fullmatch(shapes[n], x, re.S)]


def _common(above: Mapping[str, Any], height: int) -> list[str]:
    """What labels of each level look like where common values are kept; finer levels may be left out of the rule."""
    kept = ["|".join(map(re.escape, [*level, others_label(level)])) for level in above.get("keep", [])]
    return [".*"] * max(height - len(kept), 1) + kept


def _shapes(kind: str, above: Mapping[str, Any]) -> list[str] | None:
    """What labels of each level below the top look like; None where nobody can say."""
    if kind == "flat":
        return [".*"]
    if kind == "dates":
        units = above.get("levels", ["month", "quarter", "year", "decade"])
        return [r"\d{4}-\d{2}-\d{2}", *(_UNITS[unit] for unit in units if unit != "day")]
    hidden = above.get("levels") or list(range(1, int(above.get("length") or 0)))
    if kind != "mask" or not hidden:
        return None
    mark, right = re.escape(above.get("mark", "*")), above.get("from", "right") == "right"
    marks = [f"{mark}{{{n}}}" for n in hidden]
    return [".*", *(f"(.*{m}|{mark}{{2,}})" if right else f"({m}.*|{mark}{{2,}})" for m in marks)]


# Cells that are distributions, held against the rows of their class: counts must be those of groups of rows.


def distributions_fit(manifest: Mapping[str, Any], classes: Classes, check: Callable[..., Any]) -> Iterable[Any]:
    """In every class all distributions count equally many rows, and the class is that many rows or a multiple.

    Groups that read alike are one class, so a class may be several groups of the same size. Which value stands in
    which row nobody can tell; that a distribution has the values of its group shows only beside the original.
    """
    columns = manifest["recoding"]["columns"]
    places = [c for c, name in enumerate(classes.quasi) if columns.get(name, {}).get("form") == "distributions"]
    if not places:
        return
    sums = {c: [_rows(label) for label in classes.labels[c]] for c in places}
    wrong = []
    for place in range(classes.count):
        totals = {sums[c][classes.keys[c, place]] for c in places} - {None}
        if len(totals) > 1 or any(int(classes.sizes[place]) % many for many in totals if many):
            wrong.append(place)
    detail = "as many rows as their classes have, or a part of them"
    if wrong:
        detail = f"{len(wrong)} classes with other counts, the first of {int(classes.sizes[wrong[0]])} rows"
    yield check(what="counts of the distributions", holds=not wrong, detail=detail)


def _rows(label: str) -> int | None:
    """How many rows a distribution counts; None where a label is none."""
    counts = read_distribution(label)
    return None if counts is None else sum(counts.values())
