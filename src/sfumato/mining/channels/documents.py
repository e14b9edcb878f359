"""Inference channels in published trees and rules, also across documents about the same people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.errors import DataError
from sfumato.mining.attributes import Attribute, Label, grid_points, label_text, meeting
from sfumato.mining.channels.detection import CountSystem
from sfumato.mining.rule_document import RuleDocument, overlapping, rules_of
from sfumato.mining.tree_document import TreeDocument
from sfumato.tables.schema import Numbers

# Boxes of attributes, cut by the labels of trees and rules: what lies in several at once, and what is left.


Box = Mapping[str, Label]
"""What is left of some attributes, by name; of all others everything is."""
Known = Mapping[str, Attribute]
"""Attributes by name."""


def label_rest(label: Label, other: Label) -> Label:
    """What a label of one attribute has and another has not.

    >>> label_rest(((0.0, 5.0),), ((1.0, 2.0), (4.0, 9.0))), label_rest((0, 2), (2, 3))
    (((0.0, 1.0), (2.0, 4.0)), (0,))
    """
    left: list[Any] = list(label)
    if not left or isinstance(left[0], int):
        gone = set(other)
        return tuple(code for code in left if code not in gone)
    for low, high in other:  # type: ignore[misc]
        left = [part for a, b in left for part in ((a, min(b, low)), (max(a, high), b)) if part[0] < part[1]]
    return tuple(left)


def _some(attribute: Attribute, label: Label) -> bool:
    """Whether a value can lie in a label; between two marks of a declared grid none does."""
    domain = attribute.domain
    if not isinstance(domain, Numbers) or domain.grid is None:
        return bool(label)
    return any(grid_points(domain, low, high)[1] for low, high in label)  # type: ignore[misc]


def box_meeting(box: Box, other: Box, known: Known) -> Box | None:
    """What lies in both boxes; None where nothing can."""
    overlap = dict(box)
    for name, label in other.items():
        overlap[name] = meeting(box[name], label) if name in box else label
        if not _some(known[name], overlap[name]):
            return None
    return overlap


def box_rest(box: Box, other: Box, known: Known) -> list[Box]:
    """What lies in one box and not in another, as boxes apart from each other."""
    if box_meeting(box, other, known) is None:
        return [box]
    boxes: list[Box] = []
    left = dict(box)
    for name, label in other.items():
        held = left.get(name, known[name].whole)
        rest = label_rest(held, label)
        if _some(known[name], rest):
            boxes.append({**left, name: rest})
        left[name] = meeting(held, label)
    return boxes


def all_met(boxes: Iterable[Box], other: Box, known: Known) -> list[Box]:
    """What lies in some boxes and in another."""
    return [overlap for box in boxes if (overlap := box_meeting(box, other, known)) is not None]


# Groups of few people whose number follows from published trees and rules, also from several about the same people.
#
# Paths and rules divide all that attributes can be into parts; every told count is a sum over some parts and classes.
# The number of a group, such as a node of one tree and of another at once, follows if it is the same in all tables of
# counts that agree (``pinned_counts``).


MOST_PARTS = 4_000
"""Documents that divide people, by attributes and class, into more parts are not decided together."""
MOST_PAIRS = 400_000
"""So many pairs of boxes are compared, and so many groups looked at."""
Document = TreeDocument | RuleDocument
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldGroup:
    """A group of few people whose number follows from documents."""

    group: str
    """Who they are."""
    people: int
    """How many they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """People whom no document tells apart by their attributes."""

    inside: frozenset[tuple[int, int]]
    """The rules, as document and place, that they follow."""
    boxes: tuple[Box, ...]
    """Where their attributes lie."""


