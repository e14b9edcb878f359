"""Published trees, ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.attacks.frame.trials import Finding
from sfumato.mine.tree_document import TreeDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimShown:
    """One claim in words."""

    title: str
    """The model with its parameters."""
    means: str
    """What it says."""
    reached: str
    """How far it is met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeShown:
    """One step of the pruning; for the steward alone."""

    tree: int
    """Of which tree."""
    parts: tuple[str, str]
    """The two labels."""
    before: tuple[str, str]
    """What both said."""
    after: str
    """What the new leaf says."""
    why: str
    """By which rule the sibling was chosen."""
    pruned: int
    """How many leaves lay below the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFacts:
    """One release of trees."""

    made: str
    """The day it was made."""
    version: str
    """The version of sfumato."""
    marks: tuple[str, ...]
    """Warnings that belong on the first screen."""
    target: str
    """The class column."""
    trees: tuple[TreeDocument, ...]
    """The trees that are drawn."""
    rules: tuple[tuple[str, ...], ...]
    """Of rules: what each document says, line by line."""
    records: int
    """How many records a tree holds."""
    leaves: int
    """Of all trees."""
    claims: tuple[ClaimShown, ...]
    """What is claimed."""
    attributes: tuple[tuple[str, str, bool], ...]
    """What trees may ask for: name, domain, and whether it was declared."""
    told: str
    """counts or hits."""
    algorithm: str
    """Which algorithm."""
    why: str
    """Why that one."""
    noise: tuple[str, float] | None
    """The law and scale of the noise of a count, where there is any."""
    paid: bool
    """Whether a ledger paid for it."""
    findings: tuple[Finding, ...]
    """What attacks found."""
    skipped: Mapping[str, str]
    """The attacks that were not made."""
    inside: bool = False
    """Whether the page is the steward's own."""
    merges: tuple[MergeShown, ...] = ()
    """Inside: what was pruned."""
    pruned: tuple[tuple[int, int, int], ...] = ()
    """Inside: for each tree the leaves that were learnt, those that failed, and those that are left."""
    dropped: tuple[int, int, int] = (0, 0, 0)
    """Inside: rows left out, trees of which nothing was left, and trees that would have broken the claim together."""
