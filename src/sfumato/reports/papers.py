"""The page of a reproduced document: measured figures next to the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.reports.pages import page
from sfumato.reports.plots import Panel, line_chart

# What was measured again: tables, charts, and our figures beside those of a document.


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table of figures, as text."""

    title: str
    """What it holds."""
    heads: Sequence[str]
    """The names of its columns."""
    rows: Sequence[Sequence[str]]
    """Its lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """One statement of a document, and what came out here."""

    what: str
    """What is compared."""
    theirs: str
    """As the document has it."""
    ours: str
    """As measured now."""
    holds: bool | None = None
    """Whether the statement holds here; None for a figure that is only compared."""
    why: str = ""
    """Why the two differ, as far as that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One table or figure of a document, measured again."""

    data: str
    """On which data; a stand-in says that it is one."""
    name: str = ""
    """As the document numbers it."""
    title: str = ""
    """What it shows."""
    beside: Sequence[Beside] = ()
    """Ours beside theirs."""
    grids: Sequence[Grid] = ()
    """Everything measured."""
    panels: Sequence[Panel] = ()
    """The charts."""
    notes: Sequence[str] = ()
    """What a reader should know."""
    seconds: float = 0.0
    """Of CPU that it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFacts:
    """A document and what was measured of it."""

    title: str
    """Who wrote what, and when."""
    size: str
    """Quick or full."""
    made: str
    """The day."""
    version: str
    """Of sfumato."""
    shown: Sequence[Shown]
    """What was measured."""
    others: Sequence[tuple[str, str, str]]
    """The other tables and figures: name, state, and where or why."""


# The page of a reproduced document: ours beside theirs, charts, tables; it needs nothing else.


def render(facts: PaperFacts) -> str:
    """One self-contained HTML page."""
    drawn = {exhibit.name: [line_chart(panel) for panel in exhibit.panels] for exhibit in facts.shown}
    return page("papers.html.j2", facts=facts, drawn=drawn)
