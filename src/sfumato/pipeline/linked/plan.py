"""The plan of linked tables: the plans of the tables, the links between them, and what may be left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from sfumato.bundles.manifest.linked import KNOWN, is_table_name
from sfumato.core.errors import PlanError, listed
from sfumato.core.input_files import read_text
from sfumato.core.strict_parsing import read_toml
from sfumato.counts.linked_rows import Link, from_leaves
from sfumato.pipeline.plan.columns import PseudonymPlan
from sfumato.pipeline.plan.keys import Keys
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.plan.sections import AlgorithmPlan
from sfumato.tables.schema import Role

JUDGED = ("k_anonymity", "l_diversity", "t_closeness", "alpha_k", "reading")
"""The requirements that can be judged on the join: they ask for class sizes and shares of values alone."""


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
        top = Keys.of(tree, "")
        top.only("tables", "links", "people")
        people = Keys.of(top.table.get("people", {}), "people")
        people.only("key_file", "known", "max_suppressed", "orphans")
        links = _links(top.table.get("links", []), list(top.table["tables"]))
        root, order = from_leaves(top.table["tables"], links)
        named = people.required_text("key_file") or ""
        if "\0" in named:
            raise PlanError("people.key_file: the name of a file has no NUL character")
        key = (path.parent / named).resolve()
        share = people.number("max_suppressed", 0.0) or 0.0
        if not 0 <= share < 1:
            raise PlanError(f"people.max_suppressed must be a share from 0 to below 1, not {share}")
        return cls(
            tables={name: _table(Keys.of(tree, f"tables.{name}"), name, order, path.parent, key)
                    for name, tree in top.table["tables"].items()},
            root=root, links=order, known=people.one_of("known", KNOWN, KNOWN[0]), max_suppressed=share,
            orphans=people.one_of("orphans", ("refuse", "drop"), "refuse"),
        )  # fmt: skip


def linked_tree(path: Path) -> dict[str, Any] | None:
    """What a plan of linked tables says; None for every other file, which ``Plan.load`` reads or refuses."""
    try:
        tree = read_toml(read_text(path))
    except (OSError, ValueError):
        return None
    return tree if isinstance(tree.get("tables"), dict) and tree["tables"] else None


def _links(value: Any, tables: Sequence[str]) -> list[Link]:
    if not isinstance(value, list) or not value:
        raise PlanError('links: none is named; write [[links]] with from = "visits.patient_id", to = "patients.id"')
    links = []
    for place, tree in enumerate(value):
        keys = Keys.of(tree, f"links[{place}]")
        keys.only("from", "to")
        ends = [str(keys.required_text(end)).partition(".") for end in ("from", "to")]
        for end, (table, _, column) in zip(("from", "to"), ends, strict=True):
            if table not in tables or not column:
                raise PlanError(f"{keys.at(end)}: {table!r} is no table; write TABLE.COLUMN, of {listed(tables)}")
        links.append(Link(table=ends[0][0], column=ends[0][2], to_table=ends[1][0], to_column=ends[1][2]))
    return links


def _table(keys: Keys, name: str, links: Sequence[Link], folder: Path, key: Path) -> Plan:
    """The plan of one table, with the keys of its links pseudonymized."""
    keys.only("plan")
    if not is_table_name(name):
        raise PlanError(f"{keys.at('')}: a table's name has letters, digits, - and _ only: it becomes a folder")
    try:
        plan = Plan.load(folder / str(keys.required_text("plan")))
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
