"""The plan's [input], [algorithm], [collection], [stream], [tree] and [about]."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from math import inf
from pathlib import Path
from typing import Any, Literal, cast

from sfumato.core.errors import PlanError
from sfumato.pipeline.plan.keys import Keys
from sfumato.reports.language import LANGUAGES

# The sections [input] and [algorithm] of a plan.


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
            other_key = next((k for k in ("unit", "population", "engine") if getattr(self, k) is not None), None)
            if other_key is not None:
                raise PlanError(
                    f"input.weight does not go with input.{other_key}: the population behind rows is estimated from "
                    "their "
                    "weights; keep one of them"
                )
        self._check_engine()

    def _check_engine(self) -> None:
        """Refuse what an engine cannot be asked, and what only an engine can be."""
        keys = [key for key in (*_ONLY, "table", "query") if getattr(self, key) is not None]
        if self.engine is None:
            if keys and not self._in_sqlite(keys):
                raise PlanError(
                    f'input.{keys[0]} goes with input.engine, for example engine = "duckdb", or with a SQLite file as '
                    "input.path (table or query)"
                )
            return
        places = [key for key in ("path", "table", "query") if getattr(self, key) is not None]
        if len(places) > 1:
            raise PlanError(f"input.{places[0]} and input.{places[1]} both say where the rows are; keep one of them")
        for key in keys:
            if self.engine not in _ONLY.get(key, ENGINES):
                raise PlanError(f"input.{key} goes with engine = {' or '.join(_ONLY[key])}, not {self.engine}")
        self._check_place(keys)
        if self.memory is not None and not re.fullmatch(r"[1-9]\d{0,6} ?[KMGT]i?B", self.memory):
            raise PlanError(f'input.memory must be an amount such as "512MB" or "4GB", not {self.memory!r}')
        if self.encoding.lower() not in ("utf-8", "utf8"):
            raise PlanError(
                f"input.encoding: {self.engine} reads UTF-8 only; write the file so, or leave input.engine out"
            )

    def _in_sqlite(self, keys: list[str]) -> bool:
        """Whether one query or table of a SQLite file is asked for."""
        return keys in (["table"], ["query"]) and (self.path or "").lower().endswith(SQLITE)

    def _check_place(self, keys: list[str]) -> None:
        """Refuse tables without a place, places without a table, and addresses."""
        named = "table" in keys or "query" in keys
        if self.engine == "duckdb" and named != ("database" in keys):
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


# The plan's [collection]: the public specification by which answers were randomized at the source.


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionPlan:
    """How the answers of a table came about."""

    spec: str
    """The file of the specification, as ``sfumato collect design`` wrote it."""
    truth: str | None = None
    """For studies: a file with the true answers, row by row as the input; a collector does not have it."""

    def refuse_files(self, folder: Path) -> None:
        """Refuse files that are not there, before any work is done."""
        for key, name in (("spec", self.spec), ("truth", self.truth)):
            if name is not None and not (folder / name).is_file():
                raise PlanError(f"collection.{key}: {folder / name} does not exist")

    def public(self) -> dict[str, bool]:
        """As the manifest shows it: the specification stands there as a whole."""
        return {"study": self.truth is not None}

    @classmethod
    def of(cls, keys: Keys) -> CollectionPlan:
        """Read the section."""
        keys.only("spec", "truth")
        return cls(spec=keys.required_text("spec"), truth=keys.text("truth"))


# The plan's [stream]: how a stream is cut into blocks and batches, and where its state is kept.


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlan:
    """How records that keep coming are condensed; a release does not read it."""

    batch: int = 50_000
    """After so many records a batch is published."""
    block: int = 2_000
    """So many records are put into groups together."""
    checkpoint: int | None = None
    """After so many records what was done is kept for good; about five times a batch when absent."""
    anchors: int | None = None
    """How many groups stay when they are empty; a batch over 2k when absent."""
    state: str | None = None
    """The private folder; beside the output when absent."""

    def __post_init__(self) -> None:
        """Refuse numbers that do not fit each other."""
        for key, value, least in (("batch", self.batch, 1), ("block", self.block, 1), ("anchors", self.anchors, 1)):
            if value is not None and value < least:
                raise PlanError(f"stream.{key} must be at least {least}, not {value}")
        for key, value in (("batch", self.batch), ("checkpoint", self.checkpoint)):
            if value is not None and (value < 1 or value % self.block):
                near = max(round(value / self.block), 1) * self.block
                raise PlanError(
                    f"stream.{key} must be a multiple of stream.block = {self.block}, not {value}; {near} is"
                )

    @property
    def kept_every(self) -> int:
        """After how many records a checkpoint is made."""
        return self.checkpoint or max(self.batch // 5 // self.block, 1) * self.block

    @classmethod
    def of(cls, keys: Keys) -> StreamPlan:
        """Read the section."""
        keys.only("batch", "block", "checkpoint", "anchors", "state")
        whole = {name: keys.whole(name) for name in ("batch", "block", "checkpoint", "anchors") if name in keys.table}
        return cls(**whole, state=keys.text("state"))  # type: ignore[arg-type]


# The plan's [tree]: a tree is published instead of rows, and what its leaves tell.


TOLD = ("counts", "hits")
FORMS = ("tree", "rules")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreePlan:
    """How a tree is published in place of the rows that it was learnt from."""

    told: Literal["counts", "hits"] = "counts"
    """What a leaf tells: the records of every class, or hit and miss alone."""
    form: Literal["tree", "rules"] = "tree"
    """Whether trees are published, or their paths as rules."""
    structure: str | None = None
    """The file of a tree whose splits are taken over; needed where counts are noisy, unless algorithm.split_by is."""

    def public(self) -> dict[str, Any]:
        """As the manifest shows it."""
        return {"told": self.told, "form": self.form, "structure": self.structure is not None}

    @classmethod
    def of(cls, keys: Keys) -> TreePlan:
        """Read the section."""
        keys.only("told", "form", "structure")
        return cls(
            told=cast("Any", keys.one_of("told", TOLD, "counts")),
            form=cast("Any", keys.one_of("form", FORMS, "tree")),
            structure=keys.text("structure"),
        )


# The plan's [about]: what a person who signs the report must find in it. All of it is published with the release.


_LONGEST = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutPlan:
    """What the data set is, for whom and why; what nobody says stays out of the report."""

    data_set: str | None = None
    """What the data set is called."""
    purpose: str | None = None
    """What the release is for."""
    recipient: str | None = None
    """Who gets it."""
    legal_basis: str | None = None
    """On what legal ground."""
    responsible: str | None = None
    """Who answers for it, and signs."""
    contact: str | None = None
    """Where questions go."""
    date: str | None = None
    """Its date, such as 2026-11-18; every report also tells the day on which it was made."""
    version: str | None = None
    """The version of the data set."""
    language: str = "en"
    """The language of the report."""

    @classmethod
    def of(cls, keys: Keys) -> AboutPlan:
        """Read the section."""
        keys.only(*(field.name for field in fields(cls)))
        texts = {key: _text(keys, key, value) for key, value in keys.table.items() if key != "language"}
        return cls(**texts, language=keys.one_of("language", tuple(LANGUAGES), "en"))

    def public(self) -> dict[str, str]:
        """What a manifest states; nothing for what nobody said."""
        texts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: value for key, value in texts.items() if value is not None and (key, value) != ("language", "en")}


def _text(keys: Keys, key: str, value: Any) -> str:
    """A text, a day or a number of a version, as a text."""
    if key == "date" and isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if key == "version" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise PlanError(f"{keys.at(key)} must be a text, not {value!r}")
    if len(value) > _LONGEST:
        raise PlanError(f"{keys.at(key)} has {len(value):,} characters; {_LONGEST:,} are the most")
    return value.strip()
