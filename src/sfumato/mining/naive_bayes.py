"""Naive Bayes and one conjunctive rule: global models beside trees, from counts (document 004, section 7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least
from sfumato.core.errors import DataError
from sfumato.core.short_repr import Brief
from sfumato.mining.attributes import Attribute, Label, label_text
from sfumato.mining.prediction import leaves_of
from sfumato.mining.records import Records
from sfumato.mining.rule_document import RuleDocument, rule_of, rules_of
from sfumato.mining.tree_learning import TreeLearner
from sfumato.tables.schema import Categories

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]
BINS = 20
"""Into how many equal parts the domain of a number is cut."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CountedBayes(Brief):
    """Naive Bayes over values of categories and equal parts of ranges, with one record added to every count.

    Source: Domingos and Pazzani 1997, as in document 004, section 7.1.
    """

    attributes: tuple[Attribute, ...]
    """What it reads."""
    prior: Reals
    """The logarithm of every class's share."""
    tables: tuple[Reals, ...]
    """For each attribute, values x classes: the logarithm of the value's share in the class."""

    @classmethod
    def learnt(cls, records: Records) -> CountedBayes:
        """From records with known classes."""
        return cls.of_counts(records.attributes, bayes_counts(records))

    @classmethod
    def of_counts(cls, attributes: tuple[Attribute, ...], counts: Sequence[Whole]) -> CountedBayes:
        """From counts as ``bayes_counts`` makes them; those of several sources may be added up."""
        if not counts[0].sum():
            raise DataError("naive Bayes is learnt from records with a known class, at least one")
        prior, *tables = (table + 1.0 for table in counts)
        return cls(
            attributes=attributes,
            prior=np.log(prior / prior.sum()),
            tables=tuple(np.log(table / table.sum(axis=0)) for table in tables),
        )

    def predicted(self, records: Records) -> Whole:
        """The most likely class of every record; a value that is not known tells nothing."""
        scores = np.repeat(self.prior[None, :], records.count, axis=0)
        for attribute, column, table in zip(self.attributes, records.columns, self.tables, strict=True):
            cells, width = bayes_cells(attribute, column)
            scores += np.where((cells < width)[:, None], table[np.minimum(cells, width - 1)], 0.0)
        return np.asarray(scores.argmax(axis=1))


def bayes_counts(records: Records) -> list[Whole]:
    """Records by class; then for each attribute records by value and class. All that naive Bayes is learnt from."""
    if (records.codes < 0).any():
        raise DataError("naive Bayes is learnt from records with a known class, at least one")
    classes = len(records.classes)
    counts = [np.bincount(records.codes, minlength=classes)]
    for attribute, column in zip(records.attributes, records.columns, strict=True):
        cells, width = bayes_cells(attribute, column)
        counts.append(np.bincount(cells * classes + records.codes, minlength=width * classes).reshape(-1, classes))
    return counts


def bayes_cells(attribute: Attribute, column: NDArray[np.float64]) -> tuple[Whole, int]:
    """The cell of every value, and how many cells there are; an unknown value has the cell after the last."""
    domain = attribute.domain
    if isinstance(domain, Categories):
        width = len(domain.values)
        return np.where(column < 0, width, column).astype(np.int64), width
    known = np.where(np.isnan(column), domain.low, column)
    cells = np.clip(np.floor((known - domain.low) / (domain.high - domain.low) * BINS), 0, BINS - 1)
    return np.where(np.isnan(column), BINS, cells).astype(np.int64), BINS


def bayes_labels(attribute: Attribute) -> tuple[str, ...]:
    """What the cells of an attribute are called: its values, or the parts of its range."""
    domain = attribute.domain
    if isinstance(domain, Categories):
        return domain.values
    edges = [float(domain.low + (domain.high - domain.low) * place / BINS) for place in range(BINS + 1)]
    return tuple(label_text(attribute, (span,)).removeprefix(f"{attribute.name} in ") for span in pairwise(edges))


def conjunctive_rule(records: Records, *, conditions: int = 4) -> RuleDocument:
    """One rule and a default: the condition with the highest gain is added as long as one gains, up to some.

    Of the two sides of a condition the one is followed in which the class is surer.
    Source: document 004, section 7.1 (conjunctive rules).
    """
    at_least("conditions", conditions, 1)
    learner = TreeLearner(criterion="gain", categories="one", max_depth=1, confidence=None)
    covered, held = np.arange(records.count), dict[int, Label]()
    for _ in range(conditions):
        tree = learner(records.take(covered))
        if tree.nodes == 1:
            break
        side = int(np.argmax(tree.hit / np.maximum(tree.hit + tree.miss, 1)))
        (condition,) = rules_of(tree).conditions[int(np.searchsorted(tree.leaves, side))].items()
        held[condition[0]] = _narrowed(records.attributes[condition[0]], held.get(condition[0]), condition[1])
        covered = covered[leaves_of(tree, records.take(covered)) == side]
    return _with_default(records, held)


def _narrowed(attribute: Attribute, held: Label | None, label: Label) -> Label:
    """What is left of an attribute when one more condition is asked of it."""
    if held is None or isinstance(attribute.domain, Categories):
        return label if held is None else tuple(code for code in held if code in set(label))  # type: ignore[return-value]
    low, high = held[0]  # type: ignore[misc]
    start, end = label[0]  # type: ignore[misc]
    return ((max(low, start), min(high, end)),)


def _with_default(records: Records, held: dict[int, Label]) -> RuleDocument:
    """The rule, and one that always holds for the rest."""
    rules = [held, {}] if held else [{}]
    classes = len(records.classes)
    shape = RuleDocument(
        attributes=records.attributes,
        target=records.target,
        classes=records.classes,
        conditions=tuple(rules),
        says=np.zeros(len(rules), np.int64),
        hit=np.zeros(len(rules), np.int64),
        miss=np.zeros(len(rules), np.int64),
    )
    which = rule_of(shape, records)
    counts = np.bincount(which * classes + records.codes, minlength=len(rules) * classes).reshape(-1, classes)
    hit = counts.max(axis=1)
    return RuleDocument(
        attributes=records.attributes,
        target=records.target,
        classes=records.classes,
        conditions=tuple(rules),
        says=counts.argmax(axis=1),
        hit=hit,
        miss=counts.sum(axis=1) - hit,
        counts=counts,
    )


def said_by_rules(rules: RuleDocument, records: Records) -> Whole:
    """The class of every record by the first rule that holds; -1 where none does."""
    which = rule_of(rules, records)
    return np.where(which < 0, -1, rules.says[which])
