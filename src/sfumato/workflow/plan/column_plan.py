"""What a plan says about one column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sfumato.data.clock import Clock
from sfumato.data.grid import Grid
from sfumato.data.long import Long
from sfumato.data.trajectories import checked_mark
from sfumato.describe.domains import Categories
from sfumato.describe.roles import Role
from sfumato.ground.errors import ParameterError, PlanError, listed
from sfumato.workflow.plan.base_plan import check_base
from sfumato.workflow.plan.builders import builder, builder_tree
from sfumato.workflow.plan.date_plan import check_date, date_keys, public_dates
from sfumato.workflow.plan.domain_plan import check_domain, domain_keys, public_keys
from sfumato.workflow.plan.plan_table import Keys

Tree = Mapping[str, Any]
TYPES = ("text", "category", "integer", "real", "date", "set", "trajectory")
REPEATS = ("first", "keep")
BOTH = ("quasi", "sensitive")
"""The two roles that one column can have at once."""
ITEMIZED = ("set", "trajectory")
"""The types whose cells hold several items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongPlan:
    """Where the items of a column stand one in a row: in the input itself, or in a file of their own."""

    file: str | None
    """The file; None: the input is the long table."""
    spec: Long
    """How its rows are to be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPlan:
    """What one column is."""

    role: Role
    """Its part in the release; given as ("quasi", "sensitive") it is a quasi-identifier that is ``guarded``."""
    type: str | None = None
    """How its values are read; inferred when absent."""
    hierarchy: Tree | None = None
    """How its values, items or places are generalized: a table as in TOML, or a builder of hierarchies."""
    base: int = 0
    """The level of the hierarchy at which counting begins; nothing finer is published."""
    time_hierarchy: Tree | None = None
    """How the times of a trajectory are generalized."""
    pseudonym: Tree | None = None
    """For an identifier: the key file of its pseudonyms."""
    values: tuple[str, ...] = ()
    """Every value that the column can have, declared: public knowledge, whatever the table has."""
    separator: str = "|"
    """Between the items of a set or the pairs of a trajectory, where they are written as texts."""
    mark: str = "@"
    """Between place and time."""
    repeats: Literal["first", "keep"] = "first"
    """Of the same place read several times in a row: the first reading counts, or all are kept."""
    long: LongPlan | None = None
    """Where the items stand one in a row, if they do."""
    guarded: bool = False
    """Whether a quasi-identifier is sensitive too: generalized, and protected from inference."""
    domain_from: Literal["declared", "public", "profile", "discover"] = "declared"
    """Who says which values there can be: see ``domain_plan``."""
    outside: Literal["clamp", "drop", "refuse"] | None = None
    """In private releases: what becomes of values outside the domain; as with clamp when absent."""
    other: str | None = None
    """In private releases and questions: the value that stands for all that are not declared, if any."""
    within: tuple[float, ...] = ()
    """Where a range is to be discovered: between which two numbers."""
    format: Literal["ymd", "dmy", "mdy"] | None = None
    """For dates: the order of day, month and year; when absent they are written YYYY-MM-DD."""
    pivot: int | None = None
    """For dates whose years have two digits: the first year that they can mean; 1930 when absent."""
    shift: Tree | None = None
    """For dates that are published day by day: the key file and the most days that a person's dates move."""

    def __post_init__(self) -> None:
        """Turn roles and builders into what a plan file says."""
        given_role: Any = self.role
        if isinstance(given_role, list | tuple):
            role, guarded = roles(given_role, "role")
            object.__setattr__(self, "guarded", guarded or self.guarded)
            given_role = role
        object.__setattr__(self, "role", Role(given_role))
        for name in ("hierarchy", "time_hierarchy"):
            given: Any = getattr(self, name)
            if given is not None and not isinstance(given, Mapping):
                object.__setattr__(self, name, builder_tree(given))

    def check(self, name: str, folder: Path) -> None:
        """Refuse a hierarchy that cannot be built; files are looked at when they are read."""
        check_domain(self, name)
        check_date(self, name)
        check_base(self, name)
        for key in ("hierarchy", "time_hierarchy"):
            tree: Tree | None = getattr(self, key)
            if tree is not None and "file" not in tree:
                builder(tree, f"columns.{name}.{key}", folder)
        if self.guarded:
            _refuse_unguarded(self, name, folder)

    @property
    def itemized(self) -> bool:
        """Whether its cells hold several items."""
        return self.type in ITEMIZED

    def public(self) -> dict[str, Any]:
        """As the manifest shows it: without any path, and without values that are not declared."""
        shown: dict[str, Any] = {"role": list(BOTH) if self.guarded else str(self.role)}
        if self.type:
            shown["type"] = self.type
        if self.itemized:
            shown["separator"] = self.separator
        if self.type == "trajectory":
            shown["mark"] = self.mark
        if self.long is not None and self.long.spec.clock is not None and self.long.spec.clock.split is not None:
            shown["record"] = "window"
        if self.pseudonym is not None:
            shown["pseudonym"] = "keyed"
        for name, tree in (("hierarchy", self.hierarchy), ("time_hierarchy", self.time_hierarchy)):
            if tree is not None:
                shown[name] = str(tree.get("kind") or next(iter(tree), ""))
        if self.base:
            shown["base"] = self.base
        if self.values:
            shown["values"] = len(self.values)
        return shown | public_dates(self) | public_keys(self)


