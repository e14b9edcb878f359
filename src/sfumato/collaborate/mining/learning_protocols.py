"""Sessions that learn a model of all parties' records: a decision tree, or naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.joint_protocols import JointProtocol, JointResult
from sfumato.collaborate.mining import joint_bayes, joint_tree
from sfumato.collaborate.mining.asked_columns import attributes_of, categories, read_domains, refuse_strange
from sfumato.collaborate.summed_cuts import SummedNumbers
from sfumato.data.table import Table
from sfumato.ground.errors import DataError, ParameterError
from sfumato.mine.edge_labels import Attribute
from sfumato.mine.node_rows import cells_of
from sfumato.mine.records import Records, read_like
from sfumato.mine.rule_document import rules_of
from sfumato.mine.tree_json import tree_json
from sfumato.mine.tree_learning import TreeLearner

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
    asked = _read(tree, _TREE)
    given = {key: tree[key] for key in _TREE if key in tree}
    try:
        learner = TreeLearner(**given)
    except (ParameterError, DataError) as error:
        raise ParameterError(f"parameters.{error}") from None
    return Learning(attributes=asked.attributes, target=asked.target, classes=asked.classes, learner=learner)


def read_bayes_asked(tree: Mapping[str, Any], names: Sequence[str]) -> Learning:
    """What the session file asks for: columns and target."""
    return _read(tree, ())


def own_records(asked: Learning, table: Table) -> Records:
    """A party's own records over the declared domains; none at all are allowed, values outside are not."""
    return read_like(table.frame, attributes=asked.attributes, target=asked.target, classes=asked.classes, strict=True)


def _given(asked: Learning, own: Records) -> str:
    return f"counts of {own.count:,} rows, by {asked.target} and {len(asked.attributes)} other columns"


def run_tree(conversation: Conversation, asked: Learning, own: Records) -> JointResult:
    """The tree of all parties' records."""
    if asked.learner is None:
        raise TypeError("a tree needs a learner")
    found = joint_tree.joint_tree(SummedNumbers(conversation), own, asked.learner)
    rules = rules_of(found)
    rows = [[text, *counts] for text, counts in zip(rules.texts(), found.counts[found.leaves].tolist(), strict=True)]  # type: ignore[index]
    return JointResult(document=tree_json(found), columns=("leaf", *found.classes), rows=rows)


def run_bayes(conversation: Conversation, asked: Learning, own: Records) -> JointResult:
    """The counts of naive Bayes over all parties' records."""
    counts = joint_bayes.joint_counts(SummedNumbers(conversation), own)
    document = joint_bayes.bayes_document(asked.attributes, asked.target, asked.classes, counts)
    return JointResult(
        document=document, columns=("column", "value", *asked.classes), rows=joint_bayes.bayes_rows(document)
    )


TREE = JointProtocol(
    name="tree",
    about="A decision tree (C4.5) of all parties' records.",
    least=3,
    read=read_tree_asked,
    leakage=lambda asked, names: joint_tree.LEAKAGE,
    prepare=own_records,
    given=_given,
    run=run_tree,
)
BAYES = JointProtocol(
    name="naive-bayes",
    about="Naive Bayes of all parties' records: how many there are of every class, by every value of every column.",
    least=3,
    read=read_bayes_asked,
    leakage=lambda asked, names: joint_bayes.LEAKAGE,
    prepare=own_records,
    given=_given,
    run=run_bayes,
)
