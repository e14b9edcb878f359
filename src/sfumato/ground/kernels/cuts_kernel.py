"""Cuts of groups in two, on codes: which column, where, and what the sides then cost.

The cells of a group are a slice of ``order``. The values of all columns are numbered through, each column's in their
order. For one group and one column the values are counted and put in the order in which they are cut; a cut lies after
one of them or, relaxed, inside one. Every cut has a key: zero or less for the cuts that are tried first, the best one
lowest, and above zero for those that are tried when all others were refused. Keys are rounded. The number tells equal
ones apart, the lowest first: column, place in the order, and whether it lies inside.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.kernels.compiled import compiled, compiled_within
from sfumato.ground.kernels.cut_codes import (
    ALIKE,
    ANY,
    BALANCED,
    CHOOSE,
    CUT,
    HOPE,
    LEAST,
    LEVELS,
    MEDIAN,
    METRIC,
    ORDERED,
    RANGE,
    RELAXED,
    SPLINTER,
    WEIGHED,
    WIDTH,
)

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Reals = NDArray[np.float64]
Target = tuple[Ints, Codes, Reals, Reals]
"""Where each cell's entries begin, their classes, their rows; and room for values x classes, with two rows more."""


@compiled_within
def _rows(sizes: Ints, order: Ints, s: int, e: int) -> int:
    """The rows of a group."""
    rows = 0
    for i in range(s, e):
        rows += sizes[order[i]]
    return rows


@compiled_within
def _counted(keys: Codes, sizes: Ints, order: Ints, c: int, s: int, e: int, rows: Ints, values: Ints) -> int:
    """Count the rows of every value of a column in a group; how many values there are."""
    many = 0
    for i in range(s, e):
        cell = order[i]
        v = keys[c, cell]
        if rows[v] == 0:
            values[many] = v
            many += 1
        rows[v] += sizes[cell]
    return many


@compiled_within
def _arranged(labels: Codes, ordered: int, many: int, rows: Ints, children: Ints, values: Ints, marks: Ints) -> None:
    """Put the values in the order in which they are cut; no cut lies between equal marks."""
    level = 0
    for j in range(1, many):
        while labels[level, values[j]] != labels[level, values[0]]:
            level += 1
    level -= level > 0
    for j in range(many):
        children[labels[level, values[j]]] += rows[values[j]]
    for j in range(many):
        label = labels[level, values[j]]
        marks[j] = values[j] if ordered else label - children[label] * len(rows)
    for j in range(many):
        children[labels[level, values[j]]] = 0
    gap = many
    while gap > 1:
        gap = gap * 5 // 11 if gap > 2 else 1
        for j in range(gap, many):
            mark, v, i = marks[j], values[j], j
            while i >= gap and marks[i - gap] > mark:
                marks[i], values[i] = marks[i - gap], values[i - gap]
                i -= gap
            marks[i], values[i] = mark, v


@compiled_within
def _priced(labels: Codes, prices: Reals, place: Reals, kind: int, many: int, values: Ints, costs: Reals) -> None:
    """What a row costs under one label for the values up to each place: first from the front, then from the back."""
    for side in range(2):
        j, level, summed = side * (many - 1), 0, 0.0
        anchor = values[j]
        low = high = place[anchor]
        for i in range(many):
            v = values[j]
            there = place[v]
            low, high, summed = min(low, there), max(high, there), summed + there
            if kind == LEVELS:
                while labels[level, v] != labels[level, anchor]:
                    level += 1
                costs[side, j] = prices[level, v]
            elif kind == RANGE:
                costs[side, j] = min(high - low, 1.0)
            else:
                costs[side, j] = min(summed - low, 1.0) if i else 0.0
            j += 1 - 2 * side


@compiled_within
def _bits(x: float) -> float:
    return x * np.log2(x) if x > 0.0 else 0.0


