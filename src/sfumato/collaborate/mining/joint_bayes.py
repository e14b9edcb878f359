"""Naive Bayes of all parties' records: its counts are sums over parties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.collaborate.conversation import WrongNumbers
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives import secure_sum
from sfumato.collaborate.summed_cuts import SummedNumbers
from sfumato.mine.counted_bayes import CountedBayes, Whole, bayes_counts, bayes_labels
from sfumato.mine.edge_labels import Attribute
from sfumato.mine.records import Records

LEAKAGE = Leakage(
    protocol="naive Bayes",
    result=(Told(to="everybody", what="the records of each class, and of each value of each column by class"),),
    withstands=secure_sum.LEAKAGE.withstands,
    limits="small counts, which may be about one person: a joint result is not private by itself",
)


def joint_counts(sums: SummedNumbers, records: Records) -> list[Whole]:
    """The counts of naive Bayes over all parties, in one sum."""
    own = bayes_counts(records)
    whole = sums(np.concatenate([one.reshape(-1) for one in own]))
    ends = np.cumsum([one.size for one in own])[:-1]
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
    for one, table in zip(attributes, counts[1:], strict=True):
        tables[one.name] = dict(zip(bayes_labels(one), table.tolist(), strict=True))
    return {"target": target, "classes": list(classes), "records": counts[0].tolist(), "columns": tables}


def bayes_rows(document: Mapping[str, Any]) -> list[list[Any]]:
    """The same as rows: column, value, and the records of each class."""
    rows = [[document["target"], "", *document["records"]]]
    return [
        *rows,
        *([name, label, *counts] for name, table in document["columns"].items() for label, counts in table.items()),
    ]
