"""The pictures of a report about paths and sets, each with its words for those who cannot see it."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.report.base.drawing import Row, bars
from sfumato.report.base.figures import count, label, share
from sfumato.report.base.language import said
from sfumato.report.base.picture import Picture
from sfumato.report.base.sentences import counted
from sfumato.report.base.shapes import AFTER, ALARM, BEFORE, TRACK
from sfumato.report.base.value_bars import changed, heads
from sfumato.report.items.bars import listed
from sfumato.report.items.item_facts import ItemColumnFacts, ItemFacts, ItemUtilityFacts
from sfumato.report.items.places import PlacePictures, place_pictures
from sfumato.report.items.sequences import MOST_BARS, ShownSequence, bar_rows, flow_pictures, set_bars


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPictures:
    """All drawings of one page."""

    places: tuple[tuple[ItemColumnFacts, PlacePictures | None], ...]
    """Of the path columns; nothing where nothing is left."""
    items: tuple[tuple[ItemColumnFacts, Picture | None], ...]
    """Of the other columns; nothing where nothing is left."""
    flow: tuple[Picture, Picture] | None
    """Sequences as lines, for a page and for a phone."""
    sets: Picture | None
    """Frequent sets as bars, where they are not lines."""
    fates: Picture | None
    """What became of the frequent sets."""
    errors: Picture | None
    """Errors of queries by the items that they name."""


def item_pictures(facts: ItemFacts, found: tuple[ShownSequence, ...]) -> ItemPictures:
    """Everything drawn."""
    paths = [column for column in facts.columns if column.kind == "trajectory"]
    other = [column for column in facts.columns if column.kind != "trajectory"]
    plain = tuple(one for one in found if not one.spots)
    return ItemPictures(
        places=tuple((column, place_pictures(column, inside=facts.inside)) for column in paths),
        items=tuple((column, item_bars(column, inside=facts.inside)) for column in other),
        flow=flow_pictures(facts, found),
        sets=set_bars(plain, inside=facts.inside),
        fates=None if facts.utility is None else fates(facts.utility),
        errors=None if facts.utility is None else errors(facts.utility),
    )


def item_bars(column: ItemColumnFacts, *, inside: bool) -> Picture | None:
    """The most frequent items of a column; outside only those of the release."""
    parts = [(label(name), old, new) for name, old, new in column.frequent if new or (inside and old)]
    parts.sort(key=lambda one: -((one[1] or one[2] or 0) if inside else one[2] or 0))
    shown = parts[:MOST_BARS]
    if not shown:
        return None
    svg = listed(bar_rows(shown, inside=inside, gone=said("none")), heads(said("records"), inside=inside))
    if inside:
        parts_said = "; ".join(changed(name, count(old or 0), count(new or 0)) for name, old, new in shown)
    else:
        parts_said = "; ".join(f"{name} {count(new or 0)}" for name, _, new in shown)
    return Picture(
        svg=svg, words=said("{column}, records per item: {told}.", column=label(column.name), told=parts_said)
    )


def fates(found: ItemUtilityFacts) -> Picture | None:
    """Which share of the frequent sets is kept, shown coarser and lost."""
    if not found.frequent:
        return None
    kept = min(max(1 - found.lost_share - found.coarser_share, 0.0), 1.0)
    coarser, lost = found.coarser_share, found.lost_share
    parts = [(said("kept"), kept, AFTER), (said("shown coarser"), coarser, BEFORE), (said("lost"), lost, ALARM)]
    rows = [
        Row(label=name, back=1, front=part, figures=(share(part),), tone=tone, quiet=not part)
        for name, part, tone in parts
    ]
    parts_said = "; ".join(f"{name} {share(part)}" for name, part, _ in parts)
    sets = counted(found.frequent, said("frequent set"), said("frequent sets"))
    words = said("What became of {sets}. {told}.", sets=sets, told=parts_said)
    return Picture(svg=bars(rows, heads=(said("share"),), back=TRACK), words=words)


def errors(found: ItemUtilityFacts) -> Picture | None:
    """Relative errors of count queries by the number of items that they name: means as pale, medians as strong bars."""
    if not found.by_size:
        return None
    most = max([mean for _, _, mean in found.by_size] + [median for _, median, _ in found.by_size])
    unit = most if most > 0 else 1.0
    rows = [
        Row(
            label=_known(size),
            back=mean / unit,
            front=median / unit,
            figures=(share(mean), share(median)),
        )
        for size, median, mean in found.by_size
    ]
    parts_said = "; ".join(
        said("{known}: median {median}, mean {mean}", known=_known(size), median=share(median), mean=share(mean))
        for size, median, mean in found.by_size
    )
    words = said("Relative errors of count queries. {told}.", told=parts_said)
    return Picture(svg=bars(rows, heads=(said("mean"), said("median"))), words=words)


def _known(size: int) -> str:
    return counted(size, said("known item"), said("known items"))
