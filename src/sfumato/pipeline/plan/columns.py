"""The plan's [columns]: role, type, hierarchy, base level, dates and domain of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from sfumato.bundles.pseudonyms import MOST_DAYS
from sfumato.core.errors import ParameterError, PlanError, listed
from sfumato.pipeline.plan.hierarchies import builder, builder_tree
from sfumato.pipeline.plan.keys import Keys
from sfumato.tables.long_tables import Long
from sfumato.tables.map_squares import Grid
from sfumato.tables.schema import Categories, Role
from sfumato.tables.taxonomy import TOP
from sfumato.tables.times import ORDERS, PIVOT, DateForm
from sfumato.tables.trajectories import Clock, checked_mark

# What a plan says about the level from which a column is counted.


def check_base(column: ColumnPlan, name: str) -> None:
    """Refuse a base level below the values, and one where nothing is generalized by levels."""
    at = f"columns.{name}.base"
    if column.base < 0:
        raise PlanError(f"{at} must be a level of the hierarchy, 1 or more, not {column.base}")
    if column.base and (column.role is not Role.QUASI or column.itemized or column.guarded):
        raise PlanError(f"{at}: only a quasi-identifier is counted from a coarser level, and {name!r} {_other(column)}")


def _other(column: ColumnPlan) -> str:
    """What a column is that is no plain quasi-identifier."""
    if column.guarded:
        return "is sensitive too"
    return f"has type {column.type}" if column.itemized else f"has role = '{column.role}'"


def refuse_base(columns: Mapping[str, ColumnPlan], kind: str) -> None:
    """Refuse base levels in a kind of release that does not count cells."""
    for name, column in columns.items():
        if column.base:
            raise PlanError(f"columns.{name}.base is for releases of tables by groups; this one is {kind}")


# What a plan says about the dates of a column: how they are written, and by how much they move.


_SHIFTED = (Role.KEEP, Role.SENSITIVE, Role.TARGET)
"""The roles of columns whose days are published."""
_WEEK = 7


def date_keys(keys: Keys) -> dict[str, Any]:
    """What a column's table says about its dates."""
    settings: dict[str, Any] = {}
    if "format" in keys.table:
        settings["format"] = keys.one_of("format", ORDERS, ORDERS[0])
    if "pivot" in keys.table:
        settings["pivot"] = keys.whole("pivot")
    if "shift" in keys.table:
        inner = Keys.of(keys.table["shift"], keys.at("shift"))
        inner.only("key_file", "days", "by", "period", "weeks")
        inner.required_text("key_file")
        settings["shift"] = inner.table
    return settings


def check_date(column: ColumnPlan, name: str) -> None:
    """Refuse keys about dates that contradict each other, or a column that has none."""
    at = f"columns.{name}"
    for key in ("format", "pivot", "shift"):
        if getattr(column, key) is not None and column.type != "date":
            raise PlanError(f'{at}.{key} is about dates; add type = "date", or leave it out')
    if column.pivot is not None and column.format is None:
        raise PlanError(f'{at}.pivot goes with format, such as format = "dmy": only then may years have two digits')
    try:
        form_of(column)
    except ParameterError as error:
        raise PlanError(f"{at}: {error}") from error
    if column.shift is not None:
        _check_shift(column, f"{at}.shift")


def _check_shift(column: ColumnPlan, at: str) -> None:
    shift: Mapping[str, Any] = column.shift or {}
    if column.role not in _SHIFTED:
        raise PlanError(
            f"{at}: a column with role = '{column.role}' does not publish days; shift is for the roles "
            f"{listed(list(map(str, _SHIFTED)))}. A quasi-identifier is generalized instead"
        )
    if not isinstance(shift.get("key_file"), str):
        raise PlanError(
            f'{at}.key_file is missing; anybody could move the dates back. Use {{ key_file = "secret.key" }}'
        )
    days = shift.get("days")
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
        raise PlanError(f"{at}.days must be a whole number from 1 to {MOST_DAYS:,} such as 365, not {days!r}")
    if "by" in shift and not isinstance(shift["by"], str):
        raise PlanError(f"{at}.by must be the name of a column, not {shift['by']!r}")
    if not isinstance(shift.get("weeks", False), bool):
        raise PlanError(f"{at}.weeks must be true or false, not {shift['weeks']!r}")
    if shift.get("weeks") and days < _WEEK:
        raise PlanError(f"{at}.days must be at least {_WEEK} where dates move by whole weeks, not {days}")
    ends = period_of(shift, at)
    if ends is not None and (ends[1] - ends[0]).days < 2 * days:
        raise PlanError(
            f"{at}.period: from {ends[0]} to {ends[1]} are {(ends[1] - ends[0]).days:,} days; no date would be left of "
            f"a period that is not longer than 2 * days = {2 * days:,}. Declare the whole period, or fewer days"
        )