@compiled_within
def _informed(
    keys: Codes, order: Ints, c: int, s: int, e: int, target: Target, many: int, whole: int, rows: Ints, values: Ints,
    costs: Reals,
) -> None:  # fmt: skip
    """What cuts after and inside every place tell about the class, in bits per row."""
    entries, codes, counts, classes = target
    had, before = 0, len(classes) - 2
    for k in range(classes.shape[1]):
        classes[before, k] = classes[before + 1, k] = 0.0
    for i in range(s, e):
        for entry in range(entries[order[i]], entries[order[i] + 1]):
            classes[keys[c, order[i]], codes[entry]] += counts[entry]
            classes[before + 1, codes[entry]] += counts[entry]
    for j in range(many):
        v = values[j]
        for inside in range(2):
            share = min(max((whole + 1) // 2 - had, 0) / rows[v], 1.0) if inside else 1.0
            cut = had + share * rows[v]
            known = _bits(whole) - _bits(cut) - _bits(whole - cut)
            for k in range(classes.shape[1]):
                left, all_of = classes[before, k] + share * classes[v, k], classes[before + 1, k]
                known += _bits(left) + _bits(all_of - left) - _bits(all_of)
            costs[2 + inside, j] = max(known / whole, 0.0)
        had += rows[v]
        for k in range(classes.shape[1]):
            classes[before, k] += classes[v, k]
            classes[v, k] = 0.0


@compiled_within
def _worth(choose: int, price: float, front: float, back: float, bits: float, share: float) -> float:
    """How good a cut is; for the metric, the price won and the hope of more, for what the cut uses up."""
    if choose == METRIC:
        won = price - share * front - (1.0 - share) * back
        spent = -_bits(share) - _bits(1.0 - share)
        return float(max(won + HOPE * price, 0.0) / np.sqrt(np.sqrt(spent)))
    return price if choose == WIDTH else bits + 1e-9 * price


@compiled_within
def _preferred(rule: Ints, many: int, whole: int, rows: Ints, values: Ints, marks: Ints) -> int:
    """How many rows come before the cut that a column tries first; 0 if all its cuts are alike."""
    if rule[CUT] == ANY:
        return 0
    if rule[RELAXED]:
        return (whole + 1) // 2
    best, had = 0, 0
    for j in range(many - 1):
        had += rows[values[j]]
        if marks[j + 1] != marks[j]:
            if rule[CUT] == MEDIAN and 2 * had >= whole:
                return int(had)
            if rule[CUT] == BALANCED and abs(2 * had - whole) < abs(2 * best - whole):
                best = had
    return int(best)


@compiled_within
def _best(
    rule: Ints, many: int, whole: int, tried: float, here: int, rows: Ints, values: Ints, marks: Ints, costs: Reals
) -> tuple[float, int]:
    """The best cut of a column after the one that was tried: its key and its number within the column."""
    first = _preferred(rule, many, whole, rows, values, marks)
    half = (whole + 1) // 2 if rule[RELAXED] else 0
    best, place, had = np.inf, -1, 0
    for j in range(many):
        before = had
        had += rows[values[j]]
        for inside in range(2):
            cut = half if inside else had
            there = before < half < had if inside else j < many - 1 and marks[j + 1] != marks[j]
            if not there or cut < rule[LEAST] or whole - cut < rule[LEAST]:
                continue
            key = 1.0 + abs(2 * cut - whole)
            splinter = rule[ORDERED] and SPLINTER * min(cut, whole - cut) < whole
            if cut == first or (rule[CUT] == ANY and not splinter):
                price, back = costs[0, many - 1], costs[1, j + 1 - inside]
                key = -_worth(rule[CHOOSE], price, costs[0, j], back, costs[2 + inside, j], cut / whole)
                key = np.rint(key * ALIKE) / ALIKE
            elif rule[CUT] == MEDIAN:
                continue
            number = 2 * j + inside
            if (key > tried or (key == tried and number > here)) and key < best:
                best, place = key, number
    return best, place


@compiled_within
def _search(
    keys: Codes, sizes: Ints, labels: Codes, prices: Reals, place: Reals, kinds: Ints, target: Target | None,
    rule: Ints, order: Ints, s: int, e: int, whole: int, tried: float, number: int,
    rows: Ints, children: Ints, values: Ints, marks: Ints, costs: Reals,
) -> tuple[float, int, float]:  # fmt: skip
    """The best cut of a group after the one that was tried: its key and number; and what a row costs as it is."""
    best, found, price = np.inf, -1, 0.0
    stride = 2 * len(rows)
    for c in range(len(keys)):
        many = _counted(keys, sizes, order, c, s, e, rows, values)
        if many > 1 or rule[RELAXED]:
            _arranged(labels, rule[ORDERED], many, rows, children, values, marks)
            _priced(labels, prices, place, kinds[c], many, values, costs)
            price += costs[0, many - 1]
            if target is not None:
                _informed(keys, order, c, s, e, target, many, whole, rows, values, costs)
            key, here = _best(rule, many, whole, tried, number - c * stride, rows, values, marks, costs)
            if key < best:
                best = key
                found = c * stride + here
        for j in range(many):
            rows[values[j]] = 0
    return best, found, price


@compiled_within
def _divided(
    keys: Codes, sizes: Ints, labels: Codes, rule: Ints, order: Ints, s: int, e: int, whole: int, number: int,
    rows: Ints, children: Ints, values: Ints, marks: Ints, dealt: Ints, out: Ints, spare: Ints,
) -> int:  # fmt: skip
    """Write a group's cells with the first side first, each side in its old order; where the second side begins.

    Rows of a value that the cut divides are dealt out evenly along their order.
    """
    c, at = number // (2 * len(rows)), number % (2 * len(rows))
    many = _counted(keys, sizes, order, c, s, e, rows, values)
    _arranged(labels, rule[ORDERED], many, rows, children, values, marks)
    left = (whole + 1) // 2
    for j in range(many):
        v = values[j]
        if at % 2:
            children[v] = min(rows[v], left)
            left -= children[v]
        else:
            children[v] = rows[v] if j <= at // 2 else 0
    middle, kept = s, 0
    for i in range(s, e):
        cell = order[i]
        v = keys[c, cell]
        had = dealt[v] * children[v] // rows[v]
        dealt[v] += sizes[cell]
        if dealt[v] * children[v] // rows[v] > had:
            out[middle] = cell
            middle += 1
        else:
            spare[kept] = cell
            kept += 1
    for i in range(kept):
        out[middle + i] = spare[i]
    for j in range(many):
        rows[values[j]] = children[values[j]] = dealt[values[j]] = 0
    return middle


@compiled
def cut_groups(
    keys: Codes, sizes: Ints, labels: Codes, prices: Reals, place: Reals, kinds: Ints, target: Target | None,
    rule: Ints, order: Ints, out: Ints, ends: Ints, tried: Reals, numbers: Ints, loss: Reals,
    ints: Ints, costs: Reals, spare: Ints,
) -> None:  # fmt: skip
    """Cut each group, from ``ends[0]`` to ``ends[1]``, by its best cut after the one in ``tried`` and ``numbers``.

    These then name the new cut, and ``ends[2]`` where the second side begins: -1 if no cut is left. ``out`` gets the
    cells in their new order (it may be ``order`` itself), ``loss`` what the group costs uncut, where that is asked for.
    """
    rows, children, values, marks, dealt = ints[0], ints[1], ints[2], ints[3], ints[4]
    for g in range(ends.shape[1]):
        s, e = ends[0, g], ends[1, g]
        whole = _rows(sizes, order, s, e)
        ends[2, g] = -1
        if whole < 2 * rule[LEAST] and not rule[WEIGHED]:
            continue
        tried[g], numbers[g], price = _search(
            keys, sizes, labels, prices, place, kinds, target, rule, order, s, e, whole, tried[g], numbers[g],
            rows, children, values, marks, costs,
        )  # fmt: skip
        loss[g] = price * whole
        if numbers[g] >= 0:
            ends[2, g] = _divided(
                keys, sizes, labels, rule, order, s, e, whole, numbers[g],
                rows, children, values, marks, dealt, out, spare,
            )  # fmt: skip
