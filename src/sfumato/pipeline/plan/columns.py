"""The plan's [columns]: role, type, hierarchy, base level, dates and domain of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec.structs import asdict, force_setattr, replace

from sfumato.bundles.pseudonyms import MOST_DAYS
from sfumato.core.errors import ParameterError, PlanError, listed
from sfumato.core.records import INTERNAL, Number, Record, decoded, missing, must
from sfumato.pipeline.plan.hierarchies import HIERARCHY, builder, builder_tree
from sfumato.pipeline.plan.sections import Text, Texts
from sfumato.tables.long_tables import Long
from sfumato.tables.map_squares import Grid
from sfumato.tables.schema import Categories, Role
from sfumato.tables.taxonomy import TOP
from sfumato.tables.times import PIVOT, DateForm, Order
from sfumato.tables.trajectories import Clock, checked_mark

Tree = Mapping[str, Any]

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


class ShiftPlan(Record, frozen=True, kw_only=True):
    """By how much the dates of a person move."""

    key_file: Annotated[Text, missing('anybody could move the dates back. Use { key_file = "secret.key" }')]
    """The file of the secret key."""
    days: Annotated[int, must(f"a whole number from 1 to {MOST_DAYS:,} such as 365", ge=1, le=MOST_DAYS)]
    """By how many days at most."""
    by: str | None = None
    """The column that tells people apart; input.unit when absent."""
    period: Annotated[
        tuple[Any, Any] | None,
        must('the first and last day of the records, such as ["2015-01-01", "2019-12-31"]'),
    ] = None
    """The first and last day of the records."""
    weeks: bool = False
    """Whether dates move by whole weeks."""


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
        _check_shift(column, column.shift, f"{at}.shift")


def _check_shift(column: ColumnPlan, shift: ShiftPlan, at: str) -> None:
    if column.role not in _SHIFTED:
        raise PlanError(
            f"{at}: a column with role = '{column.role}' does not publish days; shift is for the roles "
            f"{listed(list(map(str, _SHIFTED)))}. A quasi-identifier is generalized instead"
        )
    if shift.weeks and shift.days < _WEEK:
        raise PlanError(f"{at}.days must be at least {_WEEK} where dates move by whole weeks, not {shift.days}")
    ends = period_of(shift, at)
    if ends is not None and (ends[1] - ends[0]).days < 2 * shift.days:
        raise PlanError(
            f"{at}.period: from {ends[0]} to {ends[1]} are {(ends[1] - ends[0]).days:,} days; no date would be left of "
            f"a period that is not longer than 2 * days = {2 * shift.days:,}. Declare the whole period, or fewer days"
        )


def period_of(shift: ShiftPlan, at: str) -> tuple[date, date] | None:
    """The first and last day of the records, where a shift declares them."""
    if shift.period is None:
        return None
    try:
        first, last = (date.fromisoformat(str(end)) for end in shift.period)
    except ValueError:
        raise PlanError(
            f'{at}.period must be the first and last day of the records, such as ["2015-01-01", "2019-12-31"], not '
            f"{list(shift.period)!r}"
        ) from None
    if first >= last:
        raise PlanError(f"{at}.period must begin before it ends, not from {first} to {last}")
    return first, last


def check_shifts(columns: Mapping[str, ColumnPlan], unit: str | None) -> None:
    """Refuse shifts that differ, for then intervals between columns would be lost, and shifts of nobody's dates."""
    shifts = {name: column.shift for name, column in columns.items() if column.shift is not None}
    for name, shift in shifts.items():
        if shift.by is None and unit is None:
            raise PlanError(
                f"columns.{name}.shift.by is missing; name the column that tells people apart, or set input.unit"
            )
        first = next(iter(shifts))
        if shift != shifts[first]:
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
    return document | {"shift": {"days": column.shift.days, **more, **({"weeks": True} if column.shift.weeks else {})}}


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


OTHER = "other"
"""What values that were not found are called, where a plan does not say."""


def check_domain(column: ColumnPlan, name: str) -> None:
    """Refuse keys that contradict each other."""
    at = f"columns.{name}"
    if column.within and (len(column.within) != 2 or not column.within[0] < column.within[1]):
        raise PlanError(f"{at}.within must be two numbers, the smaller first, not {list(column.within)!r}")
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


BOTH = ("quasi", "sensitive")
"""The two roles that one column can have at once."""
ITEMIZED = ("set", "trajectory")
"""The types whose cells hold several items."""


