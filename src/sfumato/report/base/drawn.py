"""The pictures of a release apart from its report, for pages that lay them out themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sfumato.report.base.picture import Picture


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
    found = {title.replace("_", " "): tuple(one for one in some if one is not None) for title, some in pictures.items()}
    return tuple(DrawnPart(title=title, pictures=some) for title, some in found.items() if some)
