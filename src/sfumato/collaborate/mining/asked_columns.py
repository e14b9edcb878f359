"""What a session file says of columns: their declared domains, which nobody takes from a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.describe.domains import Categories, Domain, Numbers
from sfumato.ground.errors import ParameterError, listed, nearest
from sfumato.mine.edge_labels import Attribute

_RANGE = ("low", "high", "grid")


def refuse_strange(tree: Mapping[str, Any], known: Iterable[str], where: str = "parameters") -> None:
    """Refuse a key that a protocol does not know."""
    names = list(known)
    for key in tree:
        if key not in names:
            raise ParameterError(f"{where}.{key} is not known{nearest(key, names)} Known are {listed(names)}")


def read_domains(tree: Mapping[str, Any], key: str = "columns") -> dict[str, Domain]:
    """The columns of a session file: a list of texts, or a range with the width of its grid.

    >>> read_domains({"columns": {"ward": ["A", "B"], "age": {"low": 0, "high": 100, "grid": 5}}})["age"].grid
    5
    """
    columns = tree.get(key)
    if not isinstance(columns, Mapping) or not columns:
        raise ParameterError(
            f'parameters.{key} must name columns, such as ward = ["A", "B"], or age = {{ low = 0, high = 9, grid = 1 }}'
        )
    return {name: _domain(said, f"parameters.{key}.{name}") for name, said in columns.items()}


def _domain(said: Any, where: str) -> Domain:
    if isinstance(said, Mapping):
        refuse_strange(said, _RANGE, where)
        for one in _RANGE:
            if not isinstance(said.get(one), int | float) or isinstance(said.get(one), bool):
                raise ParameterError(f"{where}.{one} must be a number, not {said.get(one)!r}")
        try:
            return Numbers(**said)
        except ParameterError as error:
            raise ParameterError(f"{where}: {error}") from None
    if not isinstance(said, list) or not said or not all(isinstance(one, str) for one in said):
        raise ParameterError(f"{where} must be a list of texts, or a range with low, high and grid, not {said!r}")
    if len(set(said)) < len(said):
        raise ParameterError(f"{where} names a value twice")
    return Categories(values=tuple(said))


def categories(domains: Mapping[str, Domain], name: str, where: str) -> Categories:
    """The declared values of a column that must have such."""
    found = domains.get(name)
    if not isinstance(found, Categories):
        raise ParameterError(f"{where} must be one of parameters.columns that lists its values, not {name!r}")
    return found


def attributes_of(domains: Mapping[str, Domain], target: str) -> tuple[Attribute, ...]:
    """Every column but the target, as learners know it."""
    return tuple(
        Attribute(name=name, domain=domain, declared=True) for name, domain in domains.items() if name != target
    )
