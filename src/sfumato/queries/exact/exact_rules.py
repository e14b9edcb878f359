"""The rules of exact answers: which column is audited, what is public, who talks to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sfumato.ground.errors import ParameterError, listed
from sfumato.queries.conditions import columns_of
from sfumato.queries.exact.exact_sql import ExactQuestion
from sfumato.queries.exact.width_rule import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRules:
    """What a log was begun with."""

    values: tuple[str, ...]
    """The audited columns: nobody's number may follow from answers."""
    public: tuple[str, ...]
    """The columns that conditions and groups may use: analysts may know them of everybody."""
    k: int = 2
    """No sum of fewer people may follow either."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Analysts who talk to each other, group by group; without groups, everybody talks to everybody."""
    width: Mapping[str, Span] = field(default_factory=dict)
    """For some audited columns: bounds, and how closely nobody's value may be known."""

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError("values must name at least one column whose numbers are audited")
        both = sorted({*self.values} & {*self.public})
        if both:
            raise ParameterError(f"public must not hold audited columns, and holds {listed(both)}")
        if self.k < 2:
            raise ParameterError(f"k must be at least 2, not {self.k}")
        names = [name for group in self.groups for name in group]
        if len(set(names)) < len(names) or not all(self.groups):
            raise ParameterError("groups must hold every analyst once, and none may be empty")
        if unknown := sorted({*self.width} - {*self.values}):
            raise ParameterError(f"width must be about audited columns, and is about {listed(unknown)}")

    def to_json(self) -> dict[str, Any]:
        """As the log holds them."""
        return {
            "values": list(self.values),
            "public": sorted(self.public),
            "k": self.k,
            "groups": [sorted(group) for group in self.groups],
            "width": {name: asdict(span) for name, span in sorted(self.width.items())},
        }

    def group_of(self, analyst: str) -> int:
        """Whose history an analyst shares."""
        if not self.groups:
            return 0
        for place, group in enumerate(self.groups):
            if analyst in group:
                return place
        raise ParameterError(f"analyst {analyst!r} is in no group; the groups hold {listed(sum(self.groups, ()))}")

    def refuse(self, question: ExactQuestion) -> None:
        """Refuse conditions on columns that are not public, and figures of columns that are not audited."""
        for name in (*question.by, *columns_of(question.where)):
            if name not in self.public:
                raise ParameterError(
                    f"{name!r} is not public: a condition on it would tell of its values. Public are "
                    f"{listed(self.public, most=30)}"
                )
        for figure in question.figures:
            if figure.column is not None and figure.column not in self.values:
                raise ParameterError(
                    f"{figure.name}: {figure.column!r} is not audited, so no exact figure is given of it. Audited are "
                    f"{listed(self.values)}"
                )