def period_of(settings: Mapping[str, Any], at: str) -> tuple[date, date] | None:
    """The first and last day of the records, where a shift declares them."""
    ends = settings.get("period")
    if ends is None:
        return None
    try:
        first, last = (date.fromisoformat(str(end)) for end in ends)
    except (TypeError, ValueError):
        raise PlanError(
            f'{at}.period must be the first and last day of the records, such as ["2015-01-01", "2019-12-31"], not '
            f"{ends!r}"
        ) from None
    if first >= last:
        raise PlanError(f"{at}.period must begin before it ends, not from {first} to {last}")
    return first, last


def check_shifts(columns: Mapping[str, ColumnPlan], unit: str | None) -> None:
    """Refuse shifts that differ, for then intervals between columns would be lost, and shifts of nobody's dates."""
    shifts = {name: column.shift for name, column in columns.items() if column.shift is not None}
    for name, shift in shifts.items():
        if "by" not in shift and unit is None:
            raise PlanError(
                f"columns.{name}.shift.by is missing; name the column that tells people apart, or set input.unit"
            )
        first = next(iter(shifts))
        if dict(shift) != dict(shifts[first]):
            raise PlanError(
                f"columns.{name}.shift differs from columns.{first}.shift; all dates of a person move by the same "
                "number of days, so write the same shift for both"
            )


def form_of(column: ColumnPlan) -> DateForm | None:
    """How the dates of a column are written, where the plan says so."""
    if column.format is None:
        return None
    return DateForm(order=column.format, pivot=PIVOT if column.pivot is None else column.pivot)


def stated_forms(columns: Mapping[str, Mapping[str, Any]]) -> dict[str, DateForm | None]:
    """How the dates of the columns of type date are written, by a manifest's plan."""
    dates = {name: column for name, column in columns.items() if column.get("type") == "date"}
    return {
        name: DateForm(order=column["format"], pivot=column.get("pivot", PIVOT)) if "format" in column else None
        for name, column in dates.items()
    }


def public_dates(column: ColumnPlan) -> dict[str, Any]:
    """As the manifest shows it: the key and its file stay with the steward."""
    document: dict[str, Any] = {} if column.format is None else {"format": column.format}
    document |= {} if column.pivot is None else {"pivot": column.pivot}
    if column.shift is None:
        return document
    ends = period_of(column.shift, "shift")
    more = {} if ends is None else {"period": [end.isoformat() for end in ends]}
    return document | {
        "shift": {"days": column.shift["days"], **more, **({"weeks": True} if column.shift.get("weeks") else {})}
    }


def refuse_dates(columns: Mapping[str, ColumnPlan], what: str) -> None:
    """Refuse forms and shifts of dates where no row is read into memory."""
    for name, column in columns.items():
        for key in ("format", "shift"):
            if getattr(column, key) is not None:
                raise PlanError(
                    f"columns.{name}.{key}: {what} must hold dates written YYYY-MM-DD; write them so, or give a file "
                    "that fits in memory"
                )


# Where a column's domain comes from, and what becomes of values outside it: keys of private releases and questions.
#
# A domain that was read off the rows tells of the people in them. So a plan says who knows it: its author
# (``declared``), a person who looked at a draft (``public``), the draft itself (``profile``), or a noisy search
# (``discover``).


FROM = ("declared", "public", "profile", "discover")
"""Who says what a column can hold."""
OUTSIDE = ("clamp", "drop", "refuse")
"""What becomes of a value that the domain does not have."""
OTHER = "other"
"""What values that were not found are called, where a plan does not say."""


