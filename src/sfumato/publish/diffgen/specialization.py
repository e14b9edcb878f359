"""The state of a search: the cuts and the partitions as they are, and what they have cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.budget.events import Event, Sequential
from sfumato.budget.purse import Purse
from sfumato.ground.work import Work
from sfumato.group.cut_counts import CutCounts, by_value
from sfumato.publish.diffgen.diffgen_noise import Mechanisms
from sfumato.publish.diffgen.leaf_partitions import Partitions
from sfumato.publish.diffgen.node_column import TreeColumn
from sfumato.publish.diffgen.number_column import NumberColumn
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.diffgen.specialization_scores import Score
from sfumato.publish.diffgen.steps import AnyColumn, Candidate, specialize, specialize_sets
from sfumato.publish.noisy_table import Attribute


@dataclass(slots=True, kw_only=True)
class Search(ABC):
    """What all searches share: candidates, and how one of them is specialized."""

    columns: tuple[AnyColumn, ...]
    """The attributes."""
    parts: Partitions
    """The leaf partitions."""
    classes: int
    """How many classes there are."""
    score: Score
    """By which choices are made."""
    purse: Purse
    """The budget."""
    share: Fraction
    """What one choice costs."""
    most: int
    """The most partitions."""
    mechanisms: Mechanisms
    """Where choices and noise come from."""
    said: list[str] = field(default_factory=list)
    """The specializations in words."""

    def begin(self) -> None:  # noqa: B027  nothing is a good answer
        """Whatever is to be done before the first specialization."""

    @abstractmethod
    def choose(self, candidates: list[Candidate]) -> tuple[Candidate, list[Event]]:
        """Which candidate is to be specialized, and what it cost to find that out."""

    def follow(self, column: int, values: tuple[int, ...]) -> list[Event]:
        """Whatever is to be done about new values."""
        return []

    def run(self, steps: int, work: Work) -> None:
        """Specialize so often, or until nothing is left to specialize."""
        self.begin()
        for step in range(steps):
            work.advance("specializing", step, steps)
            candidates = self.candidates()
            if not candidates:
                break
            at, bought = self.choose(candidates)
            bought = [*bought, *self._specialized(at)]
            if bought:
                self.purse.pay(Sequential(parts=tuple(bought), what=f"specialization {step + 1}: {self.said[-1]}"))

    def candidates(self) -> list[Candidate]:
        """All values of the cuts that can be specialized without too many partitions; public."""
        return [
            Candidate(column=c, value=value)
            for c, column in enumerate(self.columns)
            for value in (column.nodes(self.parts.keys[c]) if isinstance(column, SetColumn) else column.shown)
            if column.is_open(value) and self._fits(c, value)
        ]

    def _fits(self, c: int, value: int) -> bool:
        """Whether any partition has the value and there is room for more; for sets the threshold sees to that."""
        column = self.columns[c]
        if isinstance(column, SetColumn):
            return self.parts.count < self.most
        having = int(self.parts.having(c, value).sum())
        return having > 0 and self.parts.count + having * (column.width(value) - 1) <= self.most

    def _specialized(self, at: Candidate) -> list[Event]:
        """Specialize in all partitions, and say so."""
        column = self.columns[at.column]
        name = column.attribute.name
        if isinstance(column, SetColumn):
            below = ", ".join(column.names[child] for child in column.below(at.value))
            self.said.append(f"{name}: {column.names[at.value]} -> subsets of {below}")
            return [specialize_sets(column, at, self.parts, self.share, self.most, self.mechanisms)]
        values = specialize(column, at, self.parts)
        self.said.append(f"{name}: {column.name(at.value)} -> {', '.join(map(column.name, values))}")
        return self.follow(at.column, values)


def column_of(attribute: Attribute, place: int, walk: CutCounts) -> AnyColumn:
    """An attribute as the search sees it; its place is that of its column in the walk."""
    if attribute.kind == "set":
        assert attribute.tree is not None
        return SetColumn(attribute, attribute.tree, place, walk)
    counts = walk.histogram(by_value(place, len(attribute.values)))[0]
    if attribute.kind == "number":
        return NumberColumn(attribute, counts)
    assert attribute.tree is not None
    return TreeColumn(attribute, attribute.tree, counts)
