"""How every report begins: what the data set is, and in plain words what was done, holds, remains possible and is next.

Whoever makes a page says it once for the page (``begun``); the shell of every page shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

ABOUT: Mapping[str, str] = {
    "data_set": "Data set",
    "version": "Version",
    "purpose": "Purpose",
    "recipient": "Recipient",
    "legal_basis": "Legal basis",
    "responsible": "Responsible",
    "contact": "Contact",
    "date": "Date",
}
"""What a plan may say about the data set, in the order of the page, with what the page calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The first paragraph of a report."""

    about: Mapping[str, str] = field(default_factory=dict)
    """What the plan says about the data set, by the keys of ``ABOUT``."""
    done: str
    """What was done."""
    holds: str
    """What holds."""
    possible: str
    """What remains possible."""
    next: str
    """What to do next."""

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """The four parts with their heads."""
        heads = ("What was done", "What holds", "What remains possible", "What to do next")
        return tuple(zip(heads, (self.done, self.holds, self.possible, self.next), strict=True))


_BEGUN: ContextVar[Opening | None] = ContextVar("opening", default=None)


@contextmanager
def begun(opening: Opening) -> Iterator[None]:
    """While a page is made, it begins so."""
    before = _BEGUN.set(opening)
    try:
        yield
    finally:
        _BEGUN.reset(before)


def opening() -> Opening | None:
    """How the page that is made now begins; None for pages that are no report of a release."""
    return _BEGUN.get()