def told_groups(documents: Sequence[Document], k: int, *, classes: bool = False) -> list[ToldGroup]:
    """Every group of 1 to ``k`` - 1 people whose number follows from all documents together.

    A group is a node of a tree, or a rule, or what is in two of them at once, or in a rule and not in another, or a
    part that no document divides; with ``classes`` also those of them that have one class.

    Claim: exact for these groups; documents that divide people into too many parts are refused.
    """
    at_least("k", k, 1)
    nonempty = [document for document in documents if not (isinstance(document, TreeDocument) and document.empty)]
    rules = [rules_of(document) if isinstance(document, TreeDocument) else document for document in nonempty]
    if not rules:
        return []
    if len(rules) == 1 and (isinstance(nonempty[0], TreeDocument) or overlapping(rules[0]) is None):
        return list(_direct(rules[0], k, classes=classes))
    known = _known(rules)
    parts = _parts(nonempty, rules, known)
    alike = len({(document.target, document.classes) for document in rules}) == 1
    many = len(rules[0].classes) if alike else 1
    if len(parts) * many > MOST_PARTS:
        raise DataError(
            f"the documents divide people into {len(parts) * many:,} parts; at most {MOST_PARTS:,} are decided together"
        )
    counts, totals = _equations(rules, parts, alike=alike)
    names, lines = _groups(nonempty, rules, parts)
    whole = np.repeat(lines, many, axis=1)
    if classes and alike:
        names = [
            *names,
            *(f"{name}, {rules[0].target} = {class_name}" for class_name in rules[0].classes for name in names),
        ]
        of_class = [whole & np.tile(np.arange(many) == place, len(parts)) for place in range(many)]
        whole = np.concatenate([whole, *of_class])
    pins = CountSystem(counts, np.array(totals)).pinned(whole, k)
    return [ToldGroup(group=names[pin.group], people=pin.people) for pin in pins]


def _direct(rules: RuleDocument, k: int, *, classes: bool) -> Iterator[ToldGroup]:
    """Rules that are apart: each tells its own number, and larger groups are larger."""
    for rule, conditions in enumerate(rules.conditions):
        name = _text(rules, conditions)
        numbers = [(name, int(rules.hit[rule] + rules.miss[rule]))]
        if classes and rules.counts is not None:
            class_counts = zip(rules.classes, rules.counts[rule].tolist(), strict=True)
            numbers += [(f"{name}, {rules.target} = {class_name}", many) for class_name, many in class_counts]
        elif classes:
            says = rules.classes[int(rules.says[rule])]
            numbers.append((f"{name}, {rules.target} = {says}", int(rules.hit[rule])))
            numbers.append((f"{name}, another {rules.target} than {says}", int(rules.miss[rule])))
        yield from (ToldGroup(group=group, people=many) for group, many in numbers if 0 < many < k)


def _text(rules: RuleDocument, conditions: Mapping[int, Label]) -> str:
    terms = sorted(conditions.items())
    return " and ".join(label_text(rules.attributes[place], label) for place, label in terms) or "everybody"


def _known(documents: Sequence[RuleDocument]) -> Known:
    attributes: dict[str, Attribute] = {}
    for document in documents:
        for attribute in document.attributes:
            if attributes.setdefault(attribute.name, attribute).domain != attribute.domain:
                raise DataError(f"the documents give {attribute.name!r} different domains; they cannot be put together")
    return attributes


def _box(rules: RuleDocument, rule: int) -> Box:
    return {rules.attributes[place].name: label for place, label in rules.conditions[rule].items()}


def _parts(originals: Sequence[Document], documents: Sequence[RuleDocument], known: Known) -> list[_Part]:
    """All parts of the attributes that are not empty, one document after the other."""
    parts = [_Part(inside=frozenset(), boxes=({},))]
    for number, (tree, rules) in enumerate(zip(originals, documents, strict=True)):
        if len(parts) * rules.many > MOST_PAIRS:
            raise DataError(f"the documents have more than {MOST_PAIRS:,} pairs of parts; they are too many together")
        if isinstance(tree, TreeDocument):
            parts = [
                _Part(inside=part.inside | {(number, rule)}, boxes=tuple(met))
                for part in parts
                for rule in range(rules.many)
                if (met := all_met(part.boxes, _box(rules, rule), known))
            ]
            continue
        for rule in range(rules.many):
            parts = list(_split(parts, (number, rule), _box(rules, rule), known))
            if len(parts) > MOST_PARTS:
                raise DataError(f"the rules divide people into more than {MOST_PARTS:,} parts; that is not decided")
    return parts


