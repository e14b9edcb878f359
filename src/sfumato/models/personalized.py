"""Personalized privacy: everybody names the part of the sensitive taxonomy that must not be guessed of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import between, text
from sfumato.core.errors import DataError, ParameterError, listed
from sfumato.counts.classes import Classes
from sfumato.counts.keys import total
from sfumato.counts.tally import Tally
from sfumato.models.model import Verdict, ancestor_paths, explained, one_class, stands

NO_WISH = ("", "*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalizedPrivacy:
    """In every class where somebody guards a node, at most a share of ``p`` has a sensitive value below that node.

    Claim: the chance that a person's class gives for a value in the subtree that they guard is at most ``p``.
    People with several values: at most a share of ``p`` of the people of a class has a value below the node; one who
        has two such values counts once. Each of a person's values states its own wish.
    Source: Xiao and Tao 2006.
    Does not protect against: inferences about people who guard nothing; what guarding itself gives away.

    Example:
        >>> from sfumato.testing.models import classes_of
        >>> table = classes_of({"zip": ["1"] * 3, "ill": ["flu", "cough", "hiv"]}, quasi=["zip"])
        >>> paths = {"flu": ("lung",), "cough": ("lung",), "hiv": ("virus",)}
        >>> verdict = PersonalizedPrivacy(p=0.5, column="ill", paths=paths, guards={"flu": "lung"}).check(table)
        >>> verdict.holds, round(verdict.reached, 3)
        (False, 0.667)
    """

    name: ClassVar[str] = "personalized-privacy"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = False
    """One flu, guarded, and one cut pass p = 1/2; two coughs of people who guard nothing pass; joined, 3/4 are lung."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = False
    """Rows below a guarded node can be added."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""

    p: float
    """The largest chance of a guess below a guarded node."""
    column: str
    """The sensitive column."""
    paths: Mapping[str, tuple[str, ...]]
    """Each sensitive value's ancestors, nearest first."""
    guards: Mapping[str, str] | None = field(default_factory=dict)
    """The node that people with a sensitive value guard, by value; empty or * is no wish.

    None where it is not known who guards what: see ``without_wishes``.
    """
    guard_column: str | None = None
    """The column that holds each person's guarded node, instead of ``guards``; empty, missing or * is no wish."""

    def __post_init__(self) -> None:
        between("p", self.p, 0, 1, open_low=True)
        text("column", self.column)
        ancestor_paths("paths", self.paths)
        if self.guards is not None and not isinstance(self.guards, Mapping):
            raise ParameterError(f"guards must map sensitive values to nodes, not {self.guards!r}")
        for node in (self.guards or {}).values():
            if not isinstance(node, str):
                raise ParameterError(f"guards must map sensitive values to nodes, not to {node!r}")
        if self.guard_column is not None:
            text("guard_column", self.guard_column)
        if (self.guards is None or bool(self.guards)) == (self.guard_column is not None):
            raise ParameterError("exactly one of guards and guard_column must be given")

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column, and the column of the guarded nodes if there is one."""
        return (self.column,) if self.guard_column is None else (self.column, self.guard_column)

    @property
    def wished(self) -> bool:
        """Whether it is known who guards what."""
        return self.guards is not None

    def without_wishes(self, published: Collection[str]) -> PersonalizedPrivacy:
        """The model as readers can judge it: where the column of wishes is not published, without it."""
        hidden = self.guard_column is not None and self.guard_column not in published
        return replace(self, guards=None, guard_column=None) if hidden else self

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by its largest share below a node that somebody in it guards.

        Where wishes are not known, no class can be refuted. What is reached is the largest share within ``p`` below any
        node, so it does not tell who guards what, and the note counts the classes that pass whatever people guard.
        """
        tally = classes.tally(self.column)
        self._refuse_unplaced(tally)
        if not self.wished:
            return self._whatever(classes)
        worst = np.zeros(classes.count)
        for node, guarded in self._guarded(classes):
            share = self.below(classes, node) / classes.sizes
            np.maximum(worst, share, out=worst, where=guarded)
        return Verdict.of(worst, self.p, "at most")

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class; a failure does not rule out finer classes."""
        measurement = f"a share of {{}} of {self.column!r} below a guarded node"
        return explained(
            self.check(one_class(table)),
            requirement=f"p = {self.p:g}",
            measurement=measurement,
            merging=self.kept_by_merging,
        )

    def wishes(self, classes: Classes) -> tuple[str, ...]:
        """The nodes that somebody in the table guards, in order."""
        return tuple(sorted({*self._nodes(classes.tally(self.guard_column or self.column))} - {*NO_WISH}))

    def below(self, classes: Classes, node: str) -> NDArray[np.int64]:
        """For each class, the rows whose value is the node or lies below it; or the people who have such a value."""
        tally = classes.tally(self.column)
        inside = np.array([value == node or node in self.paths.get(value, ()) for value in tally.values], np.bool_)
        if classes.per_person and classes.people is not None:
            return classes.people.taken(inside[classes.people.codes[self.column]]).sizes(classes.count)
        kept = inside[tally.codes]
        return total(tally.owners[kept], tally.counts[kept], tally.classes)

    def _whatever(self, classes: Classes) -> Verdict:
        """The verdict of somebody who does not know the wishes."""
        reached, sure = np.zeros(classes.count), np.ones(classes.count, np.bool_)
        for node in sorted(self._known()):
            share = self.below(classes, node) / classes.sizes
            within = stands(share, self.p, "at most")
            reached = np.where(within, np.maximum(reached, share), reached)
            sure &= within
        note = f"wishes are not published: {int(sure.sum())} of {classes.count} classes meet it whatever people guard"
        return Verdict.of(reached, self.p, "at most", note=note)

    def _known(self) -> set[str]:
        """All nodes, values included."""
        return {*self.paths, *(node for above in self.paths.values() for node in above)}

    def _guarded(self, classes: Classes) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Each guarded node, and in which classes somebody guards it."""
        tally = classes.tally(self.guard_column or self.column)
        nodes = self._nodes(tally)
        unknown = sorted({*nodes, *(self.guards or {}).values()} - self._known() - {*NO_WISH})
        if unknown:
            raise DataError(f"guarded nodes that are in no path of {self.column!r}: {listed(unknown)}")
        for node in sorted({*nodes} - {*NO_WISH}):
            here = np.zeros(classes.count, np.bool_)
            here[tally.owners[np.array([n == node for n in nodes], np.bool_)[tally.codes]]] = True
            yield node, here

    def _nodes(self, tally: Tally) -> list[str]:
        """For each code of the guarding column, the node that a row with it guards, or no wish."""
        if self.guard_column is None:
            return [(self.guards or {}).get(value, "") for value in tally.values]
        seen = np.bincount(tally.codes, minlength=len(tally.values)) > 0
        return [v if seen[code] and code != tally.missing else "" for code, v in enumerate(tally.values)]

    def _refuse_unplaced(self, tally: Tally) -> None:
        codes = np.unique(tally.codes).tolist()
        unplaced = [tally.values[c] for c in codes if c != tally.missing and tally.values[c] not in self.paths]
        if unplaced:
            raise DataError(f"column {self.column!r} has values that are in no path: {listed(unplaced)}")
