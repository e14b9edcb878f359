"""A table or figure of a document: what became of it here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Protocol, cast

from sfumato.ground.work import Work
from sfumato.report.papers.paper_facts import Shown


class State(StrEnum):
    """What became of a table or figure."""

    RUNS = "runs"
    """``sfumato reproduce`` measures it."""
    TESTED = "tested"
    """A worked example: the tests recompute it."""
    DRAWING = "drawing"
    """It explains something; there is nothing to compute."""
    OPEN = "open"
    """It needs a part that sfumato does not have yet."""


class Experiment(Protocol):
    """Measures one table or figure."""

    def __call__(self, *, full: bool, work: Work) -> Shown:
        """Quick, or in full as the document did it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One table or figure."""

    name: str
    """As the document numbers it: "figure 3.5"."""
    title: str
    """What it shows."""
    state: State
    """What became of it."""
    where: str
    """The experiment ("module:function"), the test file, or what is missing."""

    def experiment(self) -> Experiment:
        """The experiment of one that runs; its module is imported now."""
        module, _, name = self.where.partition(":")
        return cast("Experiment", getattr(import_module(f"sfumato.papers.{module}"), name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document with all its tables and figures."""

    key: str
    """How the command line calls it."""
    title: str
    """Who wrote what, and when."""
    exhibits: Sequence[Exhibit]
    """In the order of the document."""


def runs(name: str, title: str, where: str) -> Exhibit:
    """One that the command measures."""
    return Exhibit(name=name, title=title, state=State.RUNS, where=where)


def tested(name: str, title: str, where: str) -> Exhibit:
    """A worked example, with the tests that recompute it."""
    return Exhibit(name=name, title=title, state=State.TESTED, where=where)


def drawing(name: str, title: str) -> Exhibit:
    """One without anything to compute."""
    return Exhibit(name=name, title=title, state=State.DRAWING, where="")


def missing(name: str, title: str, why: str) -> Exhibit:
    """One that needs a part that sfumato does not have yet."""
    return Exhibit(name=name, title=title, state=State.OPEN, where=why)
