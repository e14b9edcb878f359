"""The plan of linked tables: the plans of the tables, the links between them, and what may be left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, structs

from sfumato.bundles.manifest.linked import KNOWN, is_table_name
from sfumato.core.errors import PlanError, listed
from sfumato.core.input_files import read_text
from sfumato.core.records import Record, decoded, missing, must
from sfumato.core.strict_parsing import read_toml
from sfumato.counts.linked_rows import Link, from_leaves
from sfumato.pipeline.plan.columns import PseudonymPlan
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.plan.sections import AlgorithmPlan, Text
from sfumato.tables.schema import Role

JUDGED = ("k_anonymity", "l_diversity", "t_closeness", "alpha_k", "reading")
"""The requirements that can be judged on the join: they ask for class sizes and shares of values alone."""


_NO_LINK = 'none is named; write [[links]] with from = "visits.patient_id", to = "patients.id"'


class TableFile(Record, frozen=True, kw_only=True):
    """A table among linked ones."""

    plan: Text
    """The file of its plan."""


class LinkFile(Record, frozen=True, kw_only=True, rename={"origin": "from", "target": "to"}):
    """A column whose values name rows of another table, both as TABLE.COLUMN."""

    origin: Text
    """The column with the keys."""
    target: Text
    """The column that they are keys of."""


class PeopleFile(Record, frozen=True, kw_only=True):
    """What holds for people in all tables."""

    key_file: Text
    """The file of the secret key of pseudonyms."""
    known: Literal["rows", "values"] = "rows"
    """What an attacker may know of a person's rows in one table."""
    max_suppressed: Annotated[
        Annotated[int, Meta(ge=0, lt=1)] | Annotated[float, Meta(ge=0, lt=1)], must("a share from 0 to below 1")
    ] = 0.0
    """The share of people who may be left out of all tables."""
    orphans: Literal["refuse", "drop"] = "refuse"
    """Whether rows that name no row of the table above are left out."""


class LinkedFile(Record, frozen=True, kw_only=True):
    """A plan of linked tables as its file has it."""

    tables: dict[str, TableFile]
    """The tables by name."""
    links: Annotated[tuple[LinkFile, ...], missing(_NO_LINK)]
    """By which keys rows name rows of other tables."""
    people: Annotated[PeopleFile, missing('write [people] with key_file = "secret.key"')]
    """What holds for people in all tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPlan:
    """Tables that are released together."""

    tables: Mapping[str, Plan]
    """Their plans, by name; keys of links are pseudonymized in all of them."""
    root: str
    """The people's own table."""
    links: tuple[Link, ...]
    """By which keys rows name rows of other tables, whatever lies below a table first."""
    known: str = KNOWN[0]
    """What somebody may know of a person's rows in one table."""
    max_suppressed: float = 0.0
    """The share of people who may be left out of all tables."""
    orphans: str = "refuse"
    """Whether rows that name no row of the table above are left out (``drop``)."""

    @classmethod
    def load(cls, path: Path) -> LinkedPlan:
        """Read a TOML file that has [tables]."""
        tree = linked_tree(path)
        if tree is None:
            raise PlanError(f"{path}: this is not a plan of linked tables; name them as [tables.NAME]")
        file = decoded(tree, LinkedFile)
        links = _links(file.links, list(file.tables))
        root, order = from_leaves(file.tables, links)
        if "\0" in file.people.key_file:
            raise PlanError("people.key_file: the name of a file has no NUL character")
        key = (path.parent / file.people.key_file).resolve()
        return cls(
            tables={name: _table(table, name, order, path.parent, key) for name, table in file.tables.items()},
            root=root, links=order, known=file.people.known, max_suppressed=file.people.max_suppressed,
            orphans=file.people.orphans,
        )  # fmt: skip


def linked_tree(path: Path) -> dict[str, Any] | None:
    """What a plan of linked tables says; None for every other file, which ``Plan.load`` reads or refuses."""
    try:
        tree = read_toml(read_text(path))
    except (OSError, ValueError):
        return None
    return tree if isinstance(tree.get("tables"), dict) and tree["tables"] else None


def _links(files: Sequence[LinkFile], tables: Sequence[str]) -> list[Link]:
    if not files:
        raise PlanError(f"links: {_NO_LINK}")
    links = []
    for index, file in enumerate(files):
        ends = [end.partition(".") for end in (file.origin, file.target)]
        for key, (table, _, column) in zip(("from", "to"), ends, strict=True):
            if table not in tables or not column:
                raise PlanError(f"links[{index}].{key}: {table!r} is no table; write TABLE.COLUMN, of {listed(tables)}")
        links.append(Link(table=ends[0][0], column=ends[0][2], to_table=ends[1][0], to_column=ends[1][2]))
    return links


def _table(file: TableFile, name: str, links: Sequence[Link], folder: Path, key: Path) -> Plan:
    """The plan of one table, with the keys of its links pseudonymized."""
    if not is_table_name(name):
        raise PlanError(f"tables.{name}: a table's name has letters, digits, - and _ only: it becomes a folder")
    try:
        plan = Plan.load(folder / file.plan)
    except PlanError as error:
        raise PlanError(f"tables.{name}: {error}") from error
    _refuse(plan, f"tables.{name}")
    shared = {link.column: f"{link.to_table}.{link.to_column}" for link in links if link.table == name}
    shared |= {link.to_column: f"{name}.{link.to_column}" for link in links if link.to_table == name}
    columns = dict(plan.columns)
    for column, bound in shared.items():
        if column not in columns or columns[column].role is not Role.IDENTIFIER:
            raise PlanError(f"tables.{name}: {column!r} is a key of a link; give it role = 'identifier' in its plan")
        columns[column] = structs.replace(columns[column], pseudonym=PseudonymPlan(key_file=str(key), name=bound))
    other = [column for column, spec in columns.items() if spec.pseudonym is not None and column not in shared]
    if other:
        raise PlanError(f"tables.{name}: the pseudonym of {other[0]!r} would link rows beside the links; drop it")
    return replace(plan, columns=columns, algorithm=AlgorithmPlan(name="greedy"))


def _refuse(plan: Plan, where: str) -> None:
    """Refuse plans whose releases cannot be joined, or whose claims cannot be judged on the join."""
    beyond = [key for key in plan.privacy if key not in JUDGED]
    if beyond:
        known = [key for key in JUDGED if key != "reading"]
        raise PlanError(f"{where}: privacy.{beyond[0]} cannot be judged on the join; use {listed(known)}")
    odd = {
        "input.unit": plan.input.unit is not None,
        "input.engine": plan.input.engine is not None,
        'input.on_missing = "drop"': plan.input.on_missing == "drop",
        "algorithm": plan.algorithm.name not in ("auto", "greedy", "optimal"),
        "output.format": plan.format == "parts",
        "columns": plan.itemized != (),
    }
    for key, wrong in odd.items():
        if wrong:
            raise PlanError(
                f"{where}: {key} does not go with linked tables, which are read into memory, recoded level by level "
                "and counted in people; leave it out"
            )
