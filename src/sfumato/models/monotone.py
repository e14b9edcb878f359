"""Stricter forms of models that joining classes can break: what a search may join, and the model still holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from sfumato.counts.classes import Classes
from sfumato.models.e_m_anonymity import EMAnonymity
from sfumato.models.model import Model, Verdict, explained, one_class
from sfumato.models.personalized import PersonalizedPrivacy


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steady:
    """Shares in a joined class lie between those of its parts: joining keeps a limit on them."""

    kept_by_merging: ClassVar[bool] = True
    kept_by_removal: ClassVar[bool] = True
    kept_by_growth: ClassVar[bool] = False
    counts_anew: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NearAnything(_Steady):
    """In every class at most 1 / m of the rows lie near any one value of the table, in the class or not.

    Claim: (e, m)-anonymity, and it stays when classes are joined. A person with two near values counts twice here.
    """

    model: EMAnonymity
    """What follows from it."""

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return self.model.columns

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by the largest share of its rows near some value of the table."""
        tally = classes.tally(self.model.column)
        low, high, order = self.model.windows(tally)
        near = np.zeros(classes.count, np.int64)
        for where, counts in tally.blocks():
            upto = np.pad(np.cumsum(counts[:, order], axis=1), ((0, 0), (1, 0)))
            near[where] = (upto[:, high] - upto[:, low]).max(axis=1, initial=0)
        return Verdict.of(near / classes.sizes, 1 / self.model.m, "at most")

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class; a failure rules out this form, and not the model."""
        requirement, measurement = f"e = {self.model.e:g}, m = {self.model.m:g}", "a share of {} near one value"
        return explained(self.check(one_class(table)), requirement=requirement, measurement=measurement, merging=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedEverywhere(_Steady):
    """In every class at most a share of p lies below any node that somebody in the table guards, in the class or not.

    Claim: personalized privacy, and it stays when classes are joined.
    """

    model: PersonalizedPrivacy
    """What follows from it."""
    nodes: tuple[str, ...]
    """The nodes that somebody guards."""

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.model.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by its largest share below a guarded node."""
        worst = np.zeros(classes.count)
        for node in self.nodes:
            np.maximum(worst, self.model.below(classes, node) / classes.sizes, out=worst)
        return Verdict.of(worst, self.model.p, "at most")

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class; a failure rules out this form, and not the model."""
        measurement = f"a share of {{}} of {self.model.column!r} below a guarded node"
        return explained(
            self.check(one_class(table)), requirement=f"p = {self.model.p:g}", measurement=measurement, merging=False
        )


MENDED = (EMAnonymity, PersonalizedPrivacy)
"""The models that joining can break, and that have a steady form."""


def steady(model: Model, table: Classes) -> Model:
    """A model that joining keeps, and from which the given one follows; the given one if joining keeps it already."""
    if isinstance(model, EMAnonymity):
        return cast("Model", NearAnything(model=model))
    if isinstance(model, PersonalizedPrivacy):
        return cast("Model", GuardedEverywhere(model=model, nodes=model.wishes(table)))
    return model