class LongPlan(Record, frozen=True, kw_only=True, rename={"outside": INTERNAL}):
    """Where the items of a column stand one in a row: in the input itself, or in a file of their own."""

    id: Annotated[Text | Texts, missing("name the column, or the columns, that say whose row it is")]
    """The column, or columns, that say whose row it is."""
    file: str | None = None
    """The file; without one the input is the long table."""
    place: str | None = None
    """The column of places."""
    time: str | None = None
    """The column of times."""
    x: str | None = None
    """The column of the first coordinate (a longitude)."""
    y: str | None = None
    """The column of the second coordinate (a latitude)."""
    item: str | None = None
    """The column of items, for sets."""
    outside: Literal["clamp", "refuse", "drop"] = "refuse"
    """What happens to points outside the grid: the column's ``outside``."""


class GridPlan(Record, frozen=True, kw_only=True):
    """The squares that coordinates fall into."""

    low: tuple[Number, Number]
    """The lowest x and y of the map."""
    high: tuple[Number, Number]
    """The highest x and y of the map."""
    step: Number
    """The length of a square's side."""


class ClockPlan(Record, frozen=True, kw_only=True):
    """What turns times into ticks, and long records into windows."""

    step: str | Number
    """The length of a tick: "10m", "1h", "1d" (s, m, h, d, w), or a number."""
    start: str | Number | None = None
    """The time of tick 0."""
    split: str | Number | None = None
    """The length of a window."""


_UNKEYED = "without a secret key anybody can hash a list of names and find everyone again"


class PseudonymPlan(Record, frozen=True, kw_only=True):
    """Names of people become pseudonyms by a secret key."""

    REFUSED: ClassVar[Mapping[str, str]] = {"kind": f'{_UNKEYED}; use {{ key_file = "secret.key" }}'}
    key_file: Text
    """The file of the secret key."""
    name: str | None = None
    """What the pseudonyms are bound to; the column's name when absent."""


if TYPE_CHECKING:
    Roles = Role
else:  # a file may give two roles: the column is then a guarded quasi-identifier
    Roles = Annotated[Role | tuple[Role, ...], missing(f"it is one of {', '.join(Role)}")]