def column_plan(keys: Keys, name: str) -> ColumnPlan:
    """One column of a plan."""
    keys.only(
        "role", "type", "hierarchy", "base", "time_hierarchy", "pseudonym", "values", "separator", "mark", "long",
        "grid", "clock", "outside", "ties", "repeats", "domain_from", "other", "within", "format", "pivot", "shift",
    )  # fmt: skip
    if "role" not in keys.table:
        raise PlanError(f"{keys.at('role')} is missing; it is one of {', '.join(Role)}")
    several = keys.table["role"]
    if isinstance(several, list | tuple):
        role, guarded = roles(several, keys.at("role"))
    else:
        role, guarded = Role(keys.one_of("role", tuple(Role), "keep")), False
    kind = keys.one_of("type", TYPES, "text") if "type" in keys.table else None
    _refuse_strangers(keys, kind)
    separator = str(keys.text("separator", "|"))
    if len(separator) != 1:
        raise PlanError(f"{keys.at('separator')} must be one character such as '|', not {separator!r}")
    try:
        mark = checked_mark(str(keys.text("mark", "@")), separator)
        long = _long(keys, name, kind, mark) if "long" in keys.table else None
    except ParameterError as error:
        raise PlanError(f"{keys.path}: {error}") from error
    return ColumnPlan(
        role=role,
        type=kind,
        hierarchy=_tree(keys, "hierarchy"),
        base=keys.whole("base", 0) or 0,
        time_hierarchy=_tree(keys, "time_hierarchy"),
        pseudonym=_pseudonym(keys, role),
        values=keys.texts("values"),
        separator=separator,
        mark=mark,
        repeats=keys.one_of("repeats", REPEATS, "first"),  # type: ignore[arg-type]
        long=long,
        guarded=guarded,
        **date_keys(keys),
        **domain_keys(keys),
    )


def roles(given: Sequence[Any], path: str) -> tuple[Role, bool]:
    """The role of a column that is given several, and whether it is guarded; only one combination means something.

    >>> roles(["sensitive", "quasi"], "columns.disease.role")
    (<Role.QUASI: 'quasi'>, True)
    """
    if sorted(map(str, given)) != sorted(BOTH):
        raise PlanError(
            f"{path}: {listed(list(map(str, given)))} cannot be one column's roles; name one of {', '.join(Role)}, or "
            '["quasi", "sensitive"] for a quasi-identifier that must not be inferred either'
        )
    return Role.QUASI, True


def refuse_guarded(columns: Mapping[str, ColumnPlan], kind: str) -> None:
    """Refuse columns with both roles in a kind of release that has no use for them."""
    for name, column in columns.items():
        if column.guarded:
            raise PlanError(
                f'columns.{name}.role = ["quasi", "sensitive"] is for releases of tables with models of inference; '
                f"{kind} has none about such a column; use 'quasi' or 'sensitive'"
            )


