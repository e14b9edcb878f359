"""Naive Bayes and decision trees from the records of all parties, and their session protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.errors import DataError, ParameterError
from sfumato.mining.attributes import Attribute
from sfumato.mining.document_json import tree_json
from sfumato.mining.naive_bayes import CountedBayes, Whole, bayes_counts, bayes_labels
from sfumato.mining.node_rows import CountedRows, cells_of, record_cuts
from sfumato.mining.records import Records, read_like
from sfumato.mining.rule_document import rules_of
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_learning import TreeLearner
from sfumato.parties import secure_sum
from sfumato.parties.conversation import Conversation, Leakage, Told, WrongNumbers
from sfumato.parties.protocols import (
    JointProtocol,
    JointResult,
    attributes_of,
    categories,
    read_domains,
    refuse_strange,
)
from sfumato.parties.summed_counts import SummedNumbers, SummedSource, refuse_outside
from sfumato.tables.table import Table

# Naive Bayes of all parties' records: its counts are sums over parties.


BAYES_LEAKAGE = Leakage(
    protocol="naive Bayes",
    result=(Told(to="everybody", what="the records of each class, and of each value of each column by class"),),
    withstands=secure_sum.LEAKAGE.withstands,
    limits="small counts, which may be about one person: a joint result is not private by itself",
)


def joint_counts(sums: SummedNumbers, records: Records) -> list[Whole]:
    """The counts of naive Bayes over all parties, in one sum."""
    own = bayes_counts(records)
    whole = sums(np.concatenate([table.reshape(-1) for table in own]))
    ends = np.cumsum([table.size for table in own])[:-1]
    counts = [part.reshape(table.shape) for part, table in zip(np.split(whole, ends), own, strict=True)]
    refuse_unequal(counts)
    return counts


def refuse_unequal(counts: Sequence[Whole]) -> None:
    """Refuse columns whose values do not have as many records of each class as there are."""
    for table in counts[1:]:
        if (table < 0).any() or table.sum(axis=0).tolist() != counts[0].tolist():
            raise WrongNumbers("the counts of a column's values are not the counts of the classes")


def joint_bayes(sums: SummedNumbers, records: Records) -> CountedBayes:
    """The model of all parties' records.

    Claim: equal to the model of the union of all records, and the same at every party.
    """
    return CountedBayes.of_counts(records.attributes, joint_counts(sums, records))


def bayes_document(
    attributes: Sequence[Attribute], target: str, classes: Sequence[str], counts: Sequence[Whole]
) -> dict[str, Any]:
    """The counts of a model as JSON has them: by class, and by value and class of every column."""
    tables = {}
    for attribute, table in zip(attributes, counts[1:], strict=True):
        tables[attribute.name] = dict(zip(bayes_labels(attribute), table.tolist(), strict=True))
    return {"target": target, "classes": list(classes), "records": counts[0].tolist(), "columns": tables}


def bayes_rows(document: Mapping[str, Any]) -> list[list[Any]]:
    """The same as rows: column, value, and the records of each class."""
    rows = [[document["target"], "", *document["records"]]]
    return [
        *rows,
        *([name, label, *counts] for name, table in document["columns"].items() for label, counts in table.items()),
    ]


# One decision tree of all parties' records: C4.5 asks for counts, and the parties add theirs up.


TREE_LEAKAGE = Leakage(
    protocol="decision tree",
    result=(Told(to="everybody", what="the tree with the class counts of its leaves"),),
    beyond=(
        Told(to="everybody", what="for every node that was open, the class counts of every value of every column"),
        Told(to="everybody", what="the nodes that were grown and pruned again, with their counts"),
    ),
    withstands=secure_sum.LEAKAGE.withstands,
    limits="small counts in the tree or on the way to it, which may be about one person: a joint result is not private "
    "by itself",
)


def joint_tree(sums: SummedNumbers, records: Records, learner: TreeLearner) -> TreeDocument:
    """The tree that the learner would learn from all parties' records in one table; numbers by their declared grid.

    Claim: equal to the tree of the union of all records, and the same at every party.
    """
    source = SummedSource(sums, record_cuts(records))
    limit = sums.conversation.seat.count * sums.conversation.max_records
    return learner.over(
        _Bounded(source, limit, attributes=records.attributes, target=records.target, classes=records.classes)
    )


class _Bounded(CountedRows):
    """Rows of which there are no more than all parties may have: each takes memory."""

    def __init__(self, source: SummedSource, limit: int, **columns: Any) -> None:
        super().__init__(source, **columns)
        self._limit = limit

    def total(self) -> Whole:
        """The classes of all records."""
        counts = super().total()
        refuse_outside(counts.sum(keepdims=True), 0, self._limit)
        return counts


# Sessions that learn a model of all parties' records: a decision tree, or naive Bayes.


_TREE = ("criterion", "categories", "min_leaf", "max_depth", "confidence")
_MOST_CELLS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """What is learnt from which columns."""

    attributes: tuple[Attribute, ...]
    """The columns with their declared domains."""
    target: str
    """The class column."""
    classes: tuple[str, ...]
    """The declared classes."""
    learner: TreeLearner | None = None
    """How a tree is grown."""


def _read(tree: Mapping[str, Any], known: Sequence[str]) -> Learning:
    refuse_strange(tree, ("columns", "target", *known))
    domains = read_domains(tree)
    target = tree.get("target")
    if not isinstance(target, str):
        raise ParameterError(f"parameters.target must name the class column, not {target!r}")
    classes = categories(domains, target, "parameters.target").values
    attributes = attributes_of(domains, target)
    if not attributes:
        raise ParameterError("parameters.columns must name at least one column beside the target")
    wide = max(attributes, key=cells_of)
    if cells_of(wide) > _MOST_CELLS:
        raise ParameterError(f"parameters.columns.{wide.name} has {cells_of(wide):,} cells; a wider grid would do")
    return Learning(attributes=attributes, target=target, classes=classes)


def read_tree_asked(tree: Mapping[str, Any], names: Sequence[str]) -> Learning:
    """What the session file asks for: columns, target, and options of the learner."""
    request = _read(tree, _TREE)
    given = {key: tree[key] for key in _TREE if key in tree}
    try:
        learner = TreeLearner(**given)
    except (ParameterError, DataError) as error:
        raise ParameterError(f"parameters.{error}") from None
    return Learning(attributes=request.attributes, target=request.target, classes=request.classes, learner=learner)


def read_bayes_asked(tree: Mapping[str, Any], names: Sequence[str]) -> Learning:
    """What the session file asks for: columns and target."""
    return _read(tree, ())


def own_records(request: Learning, table: Table) -> Records:
    """A party's own records over the declared domains; none at all are allowed, values outside are not."""
    return read_like(
        table.frame, attributes=request.attributes, target=request.target, classes=request.classes, strict=True
    )


