"""Static SVG in the page's colours: tones, text, lines, and pictures with their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from textwrap import wrap
from unicodedata import east_asian_width

from sfumato.reports.language import label as cut
from sfumato.reports.language import seen

# Tones and measures that all pictures share.


INK, MUTED, BEFORE, AFTER, TRACK, ALARM = ("ink", "muted", "before", "after", "track", "alarm")
"""The page's colours by name: one picture serves light, dark and print."""
SERIES = 6
"""How many colours series have; a seventh has the first colour again."""

LABELS = 136
"""The room that labels have."""
BARS = 122
"""The room that bars have beside two figures."""
FIGURE = 59
"""The room that a figure has."""
STEP = 22
"""The height of a row."""
SIZE = 12.5
"""The size of letters."""
TALL = 56
"""The height of a histogram."""


# A drawing with its words, for those who cannot see it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A drawing with its words."""

    svg: str
    """The drawing."""
    words: str
    """What it shows, for those who cannot see it."""
    caption: str = ""
    """A line above it."""


# The pictures of a release apart from its report, for pages that lay them out themselves.


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnColumn:
    """One column."""

    name: str
    """The column."""
    about: str
    """What was done to it, in a few words."""
    pictures: tuple[Picture, ...]
    """Before and after, or what the release shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPart:
    """Pictures about one thing."""

    title: str
    """What they are about."""
    pictures: tuple[Picture, ...]
    """The pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Everything that is drawn of a release."""

    inside: bool = True
    """Whether figures of the original are in it: then it is the steward's alone."""
    columns: tuple[DrawnColumn, ...] = ()
    """Column by column."""
    parts: tuple[DrawnPart, ...] = ()
    """Of the whole release; only parts that have pictures."""


def drawn_parts(**pictures: Iterable[Picture | None]) -> tuple[DrawnPart, ...]:
    """The parts that have pictures; a title's underscores stand for blanks.

    >>> [one.title for one in drawn_parts(Risk=[None], Loss_per_column=[Picture(svg="<svg/>", words="a bar")])]
    ['Loss per column']
    """
    pictures_by_title = {
        title.replace("_", " "): tuple(picture for picture in some if picture is not None)
        for title, some in pictures.items()
    }
    return tuple(DrawnPart(title=title, pictures=some) for title, some in pictures_by_title.items() if some)


# Pieces of static SVG in the page's colours and fonts, for pictures that no chart grammar draws well.


NARROW = LABELS + BARS + 2 * FIGURE + 4
"""The width of a picture beside another one, and on a phone."""
WIDE = 816
"""The width of a picture that has the page for itself."""
LETTERS = 11
"""The size of the letters on axes."""
_LONGEST = 120
"""The most letters of a label in a picture: longer ones are texts."""
_LETTER = 6.6
"""About the width of such a letter."""


def drawing(parts: Iterable[str], width: float, height: float) -> str:
    """An SVG of this size."""
    w, h = plain(width), plain(height)
    return f'<svg width="{w}" height="{h}" viewBox="0 0 {w} {h}">{"".join(parts)}</svg>'


def words(text: str, x: float, y: float, *, anchor: str = "start", tone: str = "muted", size: float = LETTERS) -> str:
    """A line of text whose letters stand on y."""
    place = f'x="{plain(x)}" y="{plain(y)}" text-anchor="{anchor}" font-size="{plain(size)}"'
    return f'<text {place} fill="var(--{tone})">{escape(seen(text))}</text>'


def blocks(boxes: Sequence[tuple[float, float, float, float]], tone: str, seen: float = 1.0) -> str:
    """Boxes (x, y, width, height) of one colour as one path; nothing if there are none."""
    if not boxes:
        return ""
    path = "".join(f"M{plain(x)} {plain(y)}h{plain(w)}v{plain(h)}h-{plain(w)}z" for x, y, w, h in boxes)
    shade = "" if seen >= 1 else f' fill-opacity="{plain(seen)}"'
    return f'<path d="{path}" fill="var(--{tone})"{shade} shape-rendering="crispEdges"/>'


