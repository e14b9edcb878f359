"""The sections [input] and [algorithm] of a plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, cast

from sfumato.ground.errors import PlanError
from sfumato.workflow.plan.plan_table import Keys

Tree = Mapping[str, Any]
ENGINES = ("duckdb", "postgresql", "spark")
"""The programs that rows can stay in."""
Engine = Literal["duckdb", "postgresql", "spark"]
SQLITE = (".sqlite", ".sqlite3", ".db")
"""The ends of names of SQLite files."""
_ALTERNATIVES = 3.0
_SECRET = ("password", "passwd", "user", "token", "dsn", "uri", "url")
_ONLY = {"database": ("duckdb",), "memory": ("duckdb",), "connection": ("postgresql", "spark")}
"""The keys that not every engine has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPlan:
    """Where the table comes from and how its cells are read."""

    path: str | None = None
    """The file; may instead be named on the command line or be a frame. With an engine also a folder or a pattern."""
    engine: Engine | None = None
    """The program that counts and recodes the rows where they are; without one the file is read into memory."""
    connection: str | None = None
    """The environment variable that holds the address of the engine, which is never written down."""
    database: str | None = None
    """The engine's own file, which has the table."""
    table: str | None = None
    """The table in the database, or in a SQLite file."""
    query: str | None = None
    """A SELECT that gives the rows, in place of a table; of an engine, or of a SQLite file as ``path``."""
    memory: str | None = None
    """The most memory that the engine takes, such as 4GB; it goes on on disk. When absent, what the engine chooses."""
    delimiter: str | None = None
    """The separator of a text file; found out when absent."""
    quote: str = '"'
    """The quoting mark of a text file."""
    encoding: str = "utf-8"
    """The encoding of a text file."""
    header: bool = True
    """Whether the first line names the columns."""
    names: tuple[str, ...] = ()
    """The columns' names where the file has none, or instead of its own."""
    trim: bool = False
    """Whether blanks around cells are cut."""
    sheet: str | int | None = None
    """The sheet of a workbook, by its name or its number from 1 on; without one, the only sheet that has cells."""
    labels: bool = True
    """Whether columns of SPSS and Stata show the labels of their codes, where every code has one of its own."""
    missing: tuple[str, ...] = ()
    """The texts that mean a missing value."""
    on_missing: Literal["keep", "drop"] = "keep"
    """Whether rows with a missing quasi-identifier, sensitive or target value stay."""
    population: str | None = None
    """The file of the population that the table is a part of, for delta-presence and k-map."""
    unit: str | None = None
    """The column that tells people apart, where one person can have several rows: people are counted, not rows."""
    weight: str | None = None
    """The column of sampling weights: for how many people of the population a row stands. Models still count rows."""
    rows_per_unit: int = 1
    """Under differential privacy, the most rows that one person contributes; the others are left out at random."""

    def __post_init__(self) -> None:
        """Refuse a bound that leaves nothing."""
        if self.rows_per_unit < 1:
            raise PlanError(f"input.rows_per_unit must be at least 1, not {self.rows_per_unit}")
        if self.rows_per_unit > 1 and self.unit is None:
            raise PlanError("input.rows_per_unit goes with input.unit, the column that tells people apart")
        if self.weight is not None:
            beside = next((k for k in ("unit", "population", "engine") if getattr(self, k) is not None), None)
            if beside is not None:
                raise PlanError(
                    f"input.weight does not go with input.{beside}: the population behind rows is estimated from their "
                    "weights; keep one of them"
                )
        self._check_engine()

    def _check_engine(self) -> None:
        """Refuse what an engine cannot be asked, and what only an engine can be."""
        said = [key for key in (*_ONLY, "table", "query") if getattr(self, key) is not None]
        if self.engine is None:
            if said and not self._in_sqlite(said):
                raise PlanError(
                    f'input.{said[0]} goes with input.engine, for example engine = "duckdb", or with a SQLite file as '
                    "input.path (table or query)"
                )
            return
        places = [key for key in ("path", "table", "query") if getattr(self, key) is not None]
        if len(places) > 1:
            raise PlanError(f"input.{places[0]} and input.{places[1]} both say where the rows are; keep one of them")
        for key in said:
            if self.engine not in _ONLY.get(key, ENGINES):
                raise PlanError(f"input.{key} goes with engine = {' or '.join(_ONLY[key])}, not {self.engine}")
        self._check_place(said)
        if self.memory is not None and not re.fullmatch(r"[1-9]\d{0,6} ?[KMGT]i?B", self.memory):
            raise PlanError(f'input.memory must be an amount such as "512MB" or "4GB", not {self.memory!r}')
        if self.encoding.lower() not in ("utf-8", "utf8"):
            raise PlanError(
                f"input.encoding: {self.engine} reads UTF-8 only; write the file so, or leave input.engine out"
            )

    def _in_sqlite(self, said: list[str]) -> bool:
        """Whether one query or table of a SQLite file is asked for."""
        return said in (["table"], ["query"]) and (self.path or "").lower().endswith(SQLITE)

    def _check_place(self, said: list[str]) -> None:
        """Refuse tables without a place, places without a table, and addresses."""
        named = "table" in said or "query" in said
        if self.engine == "duckdb" and named != ("database" in said):
            raise PlanError("input.database goes with input.table or input.query: the file, and what is read of it")
        if self.database is not None and (":" in self.database[2:] or self.database.startswith("md:")):
            raise PlanError(
                "input.database names a file; an address, which may hold a password, does not belong in a plan"
            )
        if self.engine == "postgresql" and (not named or self.connection is None):
            raise PlanError(
                "input.connection and input.table (or input.query) go with engine = postgresql: the environment "
                "variable that holds the address, and what is read there"
            )
        if self.connection is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.connection):
            raise PlanError(
                "input.connection is the name of an environment variable, such as WAREHOUSE; the address, which may "
                "hold a password, does not belong in a plan"
            )

    @classmethod
    def of(cls, keys: Keys) -> InputPlan:
        """Read the section."""
        for key in keys.table:
            if key in _SECRET:
                raise PlanError(f"{keys.at(key)}: a plan holds no passwords and no addresses; it is read by many")
        keys.only(
            "path", "engine", "connection", "database", "table", "query", "memory", "delimiter", "quote",
            "encoding", "header", "names", "trim", "sheet", "labels", "missing", "on_missing", "population",
            "unit", "weight", "rows_per_unit",
        )  # fmt: skip
        return cls(
            path=keys.text("path"),
            engine=cast("Any", keys.one_of("engine", ENGINES, ENGINES[0])) if "engine" in keys.table else None,
            connection=keys.text("connection"),
            database=keys.text("database"),
            table=keys.text("table"),
            query=keys.text("query"),
            memory=keys.text("memory"),
            delimiter=keys.text("delimiter"),
            quote=keys.text("quote", '"') or '"',
            encoding=keys.text("encoding", "utf-8") or "utf-8",
            header=keys.flag("header", default=True),
            names=keys.texts("names"),
            trim=keys.flag("trim", default=False),
            sheet=_sheet(keys),
            labels=keys.flag("labels", default=True),
            missing=keys.texts("missing"),
            on_missing=cast("Any", keys.one_of("on_missing", ("keep", "drop"), "keep")),
            population=keys.text("population"),
            unit=keys.text("unit"),
            weight=keys.text("weight"),
            rows_per_unit=1 if "rows_per_unit" not in keys.table else keys.whole("rows_per_unit") or 0,
        )


