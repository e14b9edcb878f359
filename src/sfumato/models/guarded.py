"""A model about a column that is a quasi-identifier and sensitive at once: what the other columns tell about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from math import lcm

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import text
from sfumato.core.errors import DataError, ParameterError, listed, unknown_column
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids, distinct, representatives, total
from sfumato.counts.tally import Counts, Tally
from sfumato.counts.wildcards import resolved
from sfumato.models.confidence import ConfidenceBounding
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.models.model import Model, Verdict, ancestor_paths, one_class, worse
from sfumato.models.t_closeness import TCloseness
from sfumato.tables.hierarchy import TOP

Paths = Mapping[str, tuple[str, ...]]
DIVERSITY = (DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity)
JUDGING = (*DIVERSITY, TCloseness, ConfidenceBounding)
"""The models that can be asked of such a column: they judge a distribution of values and nothing else."""
_ROOM = 2**62
"""The largest count; what a row is divided into is chosen so that all rows stay below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A model holds for what the other quasi-identifiers tell about ``column``, which is a quasi-identifier itself.

    Claim: whoever knows all quasi-identifiers of a person but ``column`` finds the rows that agree in those. These show
        labels of ``column``. A label says nothing about which of the values below it a row has, so each row counts
        evenly for all of them, ``*`` for every declared value. The model holds for these counts in every such group.
        A missing value is tried as a value of its own and as every declared one. Where people are counted, it holds
        for the people of each class added up, as a reader of the release counts, and for everybody counted once.
    Source: Fung et al. 2010, section 2 (sensitive attributes may be known too); the even spread is the random worlds
        reading of a generalized value, as in Machanavajjhala et al. 2007.
    Does not protect against: somebody who knows which of the values below a label are frequent. Where people are
        counted, one who has several rows under one label is taken to have one value below it.

    Counts are whole numbers: each row is divided into as many parts as all numbers of leaves divide, or, where that
    would be too many, into parts so small that no share is wrong by more than the number of rows in 2^62.

    Example:
        >>> from sfumato.testing.models import classes_of
        >>> table = classes_of({"zip": ["1", "1"], "ill": ["lung", "lung"]}, quasi=["zip", "ill"])
        >>> tree = {"flu": ("lung",), "asthma": ("lung",), "ulcer": ("gut",)}
        >>> Guarded(model=SimpleLDiversity(l=2, column="ill"), column="ill", paths=tree).check(table).reached
        0.5
    """

    model: Model
    """What must hold."""
    column: str
    """The quasi-identifier that must not be inferred."""
    paths: Paths
    """The declared tree over it: for each value its ancestors, nearest first, without the root."""
    _leaves: Mapping[str, NDArray[np.int32]] = field(init=False, repr=False, compare=False)
    """For each label, the values below it."""

    def __post_init__(self) -> None:
        text("column", self.column)
        ancestor_paths("paths", self.paths)
        refuse_unfit(self.model, self.column)
        for template in self.model.templates if isinstance(self.model, ConfidenceBounding) else ():
            if template.value not in self.paths:
                raise ParameterError(f"{template}: {template.value!r} is no declared value of {self.column!r}")
        object.__setattr__(self, "_leaves", _leaves(self.column, self.paths))

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def kept_by_merging(self) -> bool:
        """Where more even counts cannot harm: kinds of diversity, and half the sum of differences.

        Other columns: groups are joined as classes are. This column: a coarser label averages over the values below
        it. That makes no set of values more frequent than the most frequent ones as many were, and brings two
        distributions no farther apart in sum. But it can make the value of a template more frequent, and it can move
        values that lie close to each other apart, which an order or a matrix of costs would notice.
        """
        if isinstance(self.model, TCloseness):
            return self.model.distance in ("variational", "emd-equal")
        return isinstance(self.model, DIVERSITY)

    @property
    def kept_by_removal(self) -> bool:
        """A removed class may have diluted the group that it was in."""
        return False

    @property
    def kept_by_growth(self) -> bool:
        """Rows of a finer label are not more of the same."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """None that would have to be counted: the labels are read off the classes."""
        return ()

    @property
    def counts_anew(self) -> bool:
        """It groups the classes by the other columns."""
        return True

    def check(self, classes: Classes) -> Verdict:
        """Judge the groups by what else is known; a class fails if its group does."""
        worst_verdicts = []
        for known, model in self._views(classes):
            verdicts = []
            for once in (False, True) if classes.people is not None and classes.per_person else (False,):
                groups, ids = self.groups(classes, known, once=once)
                verdict = _strict(model, groups, self.column)
                fails = np.zeros(groups.count, np.bool_)
                fails[verdict.failing] = True
                verdicts.append(replace(verdict, failing=np.flatnonzero(fails[ids])))
            worst_verdicts.append(reduce(worse, verdicts))
        worst = (
            max(worst_verdicts, key=lambda verdict: verdict.reached / verdict.limit)
            if len(worst_verdicts) > 1
            else worst_verdicts[0]
        )
        failing = np.unique(np.concatenate([verdict.failing for verdict in worst_verdicts]))
        return replace(worst, holds=not len(failing), failing=failing)

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class: every declared value is equally frequent then."""
        whole = one_class(table)
        return self.model.reachable(self.groups(whole, tuple(n for n in whole.quasi if n != self.column))[0])

    def _views(self, classes: Classes) -> Iterator[tuple[tuple[str, ...], Model]]:
        """What is known, and the model that holds then: all other quasi-identifiers, or those of a template."""
        others = tuple(name for name in classes.quasi if name != self.column)
        if not isinstance(self.model, ConfidenceBounding):
            yield others, self.model
            return
        for template in self.model.templates:
            yield template.quasi or others, ConfidenceBounding(templates=(template,))

    def groups(self, classes: Classes, known: tuple[str, ...], *, once: bool = False) -> tuple[Classes, Ids]:
        """The classes by what is known, with counts of the column's declared values; also where each class went.

        Where people are counted, a reader of the release cannot tell that rows of two classes are of one person: they
        add up. With ``once`` whoever has rows in several classes of a group counts once, as the publisher knows it.
        """
        for name in (*known, self.column):
            if name not in classes.quasi:
                raise unknown_column(name, classes.quasi, where="quasi-identifiers")
        places = [classes.quasi.index(name) for name in known]
        mine = classes.quasi.index(self.column)
        ids, count = _grouped(classes, places)
        pairs, many = _grouped(classes, [*places, mine])
        first = representatives(pairs, many)
        sizes, rows = total(ids, classes.sizes, count), total(pairs, classes.sizes, many)
        if once and classes.people is not None:
            sizes, rows = classes.people.moved(ids).sizes(count), classes.people.moved(pairs).sizes(many)
        parts, tally = self._spread(classes, mine, (ids[first], classes.keys[mine][first], rows), count)
        place = representatives(ids, count)
        groups = Classes(
            quasi=known,
            keys=classes.keys[places][:, place],
            labels=tuple(classes.labels[c] for c in places),
            sizes=sizes * parts,
            tallies={self.column: tally},
            per_person=once,
        )
        return groups, ids

    def _spread(
        self, classes: Classes, mine: int, entries: tuple[Ids, NDArray[np.int32], Counts], groups: int
    ) -> tuple[int, Tally]:
        """How many parts a row has, and the parts of each declared value in each group."""
        owners, codes, rows = entries
        labels = classes.labels[mine]
        missing = None if classes.wild is None else _missing(labels, classes.wild[mine], codes)
        values = tuple(self.paths) if missing is None else (*self.paths, labels[missing])
        below = {code: self._below(labels[code], code == missing) for code in np.unique(codes).tolist()}
        widths = np.zeros(len(labels), np.int64)
        widths[list(below)] = [len(leaves) for leaves in below.values()]
        parts = lcm(*(len(leaves) for leaves in below.values()))
        if parts * int(rows.sum()) >= _ROOM:
            parts = _ROOM // int(rows.sum())
        tally = Tally(
            column=self.column,
            values=values,
            owners=np.repeat(owners, widths[codes]),
            codes=np.concatenate([below[code] for code in codes.tolist()] or [np.zeros(0, np.int32)]),
            counts=np.repeat(-(-rows * parts // widths[codes]), widths[codes]),
            classes=groups,
            missing=missing if missing is None else len(self.paths),
        )
        return parts, tally.merged(np.arange(groups, dtype=np.int64), groups)

    def _below(self, label: str, missing: bool) -> NDArray[np.int32]:
        """The values that a label covers; a missing value is one of its own."""
        if missing:
            return np.array([len(self.paths)], np.int32)
        if label not in self._leaves:
            raise DataError(f"the declared tree of column {self.column!r} has no label {label!r}")
        return self._leaves[label]


def _strict(model: Model, groups: Classes, column: str) -> Verdict:
    """The worst verdict with missing values as a value of their own, and as every known one."""
    own = model.check(groups)
    if groups.tally(column).missing is None:
        return own
    return reduce(worse, (model.check(possible) for possible in resolved(groups, column)), own)


def _grouped(classes: Classes, places: list[int]) -> tuple[Ids, int]:
    if not places:
        return np.zeros(classes.count, np.int64), min(classes.count, 1)
    return distinct([classes.keys[c] for c in places], [len(classes.labels[c]) for c in places], classes.count)


def _missing(labels: tuple[str, ...], wild: NDArray[np.bool_], codes: NDArray[np.int32]) -> int | None:
    """The code of the missing value, where it occurs."""
    missing_codes = [code for code in np.unique(codes).tolist() if wild[code] and labels[code] != TOP]
    return missing_codes[0] if missing_codes else None


def _leaves(column: str, paths: Paths) -> dict[str, NDArray[np.int32]]:
    """The values below each label, or a refusal of a label that stands for different ones."""
    levels: dict[tuple[int, str], list[int]] = {}
    for leaf, (value, above) in enumerate(paths.items()):
        for level, label in enumerate((value, *above)):
            levels.setdefault((level, label), []).append(leaf)
    leaves_of: dict[str, list[int]] = {}
    for (_, label), leaves in levels.items():
        if label == TOP or leaves_of.setdefault(label, leaves) != leaves:
            raise ParameterError(
                f"the tree of {column!r} has the label {label!r} for different sets of values, so nobody could tell "
                "what a released label covers; rename one"
            )
    if not leaves_of:
        raise ParameterError(f"paths must have the declared values of {column!r}, at least one")
    return {name: np.array(leaves, np.int32) for name, leaves in [*leaves_of.items(), (TOP, list(range(len(paths))))]}


def refuse_unfit(model: Model, column: str) -> None:
    """Refuse a model that cannot be asked of a column which is a quasi-identifier too."""
    if not isinstance(model, JUDGING):
        raise ParameterError(
            f"{model.name} cannot be asked of {column!r}, which is a quasi-identifier too; "
            f"{listed([model_type.name for model_type in JUDGING], most=10)} can"
        )
    if model.columns != (column,):
        raise ParameterError(f"the model must be about {column!r} alone, not {listed(model.columns)}")
    if isinstance(model, TCloseness) and model.reference == "original":
        raise ParameterError(
            f"reference = 'original' cannot be asked of {column!r}: a release that generalizes the column does not "
            "show its original distribution; use 'released'"
        )
    for template in model.templates if isinstance(model, ConfidenceBounding) else ():
        if column in template.quasi:
            raise ParameterError(f"{template} would infer {column!r} from itself; leave it out of quasi")
