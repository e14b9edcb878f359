"""Document 004 literally: definitions 9, 11 and 13, equations 1 to 3, ATP on nested trees, PGEN tuple by tuple, C4.5.

A tree is ``("leaf", class, hit, miss)`` or ``("split", attribute, [(label, tree), ...])``; a label is a set of values
or of intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import ceil, log2
from typing import Any

Leaf = tuple[int, int, int]
Tree = tuple[Any, ...]
Requirement = Callable[[int, int], bool]


def spreads(miss: int, most: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to spread misses over some classes, each with 1 to ``most``, in falling order."""
    if parts == 0:
        if miss == 0:
            yield ()
        return
    for first in range(min(most, miss), 0, -1):
        for rest in spreads(miss - first, first, parts - 1):
            yield (first, *rest)


def worst_tail(hit: int, miss: int, l: int, fewest: int) -> int | None:
    """The smallest sum of the l-th most frequent class and rarer ones, over spreads over ``fewest`` classes or more.

    None where no such spread exists.
    """
    found = [
        sum(sorted((hit, *spread), reverse=True)[l - 1 :])
        for parts in range(fewest, miss + 1)
        for spread in spreads(miss, hit, parts)
    ]
    return min(found, default=None)


def equation_one(hit: int, miss: int, c: float, l: int) -> bool:
    """Definition 11 with the three cases of equation 1."""
    if miss < l - 1 or hit < 1:
        return False
    if hit == 1:
        tail = miss - (l - 2)
    else:
        q = Fraction(miss - (l - 1), hit - 1)
        tail = 1 if 0 <= q <= l - 2 else miss - (l - 2) * hit
    return hit < c * tail


def simple(hit: int, miss: int, l: int) -> bool:
    """Definition 13."""
    return miss >= l - 1 and hit <= Fraction(hit + miss, l)


def united(leaves: Sequence[Leaf], classes: int) -> Leaf:
    """Equations 2 and 3."""
    held = [
        sum((Fraction(hit) for says, hit, _ in leaves if says == c), Fraction(0))
        + Fraction(1, classes - 1) * sum(miss for says, _, miss in leaves if says != c)
        for c in range(classes)
    ]
    says = held.index(max(held))
    hit = ceil(held[says])
    return says, hit, sum(hit_ + miss for _, hit_, miss in leaves) - hit


def figures(tree: Tree, classes: int) -> Leaf:
    """Class, hit and miss of any node, from below."""
    if tree[0] == "leaf":
        return tree[1:]
    return united([figures(kid, classes) for _, kid in tree[2]], classes)


def depth(tree: Tree) -> int:
    return 0 if tree[0] == "leaf" else 1 + max(depth(kid) for _, kid in tree[2])


def pruned(tree: Tree, classes: int, passes: Requirement) -> Tree | None:
    """Figure 6: below first, then merge children that fail; None is the empty tree.

    Levels from below and children before their parent come to the same: a merge looks at nothing outside its node.
    """
    found = _mended(tree, classes, passes)
    return None if found[0] == "leaf" else found


def _mended(tree: Tree, classes: int, passes: Requirement) -> Tree:
    if tree[0] == "leaf":
        return tree
    told = {label: figures(kid, classes) for label, kid in tree[2]}
    kids = [(label, _mended(kid, classes, passes)) for label, kid in tree[2]]
    for label, kid in kids:
        if kid[0] == "leaf":
            told[label] = kid[1:]

    def fails(label: Any, kid: Tree) -> bool:
        return kid[0] == "leaf" and not passes(kid[2], kid[3])

    while len(kids) > 1 and any(fails(*one) for one in kids):
        failed = [one for one in kids if fails(*one)]
        worst = max(failed, key=lambda one: _rate(one[1]))
        others = [one for one in kids if one is not worst]

        def rank(one: Any, worst: Any = worst) -> Any:
            merged = united([told[worst[0]], told[one[0]]], classes)
            return not passes(*merged[1:]), not fails(*one), sum(told[one[0]][1:])

        other = min(others, key=rank)
        leaf = united([told[worst[0]], told[other[0]]], classes)
        label = worst[0] | other[0]
        told[label] = leaf
        kids = [(label, ("leaf", *leaf)) if one is worst else one for one in kids if one is not other]
    if len(kids) == 1 and kids[0][1][0] == "leaf":
        return kids[0][1]
    return ("split", tree[1], kids)


def _rate(leaf: Tree) -> Fraction:
    return Fraction(leaf[2], leaf[2] + leaf[3]) if leaf[2] + leaf[3] else Fraction(0)


def leaves(tree: Tree | None) -> list[Leaf]:
    if tree is None:
        return []
    return [tree[1:]] if tree[0] == "leaf" else [one for _, kid in tree[2] for one in leaves(kid)]


def entropy(kinds: Sequence[int]) -> float:
    return -sum(kinds.count(k) / len(kinds) * log2(kinds.count(k) / len(kinds)) for k in set(kinds)) if kinds else 0.0


def gain(parts: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Information gain, and the information of the parts."""
    whole = [kind for part in parts for kind in part]
    shares = [len(part) / len(whole) for part in parts if part]
    left = sum(len(part) / len(whole) * entropy(part) for part in parts if part)
    return entropy(whole) - left, -sum(share * log2(share) for share in shares)


def best_threshold(values: Sequence[float], kinds: Sequence[int], least: int) -> tuple[float, float] | None:
    """The gain of the best threshold, and the largest value below it; the first of equal ones."""
    found: list[tuple[float, float]] = []
    for cut in sorted(set(values))[:-1]:
        low = [k for v, k in zip(values, kinds, strict=True) if v <= cut]
        high = [k for v, k in zip(values, kinds, strict=True) if v > cut]
        if min(len(low), len(high)) >= least:
            found.append((gain([low, high])[0], cut))
    return max(found, key=lambda one: (round(one[0], 10), -one[1]), default=None)
