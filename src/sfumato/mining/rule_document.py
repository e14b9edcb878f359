"""Classification rules as a document: conditions on attributes, a class, and how many records it holds for.

The paths of a tree are rules that are apart and cover everything; other rules may overlap. Pseudo-data is drawn from
rules, and a tree is one way to give them (document 004, definition 7 and section 5).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError
from sfumato.core.input_files import MOST_CELLS
from sfumato.core.short_repr import Brief
from sfumato.mining.attributes import Attribute, Label, label_text, meeting
from sfumato.mining.document_json import (
    SCHEMA,
    attributes_of,
    figures_of,
    head_json,
    keyed,
    label_json,
    label_of,
    many,
    opened,
    parsed,
    places_of,
    target_of,
)
from sfumato.mining.leaf_privacy import Leaves
from sfumato.mining.records import Records
from sfumato.mining.tree_document import (
    MOST_TREE_NODES,
    TreeDocument,
    Whole,
    refuse_bad_counts,
    refuse_bad_head,
    refuse_bad_label,
    refuse_other_counts,
)
from sfumato.tables.schema import Numbers

KIND = "sfumato-rules"
_MOST_PAIRS = 2_000_000
"""So many pairs of rules are compared at most."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RuleDocument(Brief):
    """Rules in order; the first whose conditions hold decides."""

    attributes: tuple[Attribute, ...]
    """What conditions ask for, with domains."""
    target: str
    """The name of the class column."""
    classes: tuple[str, ...]
    """The classes."""
    conditions: tuple[Mapping[int, Label], ...]
    """For each rule, what it allows of some attributes, by place."""
    says: Whole
    """For each rule the class that it names."""
    hit: Whole
    """Records of that class among those for which the conditions hold."""
    miss: Whole
    """Records of other classes among them."""
    counts: Whole | None = None
    """Rules x classes, where they are known."""

    def __post_init__(self) -> None:
        """Refuse bad labels and counts."""
        refuse_bad_head(self.attributes, self.target, self.classes)
        if len(self.conditions) > MOST_TREE_NODES or len(self.conditions) * len(self.classes) > MOST_CELLS:
            raise DataError(f"the document has {len(self.conditions):,} rules; at most {MOST_TREE_NODES:,} are read")
        names = [f"rule {rule}" for rule in range(self.many)]
        refuse_bad_counts(self.says, self.hit, self.miss, len(self.classes), names)
        if self.counts is not None:
            refuse_other_counts(self.says, self.hit, self.miss, self.counts, np.arange(len(self.says)))
        for rule, conditions in enumerate(self.conditions):
            for place, label in conditions.items():
                refuse_bad_label(self.attributes[place], label, f"rule {rule}")

    @property
    def many(self) -> int:
        """How many rules there are."""
        return len(self.conditions)

    def leaf_figures(self) -> Leaves:
        """Hits, misses and counts, for a requirement; rules that overlap are refused.

        Two rules that share records tell the difference of their counts too, so judging each alone would say too much.
        """
        pair = overlapping(self)
        if pair is not None:
            raise DataError(f"rules {pair[0]} and {pair[1]} overlap; their counts together tell more than each alone")
        return Leaves(hit=self.hit, miss=self.miss, counts=self.counts)

    def texts(self) -> tuple[str, ...]:
        """Every rule as people read it."""
        texts = []
        for conditions, says, hit, miss in zip(self.conditions, self.says, self.hit, self.miss, strict=True):
            condition_text = " and ".join(
                label_text(self.attributes[place], label) for place, label in sorted(conditions.items())
            )
            texts.append(f"{condition_text or 'always'}: {self.target} = {self.classes[says]} ({hit} of {hit + miss})")
        return tuple(texts)


def last_asked(tree: TreeDocument) -> list[dict[int, int]]:
    """For each leaf, in order, the attributes on its path, each with the last node whose label is about it."""
    held: list[dict[int, int]] = []
    for node, above in enumerate(tree.parent.tolist()):
        held.append({} if above < 0 else {**held[above], int(tree.split[above]): node})
    return [held[leaf] for leaf in tree.leaves.tolist()]