def _given(request: Learning, own: Records) -> str:
    return f"counts of {own.count:,} rows, by {request.target} and {len(request.attributes)} other columns"


def run_tree(conversation: Conversation, request: Learning, own: Records) -> JointResult:
    """The tree of all parties' records."""
    if request.learner is None:
        raise TypeError("a tree needs a learner")
    tree = joint_tree(SummedNumbers(conversation), own, request.learner)
    rules = rules_of(tree)
    rows = [[text, *counts] for text, counts in zip(rules.texts(), tree.counts[tree.leaves].tolist(), strict=True)]  # type: ignore[index]
    return JointResult(document=tree_json(tree), columns=("leaf", *tree.classes), rows=rows)


def run_bayes(conversation: Conversation, request: Learning, own: Records) -> JointResult:
    """The counts of naive Bayes over all parties' records."""
    counts = joint_counts(SummedNumbers(conversation), own)
    document = bayes_document(request.attributes, request.target, request.classes, counts)
    return JointResult(document=document, columns=("column", "value", *request.classes), rows=bayes_rows(document))


TREE = JointProtocol(
    name="tree",
    about="A decision tree (C4.5) of all parties' records.",
    least=3,
    read=read_tree_asked,
    leakage=lambda request, names: TREE_LEAKAGE,
    prepare=own_records,
    given=_given,
    run=run_tree,
)
BAYES = JointProtocol(
    name="naive-bayes",
    about="Naive Bayes of all parties' records: how many there are of every class, by every value of every column.",
    least=3,
    read=read_bayes_asked,
    leakage=lambda request, names: BAYES_LEAKAGE,
    prepare=own_records,
    given=_given,
    run=run_bayes,
)
