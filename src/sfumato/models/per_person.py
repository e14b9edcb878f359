"""A model that judges people, where a person can have several rows: the laws that it keeps then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

from sfumato.group.classes import Classes
from sfumato.group.people import People
from sfumato.models.verdict import Model, Verdict


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
        found: str | None = getattr(self.model, "guard_column", None)
        return found

    def check(self, classes: Classes) -> Verdict:
        """Judge people."""
        return self.model.check(classes.by_people())

    def reachable(self, table: Classes) -> Verdict:
        """Judge the people of the table as one class."""
        found = self.model.reachable(table.by_people())
        return replace(found, note=found.note.replace(" rows", " people"))


def per_person(models: Iterable[Model], people: People) -> tuple[Model, ...]:
    """Models as a search needs them that counts people."""
    apart, several = people.apart, {name for name in people.codes if people.has_several(name)}
    return tuple(
        cast("Model", PerPerson(model=model, apart=apart, several=not several.isdisjoint(model.columns)))
        for model in models
    )
