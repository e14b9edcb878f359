"""The refusal of more combinations than memory holds: how many there are, which columns make them, what would help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from sqlglot import exp

from sfumato.engines import statements as sql
from sfumato.engines.engine import Engine
from sfumato.ground.errors import DataError, listed


def refuse_many(engine: Engine, rows: exp.Query, names: Sequence[str], most: int, source: str) -> NoReturn:
    """Say how many combinations of some columns there are, and how many each column is responsible for."""

    def many(some: Sequence[str]) -> int:
        return int(engine.ask(sql.combinations(rows, some))["n"][0])

    if len(names) == 1:
        raise DataError(
            f"{source}, column {names[0]!r}: {many(names):,} different values; at most {most:,} are counted: round or "
            "cut them in the table or in input.query, or drop the column"
        )
    fewer = sorted((many([n for n in names if n != name]), name) for name in names)
    told = ", ".join(f"{rest:,} without {name!r}" for rest, name in fewer[:3])
    raise DataError(
        f"{source}: {many(names):,} combinations of {listed(names)}; at most {most:,} are counted, and there would be "
        f"{told}. Let the count begin at a coarser level of such a column's hierarchy (base = 1 in "
        f"[columns.{fewer[0][1]}]), round or cut it in the table or in input.query, or drop it"
    )
