"""The report of a joint result: who took part, what was computed, what each of them learnt, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.run_context import Work
from sfumato.mining.attributes import label_text
from sfumato.mining.document_json import tree_of
from sfumato.mining.rule_document import rules_of
from sfumato.reports.language import count, number, share, translated
from sfumato.reports.pages import page
from sfumato.reports.rules import rules_picture
from sfumato.reports.svg import Picture
from sfumato.reports.trees import tree_picture

MOST_ROWS = 200
"""So many rows of a result are shown; the document has all."""
ABOUT: Mapping[str, str] = {
    "counts": "How many rows all parties have together of every combination of declared values",
    "rules": "The frequent sets and association rules of all parties' transactions",
    "naive-bayes": "How many records of every class all parties have together, by every value of every column",
    "tree": "A decision tree of all parties' records",
    "k-means": "Clusters of all parties' records",
    "vertical-naive-bayes": "How many of the common people are of every class, by every value of every column",
    "graded": "The terms of graded grouping, and a commitment to the secret that the sites hold",
    "vertical-rules": "The frequent sets and association rules of the common people",
}
"""What each protocol computes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointFacts:
    """One joint result, ready to be shown."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    protocol: str
    """What was computed."""
    me: str
    """The party that wrote this copy."""
    parties: Mapping[str, str]
    """Everybody who took part, with the fingerprint of their certificate."""
    parameters: Mapping[str, Any]
    """What was asked for."""
    leakage: Mapping[str, Any]
    """What it tells whom."""
    sent: int
    """Bytes that this party sent."""
    received: int
    """Bytes that this party received."""
    rounds: int
    """How often this party waited for others."""
    run: str
    """The name of this run, the same at every party."""
    terms: str
    """The digest of the terms."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    document: Mapping[str, Any]
    """The result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable:
    """The result as rows."""

    heads: tuple[str, ...]
    """The columns."""
    rows: tuple[tuple[str, ...], ...]
    """What is shown."""
    whole: int
    """How many rows there are."""


def render(facts: JointFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    (work or Work()).advance("report", 0, 1)
    return page(
        "joint.html.j2",
        facts=facts,
        about=ABOUT.get(facts.protocol, facts.protocol),
        result=_table(facts),
        picture=_picture(facts),
        asked=[(key, _said(value)) for key, value in facts.parameters.items()],
    )


def _picture(facts: JointFacts) -> Picture | None:
    if facts.protocol == "tree":
        return tree_picture(tree_of(facts.document))
    if facts.protocol.endswith("rules") and facts.document["rules"]:
        return rules_picture([(rule["support"], rule["confidence"], rule["lift"]) for rule in facts.document["rules"]])
    return None


def _table(facts: JointFacts) -> ResultTable:
    heads, rows = _rows(facts.protocol, facts.document)
    cells = tuple(tuple(_said(cell) for cell in row) for row in rows[:MOST_ROWS])
    return ResultTable(heads=tuple(heads), rows=cells, whole=len(rows))


def _rows(protocol: str, document: Mapping[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """The rows of a result, by its protocol."""
    if protocol == "counts":
        return document["columns"], document["rows"]
    if protocol == "graded":
        return [translated("column"), translated("ranges, or values")], [
            [name, _terms(terms)] for name, terms in document["columns"].items()
        ]
    if protocol == "k-means":
        return document["columns"], document["clusters"]
    if protocol.endswith("naive-bayes"):
        rows = [[document["target"], translated("all"), *document["records"]]]
        rows += [[name, label, *row] for name, table in document["columns"].items() for label, row in table.items()]
        return [translated("column"), translated("value"), *document["classes"]], rows
    if protocol.endswith("rules"):
        sides = ("antecedent", "consequent")
        figures = [
            [*(", ".join(rule[side]) for side in sides), rule["rows"], share(rule["confidence"]), rule["lift"]]
            for rule in document["rules"]
        ]
        return [translated(head) for head in ("if", "then", "rows", "confidence", "lift")], figures
    if protocol == "tree":
        tree = tree_of(document)
        paths = rules_of(tree)
        leaf_texts = [
            ", ".join(label_text(tree.attributes[at], label) for at, label in condition.items())
            for condition in paths.conditions
        ]
        counts = (paths.counts if paths.counts is not None else np.stack([paths.hit, paths.miss], axis=1)).tolist()
        return [translated("leaf"), *tree.classes], [
            [path or translated("all records"), *row] for path, row in zip(leaf_texts, counts, strict=True)
        ]
    return [translated("key"), translated("value")], [[key, value] for key, value in document.items()]


def _terms(terms: Any) -> str:
    """The ranges of a number, or the values of a category."""
    if not isinstance(terms, Mapping):
        return ", ".join(terms)
    return "; ".join(translated("{low} to {high}", low=low, high=high) for low, high in terms["ranges"])


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return translated("yes" if value else "no")
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_said(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    return str(value)
