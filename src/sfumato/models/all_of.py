"""Several models at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.ground.errors import ParameterError
from sfumato.group.classes import Classes
from sfumato.models.verdict import Model, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """Every one of the models holds.

    Claim: what each of them claims, and a law only where all of them have it.
    Does not protect against: what none of them protects against.
    """

    name: ClassVar[str] = "all-of"
    """As the catalog lists it."""

    models: tuple[Model, ...]
    """The models, at least one."""

    def __post_init__(self) -> None:
        if not isinstance(self.models, tuple) or not self.models:
            raise ParameterError(f"models must be a tuple with at least one model, not {self.models!r}")
        for model in self.models:
            if not callable(getattr(model, "check", None)):
                raise ParameterError(f"models must hold privacy models only, not {model!r}")

    @property
    def kept_by_merging(self) -> bool:
        """Whether joining classes can break none of them."""
        return all(model.kept_by_merging for model in self.models)

    @property
    def kept_by_removal(self) -> bool:
        """Whether taking whole classes out can break none of them."""
        return all(model.kept_by_removal for model in self.models)

    @property
    def kept_by_growth(self) -> bool:
        """Whether adding rows to a class can break none of them."""
        return all(model.kept_by_growth for model in self.models)

    @property
    def counts_anew(self) -> bool:
        """Whether any of them regroups the classes."""
        return any(model.counts_anew for model in self.models)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns of all of them, each once."""
        return tuple(dict.fromkeys(column for model in self.models for column in model.columns))

    def check(self, classes: Classes) -> Verdict:
        """The first verdict that fails, else the last, with the classes that fail any of them."""
        return self._joined([model.check(classes) for model in self.models])

    def reachable(self, table: Classes) -> Verdict:
        """The first model that fails on the table as one class, else the last."""
        return self._joined([model.reachable(table) for model in self.models])

    def _joined(self, verdicts: Sequence[Verdict]) -> Verdict:
        place = next((i for i, verdict in enumerate(verdicts) if not verdict.holds), len(verdicts) - 1)
        told = verdicts[place]
        note = f"{self.models[place].name}: {told.note}" if told.note else self.models[place].name
        failing = np.unique(np.concatenate([verdict.failing for verdict in verdicts]))
        return replace(told, holds=not len(failing), failing=failing, note=note)