def line(x: float, y: float, x2: float, y2: float, tone: str = "track", *, width: float = 1) -> str:
    """A straight line, thin unless another width is given."""
    ends = f'x1="{plain(x)}" y1="{plain(y)}" x2="{plain(x2)}" y2="{plain(y2)}"'
    return f'<line {ends} stroke="var(--{tone})" stroke-width="{plain(width)}"/>'


def dashed(x: float, y: float, x2: float, y2: float, tone: str) -> str:
    """A thin dashed line: a limit, or something to compare with."""
    return line(x, y, x2, y2, tone).replace("/>", ' stroke-dasharray="4 3"/>')


def room(text: str, size: float = LETTERS) -> float:
    """About the width of a line of text."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text) * _LETTER * size / LETTERS


def fitted(text: str, width: float, size: float = LETTERS) -> str:
    """A label in one line that is not wider than this."""
    return cut(text, most=max(2, int(width / (_LETTER * size / LETTERS) + 1e-6)))


def broken(text: str, width: float, size: float = LETTERS) -> list[str]:
    """A label in as many lines of this width as it takes; nothing of it is left out.

    >>> broken("never married", 60), broken("abcdefghijkl", 40)
    (['never', 'married'], ['abcdef', 'ghijkl'])
    """
    return wrap(cut(text, most=_LONGEST), max(2, int(width / (_LETTER * size / LETTERS) + 1e-6))) or [cut(text)]


def stacked(lines: Sequence[str], x: float, y: float, *, anchor: str = "start", tone: str = "ink",
            size: float = LETTERS) -> list[str]:  # fmt: skip
    """Lines of text under each other, their middle on y."""
    first = y - (len(lines) - 1) * leading(size) / 2 + 0.34 * size
    return [
        words(text, x, first + n * leading(size), anchor=anchor, tone=tone, size=size) for n, text in enumerate(lines)
    ]


def leading(size: float = LETTERS) -> float:
    """From one line of text to the next."""
    return 1.2 * size


def named(spots: Sequence[tuple[str, float]], y: float, *, width: float) -> list[str]:
    """Names under places along x, as many as fit: usual ones in a line, much longer ones, such as spans, below it."""
    names = []
    for text, x in spots:
        name = fitted(text, 96)
        half = room(name) / 2
        names.append(_Name(text=name, middle=max(min(x, width - half), half), half=half))
    usual = 1.5 * median([name.half for name in names]) + 0.1 if names else 0.0
    short = [name for name in names if name.half <= usual]
    long = [name for name in names if name.half > usual]
    return [
        words(name.text, name.middle, below, anchor="middle", tone="ink")
        for below, visible_names in ((y, _even(short)), (y + 13, _fitting(long)))
        for name in visible_names
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    """A text in the middle of its place."""

    text: str
    middle: float
    half: float
    """Of its width."""


def _even(names: Sequence[_Name]) -> Sequence[_Name]:
    """One of every two, three, ... names if none of them overlap, unless far more fit."""
    every = (names[::n] for n in range(1, len(names) + 1))
    even = next((some for some in every if len(_fitting(some)) == len(some)), names)
    fitting_names = _fitting(names)
    return even if 2 * len(even) > len(fitting_names) else fitting_names


def _fitting(names: Iterable[_Name]) -> list[_Name]:
    """The names that do not run into those before them."""
    fitting_names: list[_Name] = []
    for name in names:
        if not fitting_names or name.middle - name.half >= fitting_names[-1].middle + fitting_names[-1].half + 7:
            fitting_names.append(name)
    return fitting_names


def plain(value: float) -> str:
    """A number in SVG, to a hundredth.

    >>> plain(12.0), plain(0.126), plain(-0.001)
    ('12', '0.13', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