class ColumnPlan(Record, frozen=True, kw_only=True, rename={"guarded": INTERNAL}):
    """What one column is."""

    role: Roles
    """Its part in the release; given as ("quasi", "sensitive") it is a quasi-identifier that is ``guarded``."""
    type: Literal["text", "category", "integer", "real", "date", "set", "trajectory"] | None = None
    """How its values are read; inferred when absent."""
    hierarchy: HIERARCHY | None = None
    """How its values, items or places are generalized: a table as in TOML, or a builder of hierarchies."""
    base: int = 0
    """The level of the hierarchy at which counting begins; nothing finer is published."""
    time_hierarchy: HIERARCHY | None = None
    """How the times of a trajectory are generalized."""
    pseudonym: Annotated[PseudonymPlan | None, must('{ key_file = "secret.key" }', hint=_UNKEYED)] = None
    """For an identifier: the key file of its pseudonyms."""
    values: Texts = ()
    """Every value that the column can have, declared: public knowledge, whatever the table has."""
    separator: Annotated[str, must("one character such as '|'", min_length=1, max_length=1)] = "|"
    """Between the items of a set or the pairs of a trajectory, where they are written as texts."""
    mark: str = "@"
    """Between place and time."""
    repeats: Literal["first", "keep"] = "first"
    """Of the same place read several times in a row: the first reading counts, or all are kept."""
    long: LongPlan | None = None
    """Where the items stand one in a row, if they do."""
    grid: GridPlan | None = None
    """The squares that the points of a long table fall into."""
    clock: ClockPlan | None = None
    """What turns the times of a long table into ticks."""
    ties: Literal["refuse", "first"] | None = None
    """Two places at one time in a long table: refused, as when absent, or the first row counts."""
    guarded: bool = False
    """Whether a quasi-identifier is sensitive too: generalized, and protected from inference."""
    domain_from: Literal["declared", "public", "profile", "discover"] = "declared"
    """Who says which values there can be: see ``domain_plan``."""
    outside: Literal["clamp", "drop", "refuse"] | None = None
    """In private releases: what becomes of values outside the domain; as with clamp when absent. With long: whether
    points outside the grid are refused or dropped."""
    other: Text | None = None
    """In private releases and questions: the value that stands for all that are not declared, if any."""
    within: Annotated[tuple[Number, ...], must("two numbers, the smaller first", min_length=0, max_length=2)] = ()
    """Where a range is to be discovered: between which two numbers."""
    format: Order | None = None
    """For dates: the order of day, month and year; when absent they are written YYYY-MM-DD."""
    pivot: int | None = None
    """For dates whose years have two digits: the first year that they can mean; 1930 when absent."""
    shift: ShiftPlan | None = None
    """For dates that are published day by day: the key file and the most days that a person's dates move."""

    def __post_init__(self) -> None:
        """Turn roles and builders into what a plan file says."""
        given: Any = self.role
        if isinstance(given, list | tuple):
            force_setattr(self, "guarded", True)
            given = _guarded_role(given)
        force_setattr(self, "role", Role(given))
        for key in ("hierarchy", "time_hierarchy"):
            if hasattr(getattr(self, key), "build"):
                force_setattr(self, key, builder_tree(getattr(self, key)))
        if self.long is not None and self.outside is not None:
            force_setattr(self, "long", replace(self.long, outside=self.outside))
            force_setattr(self, "outside", None)

    def refuse_strangers(self, name: str) -> None:
        """Refuse keys of a file that mean something for other types and roles only."""
        at = f"columns.{name}"
        for key, default in (("time_hierarchy", None), ("mark", "@"), ("repeats", "first")):
            if getattr(self, key) != default and self.type != "trajectory":
                raise PlanError(f"{at}.{key}: only a column with type = 'trajectory' has times")
        if self.long is not None and self.type not in ITEMIZED:
            raise PlanError(f"{at}.long: only a column with type = 'trajectory' or 'set' is gathered from rows")
        for key in ("grid", "clock", "ties"):
            if getattr(self, key) is not None and self.long is None:
                raise PlanError(f"{at}.{key} goes with long, the table of single readings")
        if self.pseudonym is not None and self.role is not Role.IDENTIFIER:
            raise PlanError(f"{at}.pseudonym: only a column with role = 'identifier' is pseudonymized")
        try:
            checked_mark(self.mark, self.separator)
        except ParameterError as error:
            raise PlanError(f"{at}: {error}") from error

    def check(self, name: str, folder: Path) -> None:
        """Refuse a hierarchy that cannot be built; files are looked at when they are read."""
        check_domain(self, name)
        check_date(self, name)
        check_base(self, name)
        if self.long is not None:
            self.spec(name)
        for key in ("hierarchy", "time_hierarchy"):
            tree: Tree | None = getattr(self, key)
            if tree is not None and "file" not in tree:
                builder(tree, f"columns.{name}.{key}", folder)
        if self.guarded:
            _refuse_unguarded(self, name, folder)

    def spec(self, name: str) -> Long:
        """How the long table of the column is to be read."""
        long = self.long
        if long is None:
            raise PlanError(f"columns.{name}.long is missing")
        try:
            return Long(
                name=name,
                kind=self.type,  # type: ignore[arg-type]
                id=(long.id,) if isinstance(long.id, str) else long.id,
                **{key: getattr(long, key) for key in ("place", "time", "x", "y", "item")},
                grid=None if self.grid is None else Grid(**asdict(self.grid)),
                clock=None if self.clock is None else Clock(**asdict(self.clock)),
                outside=long.outside,  # type: ignore[arg-type]
                ties=self.ties or "refuse",
                repeats=self.repeats,
                mark=self.mark,
            )
        except ParameterError as error:
            raise PlanError(f"columns.{name}: {error}") from error

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
        if self.clock is not None and self.clock.split is not None:
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


def column_plan(table: Any, name: str) -> ColumnPlan:
    """One column of a plan, whose hierarchies may be builders."""
    column = decoded(with_trees(table), ColumnPlan, f"columns.{name}")
    column.refuse_strangers(name)
    return column


def with_trees(column: Any) -> Any:
    """A column's table with builders of hierarchies as tables."""
    if isinstance(column, Mapping):
        built = {key: builder_tree(value) for key, value in column.items() if hasattr(value, "build")}
        return {**column, **built} if built else column
    return column


def _guarded_role(given: Sequence[Any]) -> Role:
    """The role of a column that is given several; only one combination means something.

    >>> _guarded_role(["sensitive", "quasi"])
    <Role.QUASI: 'quasi'>
    """
    if sorted(map(str, given)) != sorted(BOTH):
        raise ParameterError(
            f"role: {listed(list(map(str, given)))} cannot be one column's roles; name one of {', '.join(Role)}, or "
            '["quasi", "sensitive"] for a quasi-identifier that must not be inferred either'
        )
    return Role.QUASI


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
