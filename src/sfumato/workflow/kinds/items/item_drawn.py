"""The pictures of released paths and sets with the original's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.report.base.drawn import Drawn, DrawnColumn, drawn_parts
from sfumato.report.base.figures import count
from sfumato.report.base.picture import Picture
from sfumato.report.items.item_charts import item_pictures
from sfumato.report.items.item_facts import ItemColumnFacts
from sfumato.report.items.sequences import shown_sequences
from sfumato.workflow.kinds.items.item_content import inside_facts

if TYPE_CHECKING:
    from sfumato.workflow.kinds.items.item_release import ItemRelease


def drawn(made: ItemRelease) -> Drawn:
    """Places and times, the most frequent items, frequent sequences, and what was lost."""
    facts = inside_facts(made)
    found = item_pictures(facts, shown_sequences(facts))
    paths = [(column, () if one is None else (*one.panels, *one.maps)) for column, one in found.places]
    others = [(column, () if one is None else (one,)) for column, one in found.items]
    wide = None if found.flow is None else found.flow[0]
    return Drawn(
        columns=tuple(_column(column, pictures) for column, pictures in (*paths, *others) if pictures),
        parts=drawn_parts(Frequent_sequences=[wide, found.sets], What_was_lost=[found.fates, found.errors]),
    )


def _column(column: ItemColumnFacts, pictures: tuple[Picture, ...]) -> DrawnColumn:
    about = f"{count(column.entries_before or 0)} entries before, {count(column.entries_after)} after"
    return DrawnColumn(name=column.name, about=about, pictures=pictures)
