"""The plan's [input], [algorithm], [collection], [stream], [tree] and [about]."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from math import inf
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from sfumato.core.errors import PlanError
from sfumato.core.records import INTERNAL, Number, Record, decoded, known_keys, must
from sfumato.metrics.learners import Learner

# Types that several sections use.


Tree = Mapping[str, Any]
Text = Annotated[str, Meta(min_length=1)]
Texts = tuple[str, ...]
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[
    Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)], must("a share between 0 and 1")
]
Seconds = Annotated[Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)], must("above 0")]

# The sections [input] and [algorithm] of a plan.


ENGINES = ("duckdb", "postgresql", "spark")
"""The programs that rows can stay in."""
Engine = Literal["duckdb", "postgresql", "spark"]
SQLITE = (".sqlite", ".sqlite3", ".db")
"""The ends of names of SQLite files."""
_ALTERNATIVES = 3.0
_SECRET = dict.fromkeys(
    ("password", "passwd", "user", "token", "dsn", "uri", "url"),
    "a plan holds no passwords and no addresses; it is read by many",
)
_ONLY = {"database": ("duckdb",), "memory": ("duckdb",), "connection": ("postgresql", "spark")}
"""The keys that not every engine has."""


class InputPlan(Record, frozen=True, kw_only=True):
    """Where the table comes from and how its cells are read."""

    REFUSED: ClassVar[Mapping[str, str]] = _SECRET

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
    memory: (
        Annotated[str, must('an amount such as "512MB" or "4GB"', pattern=r"^[1-9][0-9]{0,6} ?[KMGT]i?B(?![\s\S])")]
        | None
    ) = None
    """The most memory that the engine takes, such as 4GB; it goes on on disk. When absent, what the engine chooses."""
    delimiter: str | None = None
    """The separator of a text file; found out when absent."""
    quote: Text = '"'
    """The quoting mark of a text file."""
    encoding: Text = "utf-8"
    """The encoding of a text file."""
    header: bool = True
    """Whether the first line names the columns."""
    names: Texts = ()
    """The columns' names where the file has none, or instead of its own."""
    trim: bool = False
    """Whether blanks around cells are cut."""
    sheet: str | int | None = None
    """The sheet of a workbook, by its name or its number from 1 on; without one, the only sheet that has cells."""
    labels: bool = True
    """Whether columns of SPSS and Stata show the labels of their codes, where every code has one of its own."""
    missing: Texts = ()
    """The texts that mean a missing value."""
    on_missing: Literal["keep", "drop"] = "keep"
    """Whether rows with a missing quasi-identifier, sensitive or target value stay."""
    population: str | None = None
    """The file of the population that the table is a part of, for delta-presence and k-map."""
    unit: str | None = None
    """The column that tells people apart, where one person can have several rows: people are counted, not rows."""
    weight: str | None = None
    """The column of sampling weights: for how many people of the population a row stands. Models still count rows."""
    rows_per_unit: Positive = 1
    """Under differential privacy, the most rows that one person contributes; the others are left out at random."""

    def __post_init__(self) -> None:
        """Refuse keys that do not go together."""
        if self.rows_per_unit > 1 and self.unit is None:
            raise PlanError("input.rows_per_unit goes with input.unit, the column that tells people apart")
        if self.weight is not None:
            other_key = next((k for k in ("unit", "population", "engine") if getattr(self, k) is not None), None)
            if other_key is not None:
                raise PlanError(
                    f"input.weight does not go with input.{other_key}: the population behind rows is estimated from "
                    "their weights; keep one of them"
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


class AlgorithmPlan(Record, frozen=True, kw_only=True, rename={"options": INTERNAL}):
    """How the release is searched."""

    name: Text = "auto"
    """The algorithm, or auto."""
    max_suppressed: Share = 0.0
    """The share of records that may be suppressed."""
    suppressed: Literal["remove", "star"] = "remove"
    """Whether a suppressed record is left out or published as ``*``."""
    exempt_suppressed: bool = False
    """Whether published suppressed records need not meet the requirement."""
    seconds: Seconds | None = None
    """How long an algorithm that can stop early may search: a second stands for ten million steps."""
    alternatives: Annotated[Number, must("a number of seconds, 0 for none")] = _ALTERNATIVES
    """Seconds of processor time in which ``auto`` also tries other searches, to say what they would lose."""
    seed: Annotated[int, Meta(ge=0)] | None = None
    """For studies only: the manifest marks such a release."""
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    """What the named algorithm itself can be told."""

    def __post_init__(self) -> None:
        """Refuse a time that never ends."""
        if not 0 <= self.alternatives < inf:
            raise PlanError(f"algorithm.alternatives must be a number of seconds, 0 for none, not {self.alternatives}")

    @classmethod
    def of(cls, table: Any) -> AlgorithmPlan:
        """Read the section: what is no key of all algorithms is an option of the named one."""
        return decoded(with_options(table), cls, "algorithm")


def with_options(table: Any) -> Any:
    """The [algorithm] table with the keys of the named algorithm in a table of their own."""
    if not isinstance(table, Mapping):
        return table
    options = {key: value for key, value in table.items() if key not in _COMMON}
    return {key: value for key, value in table.items() if key in _COMMON} | {INTERNAL: options}


_COMMON = known_keys(AlgorithmPlan)


# The plan's [collection]: the public specification by which answers were randomized at the source.


class CollectionPlan(Record, frozen=True, kw_only=True):
    """How the answers of a table came about."""

    spec: Text
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


# The plan's [stream]: how a stream is cut into blocks and batches, and where its state is kept.


class StreamPlan(Record, frozen=True, kw_only=True):
    """How records that keep coming are condensed; a release does not read it."""

    batch: Positive = 50_000
    """After so many records a batch is published."""
    block: Positive = 2_000
    """So many records are put into groups together."""
    checkpoint: Positive | None = None
    """After so many records what was done is kept for good; about five times a batch when absent."""
    anchors: Positive | None = None
    """How many groups stay when they are empty; a batch over 2k when absent."""
    state: str | None = None
    """The private folder; beside the output when absent."""

    def __post_init__(self) -> None:
        """Refuse numbers that do not fit each other."""
        for key, value in (("batch", self.batch), ("checkpoint", self.checkpoint)):
            if value is not None and value % self.block:
                near = max(round(value / self.block), 1) * self.block
                raise PlanError(
                    f"stream.{key} must be a multiple of stream.block = {self.block}, not {value}; {near} is"
                )

    @property
    def kept_every(self) -> int:
        """After how many records a checkpoint is made."""
        return self.checkpoint or max(self.batch // 5 // self.block, 1) * self.block


# The plan's [tree]: a tree is published instead of rows, and what its leaves tell.


class TreePlan(Record, frozen=True, kw_only=True):
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


# The plan's [utility] and [output].


class UtilityPlan(Record, frozen=True, kw_only=True):
    """What should be kept, and for whom."""

    metric: Text = "loss"
    """What should be lost least."""
    purpose: Literal["one-reading", "least-loss"] = "one-reading"
    """What ``auto`` looks for: that a value reads the same in every row, or the least loss."""
    learner: Learner | None = None
    """A learner whose errors on the release are reported in the internal report, if any."""


class OutputPlan(Record, frozen=True, kw_only=True):
    """How files are written."""

    format: Literal["csv", "parquet", "parts"] | None = None
    """The released file's format; that of the input when absent. ``parts`` are many Parquet files."""
    escape_formulas: bool = False
    """Whether texts that a spreadsheet would run are written with an apostrophe before them, in CSV."""


# The plan's [about]: what a person who signs the report must find in it. All of it is published with the release.


Words = Annotated[str, Meta(pattern=r"\S", max_length=2000)]


class AboutPlan(Record, frozen=True, kw_only=True):
    """What the data set is, for whom and why; what nobody says stays out of the report."""

    data_set: Words | None = None
    """What the data set is called."""
    purpose: Words | None = None
    """What the release is for."""
    recipient: Words | None = None
    """Who gets it."""
    legal_basis: Words | None = None
    """On what legal ground."""
    responsible: Words | None = None
    """Who answers for it, and signs."""
    contact: Words | None = None
    """Where questions go."""
    date: Words | None = None
    """Its date, such as 2026-11-18; every report also tells the day on which it was made."""
    version: Words | int | float | None = None
    """The version of the data set."""
    language: Literal["en", "de"] = "en"
    """The language of the report."""

    def __post_init__(self) -> None:
        """Keep texts without blanks around them, and numbers of versions as texts."""
        for key, value in msgspec.structs.asdict(self).items():
            if value is not None and value != (text := str(value).strip()):
                msgspec.structs.force_setattr(self, key, text)

    def public(self) -> dict[str, str]:
        """What a manifest states; nothing for what nobody said."""
        texts = msgspec.structs.asdict(self)
        return {key: value for key, value in texts.items() if value is not None and (key, value) != ("language", "en")}


def dated(about: Any) -> Any:
    """The [about] table with its day as a text: TOML has days of its own."""
    day = about.get("date") if isinstance(about, Mapping) else None
    return about if not isinstance(day, date) or isinstance(day, datetime) else {**about, "date": day.isoformat()}
