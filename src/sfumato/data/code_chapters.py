"""Where a code of a public system stands: its category, the groups above it and its chapter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSystem:
    """How the codes of a system look, and where they are cut."""

    title: str
    """What messages call it."""
    code: str
    """What a code looks like, as a pattern, without its point and in capitals."""
    cuts: tuple[str, ...]
    """What of a code each level keeps, as patterns, the finest first; the last one finds the chapter."""
    rest: str
    """What stands for the part of a code that is left out."""


SYSTEMS = {
    "icd-10": CodeSystem(
        title="ICD-10", code="[A-Z][0-9][0-9A-Z][0-9A-Z]{0,4}", cuts=("[A-Z][0-9][0-9A-Z]",), rest=".-"
    ),
    "icd-9": CodeSystem(
        title="ICD-9",
        code="[0-9]{3,5}|V[0-9]{2,4}|E[0-9]{3,4}",
        cuts=("[0-9]{3}|V[0-9]{2}|E[0-9]{3}",),
        rest=".-",
    ),
    "icd-9-procedures": CodeSystem(title="ICD-9 procedures", code="[0-9]{2,4}", cuts=("[0-9]{2}",), rest=".-"),
    "atc": CodeSystem(
        title="ATC",
        code="[A-Z](?:[0-9]{2}(?:[A-Z](?:[A-Z](?:[0-9]{2})?)?)?)?",
        cuts=(".{1,5}", ".{1,4}", ".{1,3}", "."),
        rest="-",
    ),
}
"""The systems by the name that a plan uses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A range of categories with a name."""

    first: str
    """The first category."""
    last: str
    """The last category."""
    name: str
    """What it is about."""

    @property
    def label(self) -> str:
        """As a release shows it."""
        return f"{self.first} {self.name}" if self.first == self.last else f"{self.first}-{self.last} {self.name}"

    def holds(self, category: str) -> bool:
        """Whether a category lies in the range: categories of one length are compared as texts."""
        return len(category) == len(self.first) and self.first <= category <= self.last


@cache
def chapters(system: str) -> tuple[Chapter, ...]:
    """The chapters of a system in their order."""
    text = files("sfumato.data.code_systems").joinpath(f"{system}.csv").read_text("utf-8")
    lines = [line.split(";") for line in text.splitlines()]
    return tuple(Chapter(first=first, last=last, name=name) for first, last, name in lines)


def above(code: str, system: str) -> tuple[str, ...] | None:
    """The labels above a code, from its category to its chapter; None for a text that is no code of the system.

    >>> above("E11.9", "icd-10")
    ('E11.-', 'E00-E90 Endocrine, nutritional and metabolic diseases')
    >>> above("sepsis", "icd-9") is None, above("42731", "icd-9")
    (True, ('427.-', '390-459 Diseases of the circulatory system'))
    """
    known, plain = SYSTEMS[system], code.strip().upper().replace(".", "")
    if not re.fullmatch(known.code, plain):
        return None
    found = [re.match(cut, plain) for cut in known.cuts]
    parts = [one[0] for one in found if one is not None]
    chapter = next((one for one in chapters(system) if parts and one.holds(parts[-1])), None)
    if chapter is None:
        return None
    lower = parts[:-1] if len(known.cuts) > 1 else parts
    return (*(f"{part}{known.rest}" for part in lower), chapter.label)
