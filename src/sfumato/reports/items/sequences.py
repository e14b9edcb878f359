"""Frequent sequences and sets as flow lines between places and as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise
from typing import Literal

from sfumato.reports.bars import Row, bars, changed, heads
from sfumato.reports.items.facts import ItemFacts, SequenceFacts, Spot
from sfumato.reports.language import count, label, translated
from sfumato.reports.svg import (
    FIGURE,
    NARROW,
    SIZE,
    WIDE,
    Picture,
    broken,
    drawing,
    fitted,
    leading,
    line,
    named,
    plain,
    room,
    stacked,
    words,
)

# Rows of bars whose labels may be long: a label stands above its bar.


_STEP = 38
_TOP = 18
_SHORT = 16
"""Labels of up to so many letters stand beside their bars."""


def listed(rows: Sequence[Row], heads: tuple[str, ...]) -> str:
    """The rows as bars, with labels beside or above them, as long as they are."""
    if all(len(row.label) <= _SHORT for row in rows):
        return bars(rows, heads=heads)
    labels = [broken(row.label, NARROW - 4 - _taken(row), SIZE) for row in rows]
    heights = [_STEP + (len(lines) - 1) * leading(SIZE) for lines in labels]
    places = accumulate(heights, initial=_TOP)
    drawn = [_row(y, row, lines) for y, row, lines in zip(places, rows, labels, strict=False)]
    return drawing([*_heads(heads), *drawn], NARROW, _TOP + sum(heights))


def _heads(heads: tuple[str, ...]) -> list[str]:
    return [words(head, _figure(n, len(heads)), 11, anchor="end", size=SIZE - 1) for n, head in enumerate(heads)]


def _figure(n: int, many: int) -> float:
    return NARROW - 4 - (many - 1 - n) * FIGURE


def _taken(row: Row) -> float:
    """The room of the figures."""
    return max(room(row.figures[0], SIZE), 30) + 12 + (len(row.figures) - 1) * FIGURE


def _row(y: float, row: Row, lines: Sequence[str]) -> str:
    wide, many, more = NARROW - 4, len(row.figures), (len(lines) - 1) * leading(SIZE)
    name = "".join(stacked(lines, 0, y + 13 + more / 2 - 0.34 * SIZE, tone="muted" if row.quiet else "ink", size=SIZE))
    figures = [
        words(text, _figure(n, many), y + 13, anchor="end", tone="ink" if n == many - 1 else "muted", size=SIZE)
        for n, text in enumerate(row.figures)
    ]
    back = _bar(y + more + 19, 11, row.back * wide, "before")
    return "".join([name, *figures, back, _bar(y + more + 21.5, 6, row.front * wide, row.tone)])


def _bar(y: float, tall: float, wide: float, tone: str) -> str:
    if wide <= 0:
        return ""
    size = f'width="{plain(max(wide, 2))}" height="{plain(tall)}"'
    return f'<rect x="0" y="{plain(y)}" {size} fill="var(--{tone})"/>'


# Frequent sequences drawn as lines from place to place over time.


_FLOW_TOP = 20
_LEAST = 24
"""The height of a place that one line passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """One line of the picture."""

    spots: tuple[Spot, ...]
    """Where it stops, in order of time."""
    support: int
    """How many records have it."""
    tone: str
    """Its colour."""
    dashed: bool
    """Whether it is drawn dashed."""
    title: str
    """What it is, for those who point at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lanes:
    """Where everything is."""

    x: dict[str, float]
    """By time."""
    y: dict[str, float]
    """The middle of a place."""
    left: float
    bottom: float
    offsets: dict[tuple[int, Spot], float]
    """By line and stop, so that lines at one stop lie beside each other."""


def merged(*orders: Sequence[str]) -> list[str]:
    """All names of some orders in one: new ones stand behind the one they follow in their own.

    >>> merged(["1", "2", "3"], ["1", "[2-3)", "3"])
    ['1', '[2-3)', '2', '3']
    """
    names: list[str] = []
    for order in orders:
        known = {name: i for i, name in enumerate(names)}
        new: list[list[str]] = [[] for _ in range(len(names) + 1)]
        here = 0
        for name in dict.fromkeys(order):
            if name in known:
                here = known[name] + 1
            else:
                new[here].append(name)
        names = [*new[0], *(name for i, old in enumerate(names) for name in (old, *new[i + 1]))]
    return names


def flow(paths: Sequence[Path], places: Sequence[str], times: Sequence[str], width: int = NARROW) -> str:
    """The lines over the places and times that they touch, in this order; wider lines have more records."""
    used = {spot for path in paths for spot in path.spots}
    rows = [place for place in places if any(place == at for at, _ in used)]
    columns = [time for time in times if any(time == when for _, when in used)]
    most = max(path.support for path in paths)
    widths = [1.5 + 5 * path.support / max(most, 1) for path in paths]
    lanes = _lanes(paths, widths, rows, columns, width)
    parts = [*_axes(lanes, rows, columns, width)]
    order = sorted(range(len(paths)), key=lambda n: (not paths[n].dashed, -widths[n]))
    parts += [_drawn(n, paths[n], widths[n], lanes) for n in order]
    return drawing(parts, width, lanes.bottom + 40)


def _lanes(
    paths: Sequence[Path], widths: Sequence[float], rows: Sequence[str], columns: Sequence[str], width: int
) -> _Lanes:
    stacks: dict[Spot, list[int]] = {}
    for n, path in enumerate(paths):
        for spot in dict.fromkeys(path.spots):
            stacks.setdefault(spot, []).append(n)
    offsets: dict[tuple[int, Spot], float] = {}
    high = dict.fromkeys(rows, 0.0)
    for spot, path_numbers in stacks.items():
        whole = sum(widths[n] + 2 for n in path_numbers)
        at = -whole / 2
        for n in path_numbers:
            offsets[n, spot] = at + widths[n] / 2 + 1
            at += widths[n] + 2
        high[spot[0]] = max(high[spot[0]], whole)
    y, at = {}, float(_FLOW_TOP)
    for place in rows:
        tall = max(_LEAST, high[place] + 10)
        y[place], at = at + tall / 2, at + tall
    left = (
        min(max(map(room, [*rows, translated("place"), translated("time")])), 0.26 * width if width <= NARROW else 170)
        + 22
    )
    step = (width - left - 22) / max(len(columns) - 1, 1)
    x = {time: left + step * i for i, time in enumerate(columns)}
    return _Lanes(x=x, y=y, left=left, bottom=at, offsets=offsets)


def _axes(lanes: _Lanes, rows: Sequence[str], columns: Sequence[str], width: int) -> list[str]:
    parts = [words(translated("place"), lanes.left - 18, _FLOW_TOP - 8, anchor="end")]
    for place in rows:
        name = fitted(place, lanes.left - 20)
        parts.append(words(name, lanes.left - 18, lanes.y[place] + 4, anchor="end", tone="ink"))
        parts.append(line(lanes.left - 10, lanes.y[place], width, lanes.y[place]))
    parts += [line(lanes.x[time], _FLOW_TOP, lanes.x[time], lanes.bottom) for time in columns]
    spots = [(time, lanes.x[time]) for time in columns]
    parts += named(spots, lanes.bottom + 14, width=width)
    return [*parts, words(translated("time"), lanes.left - 18, lanes.bottom + 29, anchor="end")]


def _drawn(n: int, path: Path, wide: float, lanes: _Lanes) -> str:
    """A line with a dot at every stop."""
    stops = [(lanes.x[spot[1]], lanes.y[spot[0]] + lanes.offsets[n, spot]) for spot in path.spots]
    curve = "".join(_bend(a, b) for a, b in pairwise(stops))
    style = f'fill="none" stroke="var(--{path.tone})" stroke-width="{plain(wide)}" stroke-opacity="0.75"'
    dash = ' stroke-dasharray="6 4"' if path.dashed else ""
    drawn = f'<path d="M{plain(stops[0][0])} {plain(stops[0][1])}{curve}" {style}{dash}/>' if curve else ""
    size = plain(max(2.5, wide / 2 + 0.8))
    dots = "".join(f'<circle cx="{plain(x)}" cy="{plain(y)}" r="{size}"/>' for x, y in stops)
    return f'<g fill="var(--{path.tone})"><title>{escape(path.title)}</title>{drawn}{dots}</g>'


def _bend(a: tuple[float, float], b: tuple[float, float]) -> str:
    middle = plain((a[0] + b[0]) / 2)
    return f"C{middle} {plain(a[1])} {middle} {plain(b[1])} {plain(b[0])} {plain(b[1])}"


# Frequent sequences and sets: which of them a page may tell, as lines between places and as bars.


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
        return translated(_STATES[self.state]) + (
            translated(" as {shown}", shown=self._line(self.shown)) if self.shown else ""
        )

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
    sequences = dict.fromkeys(_public(sequence) for sequence in facts.sequences if sequence.after)
    return tuple(sorted(sequences, key=lambda sequence: -sequence.after))


def _inside(sequence: SequenceFacts) -> ShownSequence:
    state: Literal["kept", "coarser", "lost"] = (
        "lost" if not sequence.after else "coarser" if sequence.shown else "kept"
    )
    kept = state == "coarser"
    return ShownSequence(
        labels=sequence.labels,
        before=sequence.before,
        after=sequence.after or 0,
        state=state,
        shown=sequence.shown if kept else (),
        spots=sequence.shown_spots if kept and sequence.shown_spots else sequence.spots,
    )


def _public(sequence: SequenceFacts) -> ShownSequence:
    spots = sequence.shown_spots if sequence.shown else sequence.spots
    return ShownSequence(
        labels=sequence.shown or sequence.labels,
        before=None,
        after=sequence.after or 0,
        state="kept",
        shown=(),
        spots=spots,
    )


def flow_pictures(facts: ItemFacts, sequences: Sequence[ShownSequence]) -> tuple[Picture, Picture] | None:
    """The most frequent sequences as lines, for a page and for a phone; none where no sequence has places."""
    drawn = [sequence for sequence in sequences if sequence.spots][:MOST_PATHS]
    if not drawn:
        return None
    grids = [
        grid
        for column in facts.columns
        for grid in ((column.before if facts.inside else None), column.after)
        if grid is not None
    ]
    spots = [spot for sequence in drawn for spot in sequence.spots]
    places = merged(*(grid.places for grid in grids), [place for place, _ in spots])
    times = merged(*(grid.times for grid in grids), [time for _, time in spots])
    paths = [_path(sequence, times) for sequence in drawn]
    summary = _listed(drawn, inside=facts.inside)
    words = translated("Frequent sequences between places over time. {told}.", told=summary)
    pictures = [Picture(svg=flow(paths, places, times, width), words=words) for width in (WIDE, NARROW)]
    return pictures[0], pictures[1]


def _path(sequence: ShownSequence, times: Sequence[str]) -> Path:
    order = {time: i for i, time in enumerate(times)}
    figures = (
        translated("{n} records", n=count(sequence.after))
        if sequence.before is None
        else translated("{old} before, {new} after", old=count(sequence.before), new=count(sequence.after))
    )
    return Path(
        spots=tuple(sorted(dict.fromkeys(sequence.spots), key=lambda spot: order[spot[1]])),
        support=sequence.weight,
        tone=_TONES[sequence.state],
        dashed=sequence.state == "lost",
        title=f"{sequence.name}: {figures}, {sequence.became}"
        if sequence.before is not None
        else f"{sequence.name}: {figures}",
    )


def set_bars(sequences: Sequence[ShownSequence], *, inside: bool) -> Picture | None:
    """The most frequent sets as bars; inside, before and after."""
    drawn = sequences[:MOST_BARS]
    if not drawn:
        return None
    rows = bar_rows(
        [(sequence.name, sequence.before, sequence.after) for sequence in drawn], inside=inside, gone=translated("lost")
    )
    svg = listed(rows, heads(translated("records"), inside=inside))
    return Picture(svg=svg, words=translated("Frequent sets. {told}.", told=_listed(drawn, inside=inside)))


def bar_rows(parts: Sequence[tuple[str, int | None, int | None]], *, inside: bool, gone: str) -> list[Row]:
    """Labels with their records as rows; inside, pale bars are before, and what the release lacks is said to be so."""
    most = max([1, *(max((old or 0) if inside else 0, new or 0) for _, old, new in parts)])
    rows = []
    for name, old, new in parts:
        figures = (count(old or 0), count(new) if new else gone) if inside else (count(new or 0),)
        back = (old or 0) / most if inside else 0.0
        rows.append(Row(label=name, back=back, front=(new or 0) / most, figures=figures, quiet=inside and not new))
    return rows


def _listed(sequences: Sequence[ShownSequence], *, inside: bool) -> str:
    if not inside:
        return "; ".join(f"{sequence.name} {count(sequence.after)}" for sequence in sequences)
    return "; ".join(
        changed(sequence.name, count(sequence.before or 0), count(sequence.after)) for sequence in sequences
    )
