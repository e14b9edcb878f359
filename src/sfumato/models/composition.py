"""Models made of models: several at once, or one that judges people instead of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from sfumato.core.errors import ParameterError
from sfumato.counts.classes import Classes, People
from sfumato.models.model import Model, Verdict

# Several models at once.


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
        decisive = verdicts[place]
        note = f"{self.models[place].name}: {decisive.note}" if decisive.note else self.models[place].name
        failing = np.unique(np.concatenate([verdict.failing for verdict in verdicts]))
        return replace(decisive, holds=not len(failing), failing=failing, note=note)


# A model that judges people, where a person can have several rows: the laws that it keeps then.


@dataclass(frozen=True, slots=True, kw_only=True)
class PerPerson:
    """A model for a search over classes whose people are counted (``Classes.people``).

    ``judge`` turns rows into people; this record tells a search what it may rely on. Where nobody has rows in two
    cells, people add up like rows, and the laws hold but for models that several values of a person break
    (``merges_several``). Otherwise two classes in which half of the people have a value can make one in which two
    thirds have it: only what growth keeps is kept by merging. And growth keeps a model about sensitive values only
    where everyone has one value: a further row can give the last person a value that all others have.
    """

    model: Model
    """The model."""
    apart: bool
    """Whether nobody has rows in two cells."""
    several: bool = True
    """Whether someone has two values of a column that the model looks at."""

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def kept_by_merging(self) -> bool:
        """As the model, where people add up or more rows cannot harm."""
        additive = self.apart and (not self.several or getattr(self.model, "merges_several", True))
        return self.model.kept_by_merging and (additive or self.kept_by_growth)

    @property
    def kept_by_removal(self) -> bool:
        """As the model: classes are judged by their own people."""
        return self.model.kept_by_removal

    @property
    def kept_by_growth(self) -> bool:
        """As the model, where a further row cannot give a person a further value."""
        return self.model.kept_by_growth and not self.several

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at."""
        return self.model.columns

    @property
    def counts_anew(self) -> bool:
        """As the model."""
        return self.model.counts_anew

    @property
    def guard_column(self) -> str | None:
        """The column of wishes that the model reads, if it does."""
        column: str | None = getattr(self.model, "guard_column", None)
        return column

    def check(self, classes: Classes) -> Verdict:
        """Judge people."""
        return self.model.check(classes.by_people())

    def reachable(self, table: Classes) -> Verdict:
        """Judge the people of the table as one class."""
        verdict = self.model.reachable(table.by_people())
        return replace(verdict, note=verdict.note.replace(" rows", " people"))


def per_person(models: Iterable[Model], people: People) -> tuple[Model, ...]:
    """Models as a search needs them that counts people."""
    apart, several = people.apart, {name for name in people.codes if people.has_several(name)}
    return tuple(
        cast("Model", PerPerson(model=model, apart=apart, several=not several.isdisjoint(model.columns)))
        for model in models
    )
