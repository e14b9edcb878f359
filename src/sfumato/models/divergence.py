"""Divergence bounding: no class links its people with a value that is far from their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.arguments import between, one_of, text
from sfumato.ground.errors import ParameterError
from sfumato.group.classes import Classes
from sfumato.group.tally import Tally
from sfumato.models.laws import ancestor_paths, explained, top_counts
from sfumato.models.verdict import Verdict, one_class

Far = Literal["value", "branch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergenceBounding:
    """In no class a value of ``column`` that is far from somebody's own has a share of ``confidence`` or more.

    Claim: whoever finds a person's class and believes what a share of ``confidence`` of its rows say links the person
        with no value that is far from their own. Far is any other value, or one in another branch right below the
        top of the declared tree (``far`` and ``paths``). A missing value is a branch of its own.
    How: in a class whose rows are all of one branch nothing is far from anybody; in any other class every value is far
        from somebody. So a class passes where it has one branch, or where its most frequent value is rarer.
    People with several values: a class passes where all values of its people are of one branch, or where the most
        frequent value is had by a smaller share of them.
    Source: the divergence breach, 002 section 2.1.
    Does not protect against: learning the value itself. A class of one value passes; ask for l-diversity beside it, or
        for k-anonymity where rows must not be found.

    Example:
        >>> from sfumato.testing.model_kit import classes_of
        >>> table = classes_of({"zip": ["1", "1"], "ill": ["gastritis", "stomach cancer"]}, quasi=["zip"])
        >>> DivergenceBounding(confidence=0.5, column="ill").check(table).holds
        False
        >>> one = {"gastritis": ("stomach",), "stomach cancer": ("stomach",)}
        >>> DivergenceBounding(confidence=0.5, column="ill", far="branch", paths=one).check(table).holds
        True
    """

    name: ClassVar[str] = "divergence-bounding"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = False
    """A class of gastritis and a class of cancer pass; joined, everybody is linked with both."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = False
    """A row of another branch can be added to a class of one value."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""

    confidence: float
    """From this share on somebody believes it."""
    column: str
    """The sensitive column."""
    far: Far = "value"
    """What is far from a value: every other value, or only values of another branch."""
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For branches, each value's ancestors, nearest first, without the root."""

    def __post_init__(self) -> None:
        between("confidence", self.confidence, 0, 1, open_low=True)
        text("column", self.column)
        one_of("far", self.far, get_args(Far))
        ancestor_paths("paths", self.paths)
        if bool(self.paths) != (self.far == "branch"):
            raise ParameterError("paths must be given when far is branch, and only then")

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by the largest share of a value that is far from somebody in it."""
        tally = classes.tally(self.column)
        share = np.where(self._mixed(tally), top_counts(tally) / classes.sizes, 0.0)
        return Verdict.of(share, self.confidence, "below")

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class; a failure does not rule out finer classes."""
        asked = f"a confidence below {self.confidence:g}"
        found = f"a far value of {self.column!r} with share {{}}"
        return explained(self.check(one_class(table)), asked=asked, found=found, merging=self.kept_by_merging)

    def _mixed(self, tally: Tally) -> NDArray[np.bool_]:
        """Which classes have rows of more than one branch."""
        branch = [(self.paths.get(value) or (value,))[-1] for value in tally.values]
        number = {name: place for place, name in enumerate(dict.fromkeys(branch))}
        codes = np.array([number[name] for name in branch], np.int64)[tally.codes]
        low, high = np.full(tally.classes, len(number)), np.full(tally.classes, -1)
        np.minimum.at(low, tally.owners, codes)
        np.maximum.at(high, tally.owners, codes)
        return np.asarray(low < high)
