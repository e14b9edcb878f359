"""Confidence bounding and divergence bounding: no sensitive value is inferred too surely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import between, one_of, text
from sfumato.core.errors import ParameterError, unknown_column
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct
from sfumato.counts.tally import Tally
from sfumato.models.model import (
    Verdict,
    absent_note,
    ancestor_paths,
    explained,
    one_class,
    stands,
    surest,
    texts,
    top_counts,
)

# Confidence bounding: no sensitive value can be inferred too surely from the columns that a template names.


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """An inference that must not be too sure: from some quasi-identifiers to one sensitive value."""

    quasi: tuple[str, ...] = ()
    """What the adversary knows; none means all quasi-identifiers."""
    column: str
    """The sensitive column."""
    value: str
    """The sensitive value."""
    limit: float
    """The largest share of the value in a group of rows that agree in ``quasi``."""

    def __post_init__(self) -> None:
        texts("quasi", self.quasi)
        text("column", self.column)
        text("value", self.value)
        between("limit", self.limit, 0, 1, open_low=True)

    def __str__(self) -> str:
        known = ", ".join(self.quasi) or "all quasi-identifiers"
        return f"<{known} -> {self.column} = {self.value}, {self.limit:g}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceBounding:
    """For every template, no group of rows that agree in its columns gives its value a share above its limit.

    Claim: whoever knows the columns of a template infers its value with at most its limit as confidence.
    People with several values: the share of the people of a group who have the value, each counted once.
    Source: Wang, Fung, Yu 2007; Fung et al. 2010, section 2.
    Does not protect against: values and columns without a template; singling out rows (there is no k).

    Example:
        >>> from sfumato.testing.models import classes_of
        >>> table = classes_of({"zip": ["1", "1", "2"], "ill": ["flu", "hiv", "hiv"]}, quasi=["zip"])
        >>> rule = Template(quasi=("zip",), column="ill", value="hiv", limit=0.5)
        >>> ConfidenceBounding(templates=(rule,)).check(table).note
        '<zip -> ill = hiv, 0.5>: 1 of 2 groups above the limit'
    """

    name: ClassVar[str] = "confidence-bounding"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """Coarser labels join groups, and a share of a mixture lies between the shares of its parts."""
    kept_by_growth: ClassVar[bool] = False
    """Rows of the value can be added."""

    templates: tuple[Template, ...]
    """The inferences that are bounded."""

    def __post_init__(self) -> None:
        if not isinstance(self.templates, tuple) or not self.templates:
            raise ParameterError(f"templates must be a tuple with at least one Template, not {self.templates!r}")
        for template in self.templates:
            if not isinstance(template, Template):
                raise ParameterError(f"templates must hold Templates only, not {template!r}")

    @property
    def kept_by_removal(self) -> bool:
        """Only where every template groups by all quasi-identifiers: else a removed class may have diluted a group."""
        return not any(template.quasi for template in self.templates)

    @property
    def counts_anew(self) -> bool:
        """Where some template groups the classes by some of their columns."""
        return not self.kept_by_removal

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns, each once."""
        return tuple(dict.fromkeys(template.column for template in self.templates))

    def check(self, classes: Classes) -> Verdict:
        """Judge every template; told is the one that comes nearest to its limit or exceeds it most, as a ratio."""
        verdicts = [_judged(template, classes) for template in self.templates]
        worst = max(verdicts, key=lambda verdict: verdict.reached / verdict.limit)
        failing = np.unique(np.concatenate([verdict.failing for verdict in verdicts]))
        return replace(worst, holds=not len(failing), failing=failing)

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        return explained(self.check(one_class(table)), requirement="the templates", measurement="confidence {}")


def _judged(template: Template, classes: Classes) -> Verdict:
    """The verdict on one template, with the failing classes of the full grouping."""
    tally = classes.tally(template.column)
    ids, count = _groups(template, classes)
    _, share = surest(classes, template.column, (template.value,), ids, count)
    above = ~stands(share, template.limit, "at most")
    return Verdict(
        holds=not above.any(),
        reached=float(share.max()) if count else 0.0,
        limit=float(template.limit),
        sense="at most",
        failing=np.flatnonzero(above[ids]),
        note=_note(template, above) + (f"; {lost}" if (lost := absent_note(tally, (template.value,))) else ""),
    )


def _groups(template: Template, classes: Classes) -> tuple[Ids, int]:
    """The number of each class's group, and how many groups there are."""
    if not template.quasi:
        return np.arange(classes.count, dtype=np.int64), classes.count
    for name in template.quasi:
        if name not in classes.quasi:
            raise unknown_column(name, classes.quasi, where="template")
    places = [classes.quasi.index(name) for name in template.quasi]
    return distinct([classes.keys[c] for c in places], [len(classes.labels[c]) for c in places], classes.count)


def _note(template: Template, above: NDArray[np.bool_]) -> str:
    return f"{template}: {int(above.sum())} of {len(above)} groups above the limit"


# Divergence bounding: no class links its people with a value that is far from their own.


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
        >>> from sfumato.testing.models import classes_of
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
        requirement = f"a confidence below {self.confidence:g}"
        measurement = f"a far value of {self.column!r} with share {{}}"
        return explained(
            self.check(one_class(table)), requirement=requirement, measurement=measurement, merging=self.kept_by_merging
        )

    def _mixed(self, tally: Tally) -> NDArray[np.bool_]:
        """Which classes have rows of more than one branch."""
        branch = [(self.paths.get(value) or (value,))[-1] for value in tally.values]
        number = {name: place for place, name in enumerate(dict.fromkeys(branch))}
        codes = np.array([number[name] for name in branch], np.int64)[tally.codes]
        low, high = np.full(tally.classes, len(number)), np.full(tally.classes, -1)
        np.minimum.at(low, tally.owners, codes)
        np.maximum.at(high, tally.owners, codes)
        return np.asarray(low < high)