def _refuse_unguarded(column: ColumnPlan, name: str, folder: Path) -> None:
    """Refuse a column with both roles whose labels do not say, in public, which values they cover."""
    if column.role is not Role.QUASI:
        raise PlanError(f"columns.{name}.guarded: only a quasi-identifier can be guarded, not role = '{column.role}'")
    if column.itemized:
        raise PlanError(f'columns.{name}.role = ["quasi", "sensitive"]: a column of type {column.type} cannot be both')
    tree = column.hierarchy
    if tree is not None and "file" in tree:
        return
    made = None if tree is None else builder(tree, f"columns.{name}.hierarchy", folder).declared()
    if not isinstance(made, Categories) or not made.paths:
        raise PlanError(
            f'columns.{name}.role = ["quasi", "sensitive"] needs a declared tree of categories as its hierarchy (file, '
            "tree, bundled or groups): what a label tells is counted over the values that it covers"
        )


def _refuse_strangers(keys: Keys, kind: str | None) -> None:
    """Refuse keys that mean something for other types only."""
    for key in ("time_hierarchy", "mark", "repeats"):
        if key in keys.table and kind != "trajectory":
            raise PlanError(f"{keys.at(key)}: only a column with type = 'trajectory' has times")
    if "long" in keys.table and kind not in ITEMIZED:
        raise PlanError(f"{keys.at('long')}: only a column with type = 'trajectory' or 'set' is gathered from rows")
    for key in ("grid", "clock", "ties"):
        if key in keys.table and "long" not in keys.table:
            raise PlanError(f"{keys.at(key)} goes with long, the table of single readings")


def _tree(keys: Keys, key: str) -> Tree | None:
    value = keys.table.get(key)
    if value is None or hasattr(value, "build"):
        return value
    return Keys.of(value, keys.at(key)).table


def _long(keys: Keys, name: str, kind: str | None, mark: str) -> LongPlan:
    """How a long table is to be read."""
    inner = Keys.of(keys.table["long"], keys.at("long"))
    inner.only("file", "id", "place", "time", "x", "y", "item")
    ids = inner.table.get("id")
    if ids is None:
        raise PlanError(f"{inner.at('id')} is missing; name the column, or the columns, that say whose row it is")
    grid = clock = None
    if "grid" in keys.table:
        corner = Keys.of(keys.table["grid"], keys.at("grid"))
        corner.only("low", "high", "step")
        low, high = corner.numbers("low"), corner.numbers("high")
        grid = Grid(low=low, high=high, step=corner.number("step"))  # type: ignore[arg-type]
    if "clock" in keys.table:
        hands = Keys.of(keys.table["clock"], keys.at("clock"))
        hands.only("step", "start", "split")
        clock = Clock(step=hands.table.get("step"), start=hands.table.get("start"), split=hands.table.get("split"))  # type: ignore[arg-type]
    spec = Long(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        id=(ids,) if isinstance(ids, str) else inner.texts("id"),
        place=inner.text("place"),
        time=inner.text("time"),
        x=inner.text("x"),
        y=inner.text("y"),
        item=inner.text("item"),
        grid=grid,
        clock=clock,
        outside=keys.one_of("outside", ("refuse", "drop"), "refuse"),  # type: ignore[arg-type]
        ties=keys.one_of("ties", ("refuse", "first"), "refuse"),  # type: ignore[arg-type]
        repeats=keys.one_of("repeats", REPEATS, "first"),  # type: ignore[arg-type]
        mark=mark,
    )
    return LongPlan(file=inner.text("file"), spec=spec)


def _pseudonym(keys: Keys, role: Role) -> Tree | None:
    value = keys.table.get("pseudonym")
    if value is None:
        return None
    if role is not Role.IDENTIFIER:
        raise PlanError(f"{keys.at('pseudonym')}: only a column with role = 'identifier' is pseudonymized")
    if not isinstance(value, Mapping) or "key_file" not in value:
        raise PlanError(
            f"{keys.at('pseudonym')}: {value!r} is refused; without a secret key anybody can hash a list of names "
            'and find everyone again. Use { key_file = "secret.key" }'
        )
    inner = Keys.of(value, keys.at("pseudonym"))
    inner.only("key_file", "name")
    inner.required_text("key_file")
    inner.text("name")
    return inner.table