def _sheet(keys: Keys) -> str | int | None:
    """The sheet, by name or number."""
    return keys.whole("sheet") if isinstance(keys.table.get("sheet"), int) else keys.text("sheet")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmPlan:
    """How the release is searched."""

    name: str = "auto"
    """The algorithm, or auto."""
    max_suppressed: float = 0.0
    """The share of records that may be suppressed."""
    suppressed: Literal["remove", "star"] = "remove"
    """Whether a suppressed record is left out or published as ``*``."""
    exempt_suppressed: bool = False
    """Whether published suppressed records need not meet the requirement."""
    seconds: float | None = None
    """How long an algorithm that can stop early may search: a second stands for ten million steps."""
    alternatives: float = _ALTERNATIVES
    """Seconds of processor time in which ``auto`` also tries other searches, to say what they would lose."""
    seed: int | None = None
    """For studies only: the manifest marks such a release."""
    options: Tree = field(default_factory=dict)
    """What the named algorithm itself can be told."""

    def __post_init__(self) -> None:
        """Refuse shares, limits and seeds that cannot be."""
        if not 0 <= self.max_suppressed <= 1:
            raise PlanError(f"algorithm.max_suppressed must be a share between 0 and 1, not {self.max_suppressed}")
        if self.seconds is not None and not self.seconds > 0:
            raise PlanError(f"algorithm.seconds must be above 0, not {self.seconds}")
        if not 0 <= self.alternatives < inf:
            raise PlanError(f"algorithm.alternatives must be a number of seconds, 0 for none, not {self.alternatives}")
        if self.seed is not None and self.seed < 0:
            raise PlanError(f"algorithm.seed must not be negative, not {self.seed}")

    @classmethod
    def of(cls, keys: Keys) -> AlgorithmPlan:
        """Read the section."""
        known = ("name", "max_suppressed", "suppressed", "exempt_suppressed", "seconds", "alternatives", "seed")
        return cls(
            name=keys.text("name", "auto") or "auto",
            max_suppressed=keys.number("max_suppressed", 0.0) or 0.0,
            suppressed=cast("Any", keys.one_of("suppressed", ("remove", "star"), "remove")),
            exempt_suppressed=keys.flag("exempt_suppressed", default=False),
            seconds=keys.number("seconds"),
            alternatives=keys.number("alternatives", _ALTERNATIVES) or 0.0,
            seed=keys.whole("seed"),
            options={name: value for name, value in keys.table.items() if name not in known},
        )
