"""The pictures of a path column: places by times, and the map where places are its squares."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from sfumato.report.base.figures import count, label, share
from sfumato.report.base.language import said
from sfumato.report.base.picture import Picture
from sfumato.report.base.svg import NARROW, WIDE
from sfumato.report.items.heat import Sheet, heat
from sfumato.report.items.item_facts import GridCounts, ItemColumnFacts
from sfumato.report.items.place_time import (
    Levels,
    Shades,
    binned,
    filled,
    gone,
    gone_legend,
    mapped,
    missing,
    on_axes,
    shaded,
    total,
)

_TABLE = ("place", "time")
_MAP = ("row", "column")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacePictures:
    """What a path column looks like."""

    wide: Picture | None = None
    """Public: places by times, for a page."""
    narrow: Picture | None = None
    """Public: the same for a phone."""
    panels: tuple[Picture, ...] = ()
    """Inside: places by times before, after, and what vanished."""
    maps: tuple[Picture, ...] = ()
    """The map; inside before, after, and what vanished."""
    joined: str = ""
    """How places and times share rows and columns, in a sentence; empty if they do not."""
    off_map: int = 0
    """Readings of the release at places that are no squares."""


def place_pictures(column: ItemColumnFacts, *, inside: bool) -> PlacePictures | None:
    """The pictures of a column; outside only of what the release has. None where there is nothing to draw."""
    after = None if column.after is None else filled(column.after)
    if inside and column.before is not None and total(column.before):
        return _inside(column, filled(column.before), after)
    if after is None or not after.places:
        return None
    grid, tall, wide = binned(after)
    shades = Shades.of(grid)
    pictures = [_table(grid, shades, said("Readings in the release"), width) for width in (WIDE, NARROW)]
    found = mapped(after)
    maps = () if found is None else (_map(found, Shades.of(found), said("readings in the release")),)
    return PlacePictures(
        wide=pictures[0], narrow=pictures[1], maps=maps, joined=_joined(tall, wide), off_map=_off(after, found)
    )


def _inside(column: ItemColumnFacts, before: GridCounts, after: GridCounts | None) -> PlacePictures:
    new = after or GridCounts(places=(), times=(), counts=())
    lost = on_axes(column.vanished, before) if column.vanished is not None else None
    lost = lost or missing(before, new)
    same = on_axes(new, before)
    old, tall, wide = binned(before)
    shown, rows, columns = binned(same or new)
    shades = Shades.of(old, shown)
    panels = [
        _table(old, shades, said("Readings before"), NARROW, caption=said("before")),
        *([_table(shown, shades, said("Readings after"), NARROW, caption=said("after"))] if shown.places else []),
        _share(old, binned(lost)[0], _TABLE),
    ]
    return PlacePictures(
        panels=tuple(panels),
        maps=_inside_maps(before, same or new, lost),
        joined=_joined(max(tall, rows), max(wide, columns)),
        off_map=_off(new, mapped(new)),
    )


def _inside_maps(before: GridCounts, after: GridCounts, lost: GridCounts) -> tuple[Picture, ...]:
    old = mapped(before)
    if old is None:
        return ()
    shown, gone_from = mapped(after), mapped(lost)
    shown = None if shown is None else on_axes(shown, old)
    shades = Shades.of(old, *([shown] if shown else []))
    found = [_map(old, shades, said("before"))]
    if shown is not None:
        found.append(_map(shown, shades, said("after")))
    if gone_from is not None and (aligned := on_axes(gone_from, old)) is not None:
        found.append(_share(old, aligned, _MAP, square=True))
    return tuple(found)


def _table(grid: GridCounts, shades: Shades, what: str, width: int, caption: str = "") -> Picture:
    sheet = _sheet(grid, shaded(grid, shades), _TABLE, shades)
    size = {"places": len(grid.places), "times": len(grid.times)}
    words = said(
        "{what} by place and time: {places} places, {times} times. {told}", what=what, **size, told=_words(grid)
    )
    return Picture(svg=heat(sheet, width), words=words, caption=caption)


def _map(grid: GridCounts, shades: Shades, what: str) -> Picture:
    sheet = _sheet(grid, shaded(grid, shades), _MAP, shades, square=True)
    size = {"rows": len(grid.places), "columns": len(grid.times)}
    words = said("Map of {rows} by {columns} squares, {what}. {told}", **size, what=what, told=_words(grid))
    return Picture(svg=heat(sheet), words=words, caption=what)


def _sheet(grid: GridCounts, levels: Levels, names: tuple[str, str], shades: Shades, *, square: bool = False) -> Sheet:
    measure = said("readings in a square, up to" if square else "readings in a cell, up to")
    return Sheet(
        rows=grid.places,
        columns=grid.times,
        levels=levels,
        names=(said(names[0]), said(names[1])),
        legend=shades.legend(),
        measure=measure,
        square=square,
    )


def _share(before: GridCounts, lost: GridCounts, names: tuple[str, str], *, square: bool = False) -> Picture:
    sheet = Sheet(
        rows=before.places,
        columns=before.times,
        levels=gone(before, lost),
        names=(said(names[0]), said(names[1])),
        legend=gone_legend(),
        measure=said("share of the readings that is left out, up to"),
        tone="alarm",
        square=square,
    )
    old, new = total(before), total(lost)
    pairs = [pair for rows in zip(before.counts, lost.counts, strict=True) for pair in zip(*rows, strict=True)]
    empty = sum(1 for was, went in pairs if was and went >= was)
    words = said(
        "What vanished: {new} of {old} readings ({part}); {empty} cells lost all of theirs.",
        new=count(new),
        old=count(old),
        part=share(new / old if old else 0.0),
        empty=count(empty),
    )
    return Picture(svg=heat(sheet), words=words, caption=said("what vanished"))


def _words(grid: GridCounts) -> str:
    """All readings, and where most of them are."""
    cells = (
        (-value, place, time)
        for place, row in zip(grid.places, grid.counts, strict=True)
        for time, value in zip(grid.times, row, strict=True)
        if value
    )
    most = islice(sorted(cells), 3)
    named = "; ".join(
        said("{place} at {time}: {n}", place=label(place), time=label(time), n=count(-value))
        for value, place, time in most
    )
    if not named:
        return said("No readings.")
    return said("{n} readings in all. Most: {named}.", n=count(total(grid)), named=named)


def _joined(tall: int, wide: int) -> str:
    parts = [
        said(words, n=n)
        for n, words in ((tall, "{n} neighbouring places share a row"), (wide, "{n} neighbouring times share a column"))
        if n > 1
    ]
    return said("To fit, {parts}.", parts=said(" and ").join(parts)) if parts else ""


def _off(grid: GridCounts, found: GridCounts | None) -> int:
    return 0 if found is None else total(grid) - total(found)
