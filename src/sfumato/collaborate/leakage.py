"""What a protocol tells a party beyond the result: declared as data, shown before anybody agrees, kept in the manifest.

A declaration is tested: from a party's input, its result and its declared leakage, a simulator makes transcripts, and a
statistical test must not tell them from real ones.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One thing that somebody learns."""

    to: str
    """Who learns it: ``everybody``, a role in the protocol, or a party's name."""
    what: str
    """What they learn, as the end of a sentence: "the sum of all parties' counts"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leakage:
    """What a protocol tells, and where its protection ends."""

    protocol: str
    """Its name."""
    result: tuple[Told, ...]
    """The purpose of the protocol: what each role is meant to learn."""
    beyond: tuple[Told, ...] = ()
    """What they learn besides, such as sizes."""
    withstands: str
    """Which parties may work together without learning more: "any n - 2 of n parties"."""
    limits: str
    """What it does not protect against."""

    def lines(self) -> list[str]:
        """As sentences, one a line."""
        told = [f"{one.to} learns {one.what}" for one in self.result]
        told += [f"besides, {one.to} learns {one.what}" for one in self.beyond]
        return [*told, f"withstands: {self.withstands}", f"does not protect against: {self.limits}"]
