"""Frequent sequences and sets: which of them a page may tell, as lines between places and as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sfumato.report.base.drawing import Row
from sfumato.report.base.figures import count, label
from sfumato.report.base.language import said
from sfumato.report.base.picture import Picture
from sfumato.report.base.svg import NARROW, WIDE
from sfumato.report.base.value_bars import changed, heads
from sfumato.report.items.bars import listed
from sfumato.report.items.flow import Path, flow, merged
from sfumato.report.items.item_facts import ItemFacts, SequenceFacts, Spot

MOST_BARS = 14
"""How many items or sets are drawn as bars."""
MOST_PATHS = 14
"""How many sequences are drawn as lines."""
_TONES = {"kept": "after", "coarser": "accent", "lost": "alarm"}
_STATES = {"kept": "kept", "coarser": "shown coarser", "lost": "lost"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSequence:
    """A frequent sequence as a page may tell it."""

    labels: tuple[str, ...]
    """Its items, as the page may name them."""
    before: int | None
    """Its records in the original, if the page may tell them."""
    after: int
    """Its records in the release."""
    state: Literal["kept", "coarser", "lost"]
    """What became of it."""
    shown: tuple[str, ...]
    """Its items in the release, where an inside report tells that they are coarser."""
    spots: tuple[Spot, ...]
    """Its places and times as they are drawn."""

    @property
    def name(self) -> str:
        """Its items in one line."""
        return self._line(self.labels)

    @property
    def became(self) -> str:
        """What became of it, in words."""
        return said(_STATES[self.state]) + (said(" as {shown}", shown=self._line(self.shown)) if self.shown else "")

    @property
    def weight(self) -> int:
        """How wide it is drawn."""
        return self.before or self.after

    def _line(self, labels: Sequence[str]) -> str:
        return (" \u2192 " if self.spots else " + ").join(label(text, most=30) for text in labels)


def shown_sequences(facts: ItemFacts) -> tuple[ShownSequence, ...]:
    """What the page may tell: inside all of them, otherwise those of the release, each once, as the release has it."""
    if facts.inside:
        return tuple(map(_inside, facts.sequences))
    found = dict.fromkeys(_public(one) for one in facts.sequences if one.after)
    return tuple(sorted(found, key=lambda one: -one.after))


def _inside(one: SequenceFacts) -> ShownSequence:
    state: Literal["kept", "coarser", "lost"] = "lost" if not one.after else "coarser" if one.shown else "kept"
    kept = state == "coarser"
    return ShownSequence(
        labels=one.labels,
        before=one.before,
        after=one.after or 0,
        state=state,
        shown=one.shown if kept else (),
        spots=one.shown_spots if kept and one.shown_spots else one.spots,
    )


def _public(one: SequenceFacts) -> ShownSequence:
    spots = one.shown_spots if one.shown else one.spots
    return ShownSequence(
        labels=one.shown or one.labels, before=None, after=one.after or 0, state="kept", shown=(), spots=spots
    )


def flow_pictures(facts: ItemFacts, found: Sequence[ShownSequence]) -> tuple[Picture, Picture] | None:
    """The most frequent sequences as lines, for a page and for a phone; none where no sequence has places."""
    drawn = [one for one in found if one.spots][:MOST_PATHS]
    if not drawn:
        return None
    grids = [
        grid
        for column in facts.columns
        for grid in ((column.before if facts.inside else None), column.after)
        if grid is not None
    ]
    spots = [spot for one in drawn for spot in one.spots]
    places = merged(*(grid.places for grid in grids), [place for place, _ in spots])
    times = merged(*(grid.times for grid in grids), [time for _, time in spots])
    paths = [_path(one, times) for one in drawn]
    told = _listed(drawn, inside=facts.inside)
    words = said("Frequent sequences between places over time. {told}.", told=told)
    pictures = [Picture(svg=flow(paths, places, times, width), words=words) for width in (WIDE, NARROW)]
    return pictures[0], pictures[1]


def _path(one: ShownSequence, times: Sequence[str]) -> Path:
    order = {time: i for i, time in enumerate(times)}
    figures = (
        said("{n} records", n=count(one.after))
        if one.before is None
        else said("{old} before, {new} after", old=count(one.before), new=count(one.after))
    )
    return Path(
        spots=tuple(sorted(dict.fromkeys(one.spots), key=lambda spot: order[spot[1]])),
        support=one.weight,
        tone=_TONES[one.state],
        dashed=one.state == "lost",
        title=f"{one.name}: {figures}, {one.became}" if one.before is not None else f"{one.name}: {figures}",
    )


def set_bars(found: Sequence[ShownSequence], *, inside: bool) -> Picture | None:
    """The most frequent sets as bars; inside, before and after."""
    drawn = found[:MOST_BARS]
    if not drawn:
        return None
    rows = bar_rows([(one.name, one.before, one.after) for one in drawn], inside=inside, gone=said("lost"))
    svg = listed(rows, heads(said("records"), inside=inside))
    return Picture(svg=svg, words=said("Frequent sets. {told}.", told=_listed(drawn, inside=inside)))


def bar_rows(parts: Sequence[tuple[str, int | None, int | None]], *, inside: bool, gone: str) -> list[Row]:
    """Labels with their records as rows; inside, pale bars are before, and what the release lacks is said to be so."""
    most = max([1, *(max((old or 0) if inside else 0, new or 0) for _, old, new in parts)])
    rows = []
    for name, old, new in parts:
        figures = (count(old or 0), count(new) if new else gone) if inside else (count(new or 0),)
        back = (old or 0) / most if inside else 0.0
        rows.append(Row(label=name, back=back, front=(new or 0) / most, figures=figures, quiet=inside and not new))
    return rows


def _listed(found: Sequence[ShownSequence], *, inside: bool) -> str:
    if not inside:
        return "; ".join(f"{one.name} {count(one.after)}" for one in found)
    return "; ".join(changed(one.name, count(one.before or 0), count(one.after)) for one in found)