def domain_keys(keys: Keys) -> dict[str, Any]:
    """What a column's table says about its domain; ``outside`` beside ``long`` is about points and is not read here."""
    settings: dict[str, Any] = {"domain_from": keys.one_of("domain_from", FROM, "declared")}
    if "outside" in keys.table and "long" not in keys.table:
        settings["outside"] = keys.one_of("outside", OUTSIDE, "clamp")
    if "other" in keys.table:
        settings["other"] = keys.required_text("other")
    within = keys.numbers("within")
    if "within" in keys.table and (len(within) != 2 or not within[0] < within[1]):
        raise PlanError(f"{keys.at('within')} must be two numbers, the smaller first, not {keys.table['within']!r}")
    return {**settings, "within": within}


def check_domain(column: ColumnPlan, name: str) -> None:
    """Refuse keys that contradict each other."""
    at = f"columns.{name}"
    if column.domain_from not in FROM:
        raise PlanError(f"{at}.domain_from must be one of {listed(FROM)}, not {column.domain_from!r}")
    if column.outside is not None and column.outside not in OUTSIDE:
        raise PlanError(f"{at}.outside must be one of {listed(OUTSIDE)}, not {column.outside!r}")
    if column.other is not None and (column.other == TOP or column.outside in ("drop", "refuse")):
        why = "'*' covers everything" if column.other == TOP else f"outside = {column.outside!r} leaves it nothing"
        raise PlanError(f"{at}.other: {why}; leave one of them out")
    if column.within and column.domain_from != "discover":
        raise PlanError(
            f'{at}.within goes with domain_from = "discover": the range is looked for between these numbers'
        )


def refuse_profiled(columns: Mapping[str, ColumnPlan], whom: str) -> None:
    """Refuse domains that ``sfumato profile`` read off the rows and that nobody has confirmed."""
    names = [name for name, column in columns.items() if column.domain_from == "profile" and _told(column)]
    if names:
        raise PlanError(
            f"columns.{names[0]}.domain_from: the domains of {listed(names, most=30)} were read off the rows by "
            f"`sfumato profile`, and one record can move them; {whom} needs domains that are public knowledge. Check "
            'each, correct it, and write domain_from = "public"; or let a release find it for a part of the budget '
            'with domain_from = "discover"'
        )


def _told(column: ColumnPlan) -> bool:
    return column.role not in (Role.IDENTIFIER, Role.DROP)


def refuse_total(columns: Mapping[str, ColumnPlan], kind: str) -> None:
    """Refuse keys that other kinds of release would pass over in silence."""
    for name, column in columns.items():
        for key in ("outside", "other"):
            if getattr(column, key) is not None:
                raise PlanError(
                    f"columns.{name}.{key} is for differentially private releases (privacy.epsilon or privacy.rho), "
                    f"for questions, and beside long; {kind} has no use for it"
                )


def public_keys(column: ColumnPlan) -> dict[str, Any]:
    """As the manifest shows them: what differs from the defaults."""
    document: dict[str, Any] = {} if column.domain_from == "declared" else {"domain_from": column.domain_from}
    document |= {key: getattr(column, key) for key in ("outside", "other") if getattr(column, key) is not None}
    return document | ({"within": list(column.within)} if column.within else {})


# What a plan says about one column.


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
        document: dict[str, Any] = {"role": list(BOTH) if self.guarded else str(self.role)}
        if self.type:
            document["type"] = self.type
        if self.itemized:
            document["separator"] = self.separator
        if self.type == "trajectory":
            document["mark"] = self.mark
        if self.long is not None and self.long.spec.clock is not None and self.long.spec.clock.split is not None:
            document["record"] = "window"
        if self.pseudonym is not None:
            document["pseudonym"] = "keyed"
        for name, tree in (("hierarchy", self.hierarchy), ("time_hierarchy", self.time_hierarchy)):
            if tree is not None:
                document[name] = str(tree.get("kind") or next(iter(tree), ""))
        if self.base:
            document["base"] = self.base
        if self.values:
            document["values"] = len(self.values)
        return document | public_dates(self) | public_keys(self)


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
    domain = None if tree is None else builder(tree, f"columns.{name}.hierarchy", folder).declared()
    if not isinstance(domain, Categories) or not domain.paths:
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
