"""What a plan's [frontier] table says: which algorithms, parameters and metrics are compared, and for how long."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sfumato.ground.errors import PlanError, listed
from sfumato.ground.strict_toml import read_toml
from sfumato.workflow.plan.plan_table import Keys

Tree = Mapping[str, Any]
Grid = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPlan:
    """What is compared; nothing said means a choice that fits the plan."""

    algorithms: tuple[Tree, ...] = ()
    """Tables like [algorithm]: a name, and options."""
    metrics: tuple[str, ...] = ()
    """The axes of utility."""
    attacks: tuple[str, ...] = ()
    """Attacks whose gain over guessing is an axis of privacy."""
    seconds: float | None = None
    """How long points may be begun."""
    jobs: int | None = None
    """How many processes work at once."""
    grid: Grid = field(default_factory=dict)
    """Key paths of the plan, and the values that each takes."""

    @classmethod
    def of(cls, keys: Keys) -> FrontierPlan:
        """Read the table; whether its names are known is asked when it is used."""
        keys.only("algorithms", "metrics", "attacks", "seconds", "jobs", "grid")
        seconds, jobs = keys.number("seconds"), keys.whole("jobs")
        if seconds is not None and not seconds > 0:
            raise PlanError(f"{keys.at('seconds')} must be above 0, not {seconds}")
        if jobs is not None and jobs < 1:
            raise PlanError(f"{keys.at('jobs')} must be at least 1, not {jobs}")
        grid = Keys.of(keys.table.get("grid", {}), keys.at("grid"))
        return cls(
            algorithms=_algorithms(keys),
            metrics=_once(keys.texts("metrics"), keys.at("metrics")),
            attacks=_once(keys.texts("attacks"), keys.at("attacks")),
            seconds=seconds,
            jobs=jobs,
            grid=dict(pair for key, value in grid.table.items() for pair in _lists(key, value, grid.at(key))),
        )

    def changed(
        self,
        *,
        algorithms: str | None = None,
        grid: Sequence[str] = (),
        seconds: float | None = None,
        jobs: int | None = None,
    ) -> FrontierPlan:
        """With what the command line says instead."""
        tree: dict[str, Any] = {
            "algorithms": list(self.algorithms),
            "metrics": list(self.metrics),
            "attacks": list(self.attacks),
        }
        if algorithms is not None:
            tree["algorithms"] = [name.strip() for name in algorithms.split(",") if name.strip()]
            if not tree["algorithms"]:
                raise PlanError(f"--algorithms {algorithms}: no algorithm is named; use --algorithms optimal,mondrian")
        given = {"seconds": self.seconds if seconds is None else seconds, "jobs": self.jobs if jobs is None else jobs}
        made = FrontierPlan.of(Keys.of(tree | {k: v for k, v in given.items() if v is not None}, "frontier"))
        return replace(made, grid={**self.grid, **dict(map(_spoken, grid))})


def _algorithms(keys: Keys) -> tuple[Tree, ...]:
    value = keys.table.get("algorithms", ())
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise PlanError(f"{keys.at('algorithms')} must be a list of names or tables, not {value!r}")
    found = [_algorithm(item, f"{keys.at('algorithms')}[{place}]") for place, item in enumerate(value)]
    for place, item in enumerate(found):
        if item in found[:place]:
            raise PlanError(f"{keys.at('algorithms')}[{place}]: {item['name']!r} is listed twice")
    return tuple(found)


def _algorithm(item: Any, where: str) -> Tree:
    if isinstance(item, str):
        return {"name": item}
    inner = Keys.of(item, where)
    inner.required_text("name")
    return inner.table


def _lists(key: str, value: Any, where: str) -> list[tuple[str, tuple[Any, ...]]]:
    """A key path with its values; TOML tables stand for the keys inside them."""
    if isinstance(value, Mapping):
        return [pair for inner, item in value.items() for pair in _lists(f"{key}.{inner}", item, f"{where}.{inner}")]
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise PlanError(f"{where} must be a list of values, not {value!r}")
    if not value:
        raise PlanError(f"{where} must not be empty; list the values that the key takes")
    return [(key, _once(tuple(value), where))]


def _once(values: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    """The values, none of them twice."""
    for place, value in enumerate(values):
        if value in values[:place]:
            raise PlanError(f"{where}: {value!r} is listed twice")
    return values


def _spoken(text: str) -> tuple[str, tuple[Any, ...]]:
    """A key path and its values from ``key.path=value,value``; what is not TOML is text."""
    key, mark, values = text.partition("=")
    if not mark or not key.strip() or not values.strip():
        raise PlanError(f"--grid {text}: must look like privacy.k_anonymity=2,5,10")
    try:
        found = read_toml(f"values = [{values}]")["values"]
    except tomllib.TOMLDecodeError:
        found = [_value(part.strip()) for part in values.split(",")]
    except ValueError as error:
        raise PlanError(f"--grid {key.strip()}: {error}") from None
    if not found:
        raise PlanError(f"--grid {text}: names no value; it must look like privacy.k_anonymity={listed([2, 5])}")
    return key.strip(), _once(tuple(found), f"--grid {key.strip()}")


def _value(text: str) -> Any:
    try:
        return read_toml(f"value = {text}")["value"]
    except ValueError:
        return text