def _split(parts: Sequence[_Part], where: tuple[int, int], box: Box, known: Known) -> Iterator[_Part]:
    """Every part, inside a rule and outside of it."""
    for part in parts:
        if met := all_met(part.boxes, box, known):
            yield _Part(inside=part.inside | {where}, boxes=tuple(met))
        if rest := [left for part_box in part.boxes for left in box_rest(part_box, box, known)]:
            yield _Part(inside=part.inside, boxes=tuple(rest))


def _equations(
    documents: Sequence[RuleDocument], parts: Sequence[_Part], *, alike: bool
) -> tuple[NDArray[np.float64], list[int]]:
    """What every rule tells: sums over parts, and over classes where all documents have the same."""
    many = len(documents[0].classes) if alike else 1
    lines: list[NDArray[np.float64]] = []
    totals: list[int] = []
    for number, rules in enumerate(documents):
        for rule in range(rules.many):
            inside = np.array([(number, rule) in part.inside for part in parts], float)
            for chosen, total in _told(rules, rule, alike=alike):
                lines.append(np.kron(inside, np.isin(np.arange(many), chosen).astype(float)))
                totals.append(total)
    return np.array(lines), totals


def _told(rules: RuleDocument, rule: int, *, alike: bool) -> Iterator[tuple[list[int], int]]:
    """Classes, and how many records of a rule have one of them."""
    hit, miss, says = int(rules.hit[rule]), int(rules.miss[rule]), int(rules.says[rule])
    if not alike:
        yield [0], hit + miss
    elif rules.counts is not None:
        yield from (([place], many) for place, many in enumerate(rules.counts[rule].tolist()))
    else:
        yield [says], hit
        yield [place for place in range(len(rules.classes)) if place != says], miss


def _nodes(tree: Document, rules: RuleDocument, number: int) -> Iterator[tuple[str, frozenset[tuple[int, int]], bool]]:
    """The groups of one document: a name, the rules in one of which a member is, and whether that is so or not."""
    if not isinstance(tree, TreeDocument):
        for rule, conditions in enumerate(rules.conditions):
            yield _text(rules, conditions), frozenset([(number, rule)]), True
            yield f"not ({_text(rules, conditions)})", frozenset([(number, rule)]), False
        return
    place = {int(leaf): at for at, leaf in enumerate(tree.leaves)}
    below: list[set[int]] = [{place[node]} if node in place else set() for node in range(tree.nodes)]
    held: list[dict[int, Label]] = []
    for node, above in enumerate(tree.parent.tolist()):
        held.append({} if above < 0 else {**held[above], int(tree.split[above]): tree.labels[node]})
    for node in range(tree.nodes - 1, 0, -1):
        below[int(tree.parent[node])] |= below[node]
    for node in range(tree.nodes):
        yield _text(rules, held[node]), frozenset((number, leaf) for leaf in below[node]), True


def _groups(
    originals: Sequence[Document], documents: Sequence[RuleDocument], parts: Sequence[_Part]
) -> tuple[list[str], Mask]:
    """All groups that are looked at, each once, as lines over parts."""
    single: list[tuple[int, str, Mask]] = []
    for number, (tree, rules) in enumerate(zip(originals, documents, strict=True)):
        for name, leaves, is_inside in _nodes(tree, rules, number):
            single.append((number, name, np.array([bool(part.inside & leaves) == is_inside for part in parts])))
    if len(single) ** 2 // 2 > MOST_PAIRS:
        raise DataError(f"{len(single):,} nodes and rules are too many to be looked at together, two by two")
    groups: dict[bytes, str] = {}
    for _, name, line in single:
        groups.setdefault(line.tobytes(), name)
    for (first, name, line), (two, other, second) in combinations(single, 2):
        if first != two or not isinstance(originals[first], TreeDocument):
            groups.setdefault((line & second).tobytes(), f"{name}; {other}")
    for place in range(len(parts)):
        alone = np.arange(len(parts)) == place
        names = [_text(documents[n], documents[n].conditions[rule]) for n, rule in sorted(parts[place].inside)]
        groups.setdefault(alone.tobytes(), "; ".join(names) or "everybody else")
    lines = np.array([np.frombuffer(key, bool) for key in groups])
    return list(groups.values()), lines