def rules_of(tree: TreeDocument) -> RuleDocument:
    """The paths of a tree, leaf by leaf: for each attribute the most specific label on the path (definition 7)."""
    some = tree.leaves
    return RuleDocument(
        attributes=tree.attributes,
        target=tree.target,
        classes=tree.classes,
        conditions=tuple({place: tree.labels[node] for place, node in path.items()} for path in last_asked(tree)),
        says=tree.says[some],
        hit=tree.hit[some],
        miss=tree.miss[some],
        counts=None if tree.counts is None else tree.counts[some],
    )


def overlapping(rules: RuleDocument) -> tuple[int, int] | None:
    """Two rules that one record can follow both, or None."""
    if rules.many * (rules.many - 1) // 2 > _MOST_PAIRS:
        raise DataError(f"{rules.many:,} rules are too many to compare each with each; publish a tree instead")
    for rule in range(rules.many):
        for two in range(rule):
            mine, theirs = rules.conditions[rule], rules.conditions[two]
            if all(meeting(mine[place], theirs[place]) for place in mine.keys() & theirs.keys()):
                return two, rule
    return None


def rule_of(rules: RuleDocument, records: Records) -> Whole:
    """The first rule that holds for each record; -1 where none does."""
    rule_numbers = np.full(records.count, -1, np.int64)
    names = [attribute.name for attribute in records.attributes]
    columns = [records.columns[names.index(attribute.name)] for attribute in rules.attributes]
    for rule, conditions in enumerate(rules.conditions):
        left = np.flatnonzero(rule_numbers < 0)
        for place, label in conditions.items():
            left = left[_holds(rules.attributes[place], label, columns[place][left])]
        rule_numbers[left] = rule
    return rule_numbers


def _holds(attribute: Attribute, label: Label, values: NDArray[Any]) -> NDArray[np.bool_]:
    if not isinstance(attribute.domain, Numbers):
        return np.isin(values, label)
    held = np.zeros(len(values), np.bool_)
    for low, high in label:  # type: ignore[misc]
        closed = high >= attribute.domain.high
        held |= (values >= low) & ((values <= high) if closed else (values < high))
    return held


def write_rules(rules: RuleDocument) -> str:
    """The document of rules as a text."""
    entries = []
    for rule, conditions in enumerate(rules.conditions):
        entry: dict[str, Any] = {
            "if": {
                rules.attributes[place].name: label_json(rules.attributes[place], label)
                for place, label in sorted(conditions.items())
            },
            "class": rules.classes[int(rules.says[rule])],
        }
        if rules.counts is None:
            entry |= {"hit": int(rules.hit[rule]), "miss": int(rules.miss[rule])}
        else:
            entry["counts"] = rules.counts[rule].tolist()
        entries.append(entry)
    whole = {
        "document": KIND,
        "schema": SCHEMA,
        **head_json(rules.attributes, rules.target, rules.classes),
        "rules": entries,
    }
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def read_rules(text: str) -> RuleDocument:
    """The rules in a text from anybody, or a refusal that says where they are none."""
    part = keyed(
        opened(parsed(text, KIND), KIND), "the document", ("document", "schema", "target", "attributes", "rules")
    )
    attributes, (target, classes) = attributes_of(part["attributes"]), target_of(part["target"])
    refuse_bad_head(attributes, target, classes)
    named = {attribute.name: place for place, attribute in enumerate(attributes)}
    values, places = places_of(attributes), {name: code for code, name in enumerate(classes)}
    conditions, figures = [], []
    for rule, entry in enumerate(many(part["rules"], "rules")):
        where = f"rule {rule}"
        keyed(entry, where, ("if", "class"), ("hit", "miss", "counts"))
        antecedent = keyed(entry["if"], f"{where}, if", (), tuple(named))
        conditions.append(
            {
                named[n]: label_of(attributes[named[n]], values[named[n]], label, where)
                for n, label in antecedent.items()
            }
        )
        figures.append(figures_of(entry, classes, places, where))
    counted = [figure[3] for figure in figures if figure[3] is not None]
    if counted and len(counted) < len(figures):
        raise DataError("some rules have counts and some hit and miss; all must tell the same")
    return RuleDocument(
        attributes=attributes,
        target=target,
        classes=classes,
        conditions=tuple(conditions),
        says=np.array([figure[0] for figure in figures], np.int64),
        hit=np.array([figure[1] for figure in figures], np.int64),
        miss=np.array([figure[2] for figure in figures], np.int64),
        counts=np.array(counted, np.int64) if counted else None,
    )
