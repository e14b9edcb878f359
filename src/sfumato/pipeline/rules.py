"""Association rules: mined from a table, and published without inference channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from sfumato.bundles.verify import untouched
from sfumato.core.arguments import one_of
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.input_files import read_text
from sfumato.core.run_context import Work
from sfumato.core.strict_parsing import read_json
from sfumato.counts.frequent_itemsets import frequent_itemsets, least_rows
from sfumato.mining import document_json, rule_document
from sfumato.mining.association_rules import SEPARATOR, Rules, association_rules, transactions_of
from sfumato.mining.channels import published_sets
from sfumato.mining.channels.detection import REACHES, find_channels, group_text
from sfumato.mining.channels.documents import Document, ToldGroup, told_groups
from sfumato.mining.channels.published_sets import PatternDocument, of_frequent
from sfumato.mining.channels.repair import Repaired, raise_supports, withhold
from sfumato.pipeline.inputs import read_file
from sfumato.pipeline.shared_models import models_in
from sfumato.tables.files import line_sets
from sfumato.tables.frames import from_frame
from sfumato.tables.table import Table

# ``sfumato rules``: frequent sets and association rules of a table's sets and ordinary columns.


MOST_ITEMS = 8
"""Sets with more items than this are looked for only where it is asked."""


def rules(
    data: object,
    *,
    sets: Sequence[str] = (),
    columns: Sequence[str] = (),
    min_support: float = 0.01,
    min_confidence: float = 0.5,
    longest: int = MOST_ITEMS,
    separator: str = "|",
    lines: bool = False,
    reading: Mapping[str, Any] | None = None,
    work: Work | None = None,
) -> Rules:
    """The frequent sets and association rules of a file or frame.

    ``sets`` are columns whose cells are sets, split by ``separator``; ``columns`` are ordinary ones, whose cells become
    the items ``column=value``. Where neither is named, lists are sets and every other column is ordinary. With
    ``lines`` the file has one set a line and no header. Missing cells are no items.
    """
    table = _table(data, lines=lines, separator=separator, reading=reading or {})
    transactions = transactions_of(table, sets=sets, columns=columns, separator="|" if lines else separator)
    itemsets = frequent_itemsets(transactions, least_rows(min_support, transactions.rows), longest=longest, work=work)
    return association_rules(itemsets, min_confidence, work=work)


def _table(data: object, *, lines: bool, separator: str, reading: Mapping[str, Any]) -> Table:
    if not isinstance(data, str | Path):
        return from_frame(data, missing=tuple(reading.get("missing", ())))
    return line_sets(data, separator) if lines else read_file(data, **reading)


def as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Rules as a flat table: the items of a side in one text."""
    return frame.with_columns(pl.col("antecedent", "consequent").list.join(SEPARATOR))


# Publishing patterns without inference channels, and finding channels in published documents.


Repair = Literal["withhold", "raise"]
"""How channels are broken: sets are withheld, or supports are raised by records that nobody is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What published documents tell about groups of few people."""

    k: int
    """Groups of 1 to k - 1 people were looked for."""
    documents: int
    """How many documents were looked at together."""
    many: int
    """How many groups follow."""
    groups: tuple[ToldGroup, ...]
    """Those that the others follow with, the smallest first."""
    reach: str
    """What was looked at, in words."""


def publishable(rule_set: Rules, k: int, *, repair: str = "withhold", work: Work | None = None) -> Repaired:
    """The frequent sets of some rules, without a group of 1 to ``k`` - 1 people whose number follows."""
    one_of("repair", repair, get_args(Repair))
    frequent_sets = of_frequent(rule_set.itemsets)
    return (
        withhold(frequent_sets, k, work=work) if repair == "withhold" else raise_supports(frequent_sets, k, work=work)
    )


def published_rules(repaired: Repaired, min_confidence: float) -> Rules:
    """The rules of which both sides and the whole are told."""
    return association_rules(repaired.told.family, min_confidence)


def channels(places: Sequence[str | Path], k: int | None = None, *, classes: bool = False) -> Looked:
    """Groups of 1 to ``k`` - 1 people that follow from documents of patterns, or of trees and rules, all together.

    Without ``k`` it is what documents of patterns claim; ``classes`` also looks for people of one class in trees.
    """
    if not places:
        raise ParameterError("no document was named; name files that were published")
    documents = [document for place in places for document in _read(Path(place))]
    patterns = [document for document in documents if isinstance(document, PatternDocument)]
    others = [document for document in documents if not isinstance(document, PatternDocument)]
    if patterns and others:
        raise DataError(
            "patterns and trees were named; what both tell together is not decided: look at each kind alone"
        )
    if k is None:
        if not patterns:
            raise ParameterError("k is missing; trees and rules do not claim one: say from how many people on (--k)")
        k = max(document.k for document in patterns)
    if others:
        groups = told_groups(others, k, classes=classes)
        reach = "every node and rule was decided, and what two of them have in common"
        return Looked(k=k, documents=len(others), many=len(groups), groups=_ordered(groups), reach=reach)
    told_sets = published_sets.joined(patterns)
    seen = find_channels(told_sets, k)
    groups = [
        ToldGroup(group=group_text(told_sets, listed_channel.channel), people=listed_channel.channel.people)
        for listed_channel in seen.listed
    ]
    return Looked(k=k, documents=len(patterns), many=seen.many, groups=_ordered(groups), reach=REACHES[seen.reach])


def _ordered(groups: Sequence[ToldGroup]) -> tuple[ToldGroup, ...]:
    return tuple(sorted(groups, key=lambda group: (group.people, group.group)))


def _read(place: Path) -> Sequence[PatternDocument | Document]:
    """The documents in a file, or in a bundle of trees."""
    if place.is_dir():
        return models_in(place, untouched(place))
    try:
        text = read_text(place)
        document = read_json(text)
    except OSError as error:
        raise DataError(f"{place} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place} is no published document: {error}") from None
    kind = document.get("document") if isinstance(document, dict) else None
    readers: dict[str, Callable[[str], PatternDocument | Document]] = {
        published_sets.KIND: published_sets.read_patterns,
        document_json.KIND: document_json.read_tree,
        rule_document.KIND: rule_document.read_rules,
    }
    if kind not in readers:
        raise DataError(f"{place} is no document of patterns, of a tree or of rules: its 'document' says {kind!r}")
    try:
        return [readers[kind](text)]
    except DataError as error:
        raise DataError(f"{place}: {error}") from None
