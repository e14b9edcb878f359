"""The points of a frontier: every algorithm with every combination of the grid's values, each a plan of its own."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import prod
from typing import Any

from sfumato.ground.errors import ParameterError, PlanError
from sfumato.workflow.frontier.grid_checks import check_algorithms, check_grid, check_metrics
from sfumato.workflow.kinds import kind_of
from sfumato.workflow.plan.column_plan import ColumnPlan
from sfumato.workflow.plan.frontier_plan import Tree
from sfumato.workflow.plan.plan import Plan, put
from sfumato.workflow.profile.draft import toml

MOST_POINTS = 10_000
"""More would hardly be looked at."""
_OF_COLUMNS = ("type", "hierarchy", "pseudonym", "format", "pivot", "shift")
_SHARED = ("max_suppressed", "suppressed", "exempt_suppressed", "seconds", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One release that could be made."""

    number: int
    """Its place in the product, from 1; the same for the same algorithms and grid."""
    algorithm: Tree
    """The algorithm's name and options."""
    parameters: Tree
    """The grid's keys with the values that they have here."""
    tree: Tree
    """The whole plan."""

    @property
    def series(self) -> str:
        """The algorithm in words.

        >>> Point(number=1, algorithm={"name": "mondrian", "output": "boxes"}, parameters={}, tree={}).series
        'mondrian (output = boxes)'
        """
        options = [f"{key} = {shown(value)}" for key, value in self.algorithm.items() if key != "name"]
        return f"{self.algorithm['name']} ({', '.join(options)})" if options else str(self.algorithm["name"])


def points(plan: Plan) -> tuple[Point, ...]:
    """All points of the plan's frontier, in the order of the product; whatever cannot be meant is refused here."""
    comparison = kind_of(plan).comparison(plan)
    tree, grid = tree_of(plan), plan.frontier.grid or comparison.grid(plan)
    algorithms = plan.frontier.algorithms or comparison.algorithms(plan)
    many = len(algorithms) * prod(len(values) for values in grid.values())
    if many > MOST_POINTS:
        raise PlanError(f"frontier.grid: {many:,} points are more than {MOST_POINTS:,}; name fewer values")
    attack = comparison.attack(plan)
    bases = [{**tree, "algorithm": _algorithm(plan, one), "attack": attack} for one in algorithms]
    check_metrics(plan)
    check_algorithms(bases, plan.folder)
    check_grid(bases, grid, plan.folder)
    found: list[Point] = []
    for algorithm, base in zip(algorithms, bases, strict=True):
        for values in product(*grid.values()):
            chosen = dict(zip(grid, values, strict=True))
            changed = with_values(base, chosen)
            found.append(Point(number=len(found) + 1, algorithm=algorithm, parameters=chosen, tree=changed))
    return tuple(found)


def numbered(every: Sequence[Point], number: int) -> Point:
    """The point of a number, or a refusal."""
    if not 1 <= number <= len(every):
        raise ParameterError(f"point {number}: the points are numbered from 1 to {len(every)}")
    return every[number - 1]


def default_algorithms(plan: Plan) -> tuple[Tree, ...]:
    """The plan's own algorithm, and some that work differently."""
    return kind_of(plan).comparison(plan).algorithms(plan)


def with_values(tree: Tree, values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a plan's tree with some keys set."""
    changed: dict[str, Any] = copy.deepcopy(dict(tree))
    for key, value in values.items():
        put(changed, key, value, where=f'frontier.grid."{key}"')
    return changed


def shown(value: Any) -> str:
    """A value as a person reads it: texts without quotes."""
    return value if isinstance(value, str) else toml(value)


def tree_of(plan: Plan) -> dict[str, Any]:
    """The plan as nested tables, without its frontier: ``Plan.parse`` of it gives the same plan again."""
    columns = {
        name: {
            "role": str(c.role),
            **_said({key: getattr(c, key) for key in _OF_COLUMNS}),
            **_declared(c),
        }
        for name, c in plan.columns.items()
    }
    algorithm = {key: getattr(plan.algorithm, key) for key in ("name", *_SHARED)}
    return {
        "input": {k: list(v) if isinstance(v, tuple) else v for k, v in _said(asdict(plan.input)).items()},
        "columns": columns,
        "privacy": {key: value for key, value in plan.privacy.items() if key not in ("ledger", "analyst")},
        "utility": _said({"metric": plan.metric, "learner": plan.learner}),
        "algorithm": {**_said(algorithm), **plan.algorithm.options},
        "output": _said({"format": plan.format}),
    }


def _algorithm(plan: Plan, named: Tree) -> dict[str, Any]:
    """The [algorithm] table of a point: what holds for all, the plan's options for its own algorithm, and its own."""
    own = tree_of(plan)["algorithm"]
    options = plan.algorithm.options if set(named) == {"name"} and named["name"] == plan.algorithm.name else {}
    return {**{key: own[key] for key in _SHARED if key in own}, **options, **named}


def _declared(column: ColumnPlan) -> dict[str, Any]:
    """What a column declares beside its hierarchy."""
    values = {"values": list(column.values)} if column.values else {}
    return values | ({"separator": column.separator} if column.separator != "|" else {})


def _said(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}
