"""The kit that every privacy model must pass: what must hold of any model, and the laws that it claims.

Each check takes a model, the classes of a concrete table and a generator, changes the table at random and raises
``BrokenLaw`` where the model breaks its word. Where the random tables come from is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.randomness import Chance
from sfumato.counts.classes import Classes
from sfumato.counts.local_table import cells
from sfumato.counts.tally import Counts, Tally
from sfumato.models.model import Model, Verdict, stands
from sfumato.tables.table import Table

ModelOrFactory = Model | Callable[[Classes], Model]
MakeTables = Callable[[np.random.Generator], Iterable[Classes]]


class BrokenLaw(AssertionError):
    """A model does not do what every model does, or what it claims."""


def classes_of(columns: Mapping[str, Sequence[object]], *, quasi: Sequence[str]) -> Classes:
    """The classes of a small table by its quasi-identifiers; every other column is counted.

    >>> classes_of({"zip": ["10", "10", "20"], "ill": ["flu", "flu", "hiv"]}, quasi=["zip"]).sizes.tolist()
    [2, 1]
    """
    table = Table(frame=pl.DataFrame(dict(columns)))
    counted = [table.column(name) for name in columns if name not in quasi]
    return cells([table.column(name) for name in quasi], counted).classes


def check_model(model: ModelOrFactory, make_tables: MakeTables, *, seed: int = 0) -> int:
    """Run every check over the tables that ``make_tables`` yields; tells how many tables there were.

    A factory is called with each table, for models whose parameters name values of it.

    >>> from sfumato.models.k_anonymity import KAnonymity
    >>> check_model(KAnonymity(k=2), lambda rng: [classes_of({"zip": ["1", "1", "2"]}, quasi=["zip"])])
    1
    """
    rng = Chance(seed=seed).generator()
    count = 0
    for table in make_tables(rng):
        check_table(_built(model, table), table, rng)
        count += 1
    return count


def check_table(model: Model, table: Classes, rng: np.random.Generator) -> None:
    """Run every check over one table; reference distributions are pinned to it, as for an original table."""
    table = pinned(table)
    for check in CHECKS:
        check(model, table, rng)


def check_verdict(model: Model, table: Classes, rng: np.random.Generator) -> None:
    """The verdict agrees with itself, and the one on the whole table says why it fails."""
    for verdict, classes in ((model.check(table), table.count), (model.reachable(table), min(table.count, 1))):
        _demand(model, verdict.holds == (len(verdict.failing) == 0), "holds iff no class fails")
        _demand(model, sorted(set(verdict.failing.tolist())) == verdict.failing.tolist(), "failing ascends")
        _demand(model, bool(np.isin(verdict.failing, np.arange(classes)).all()), "failing are classes")
        within = bool(stands(verdict.reached, verdict.limit, verdict.sense))
        _demand(model, not classes or within == verdict.holds, "reached stands to the limit iff it holds")
    _demand(model, verdict.holds or bool(verdict.note), "an unreachable wish is explained")


def check_order(model: Model, table: Classes, rng: np.random.Generator) -> None:
    """The order of the rows and of the classes does not matter."""
    order = rng.permutation(table.count)
    before, after = model.check(table), model.check(reordered(table, order))
    _demand(model, _same_judgement(before, after), "the order of classes does not matter")
    _demand(model, sorted(order[after.failing].tolist()) == before.failing.tolist(), "the same classes fail")


def check_names(model: Model, table: Classes, rng: np.random.Generator) -> None:
    """How values are spelt and numbered does not matter, unless the model names some of them."""
    before = model.check(table)
    numbered = model.check(renumbered(table, rng))
    _demand(model, _same(before, numbered), "the numbering of values does not matter")
    names_values = any(repr(value) in repr(model) for tally in table.tallies.values() for value in tally.values)
    spelt = model.check(respelt(table, sensitive=not names_values))
    _demand(model, _same(before, spelt), "the spelling of values does not matter")


def check_merging(model: Model, table: Classes, rng: np.random.Generator) -> None:
    """Where every class passes, they pass joined by coarser labels, if the model claims so."""
    if model.kept_by_merging and model.check(table).holds:
        _demand(model, model.check(coarsened(table, rng)).holds, "kept by merging")
        _demand(model, model.reachable(table).holds, "kept by merging to one class")


def check_removal(model: Model, table: Classes, rng: np.random.Generator) -> None:
    """Classes that pass still pass without some others, if the model claims so."""
    if not model.kept_by_removal:
        return
    kept = rng.random(table.count) < rng.random()
    failing = np.flatnonzero(kept)[model.check(table.take(kept)).failing]
    _demand(model, bool(np.isin(failing, model.check(table).failing).all()), "kept by removal")


def check_growth(model: Model, table: Classes, rng: np.random.Generator) -> None:
    """A class that passes still passes with more rows, if the model claims so."""
    if not model.kept_by_growth or not table.count:
        return
    place = int(rng.integers(table.count))
    passed = place not in model.check(table).failing
    _demand(model, not passed or place not in model.check(grown(table, place, rng)).failing, "kept by growth")


def check_alone(model: Model, table: Classes, rng: np.random.Generator) -> None:
    """Models that judge each class by itself fail exactly the classes that fail as the only one."""
    if not model.kept_by_removal:
        return
    alone = [place for place in range(table.count) if not model.check(only(table, place)).holds]
    _demand(model, alone == model.check(table).failing.tolist(), "failing classes fail alone")


CHECKS = (check_verdict, check_order, check_names, check_merging, check_removal, check_growth, check_alone)


def _built(model: ModelOrFactory, table: Classes) -> Model:
    if hasattr(model, "check"):
        return cast(Model, model)
    return model(table)


def _same(verdict: Verdict, other: Verdict) -> bool:
    return _same_judgement(verdict, other) and verdict.failing.tolist() == other.failing.tolist()


def _same_judgement(verdict: Verdict, other: Verdict) -> bool:
    near = verdict.reached == other.reached or abs(verdict.reached - other.reached) <= 1e-9 * max(
        1, abs(verdict.reached)
    )
    return verdict.holds == other.holds and near and verdict.limit == other.limit and verdict.sense == other.sense


def _demand(model: Model, true: bool, law: str) -> None:
    if not true:
        raise BrokenLaw(f"{model!r} breaks: {law}")


def pinned(table: Classes) -> Classes:
    """The table with its own distributions as the original ones, so that they stay when rows go."""
    return _retallied(table, lambda t: t if t.original is not None else replace(t, original=t.overall))


def reordered(table: Classes, order: NDArray[np.int64]) -> Classes:
    """The classes in another order: class ``i`` of the result was class ``order[i]``."""
    ids = np.argsort(order).astype(np.int64)
    moved = _retallied(table, lambda t: t.merged(ids, t.classes))
    measures = {name: figures[order] for name, figures in table.measures.items()}
    return replace(moved, keys=table.keys[:, order], sizes=table.sizes[order], measures=measures)


def renumbered(table: Classes, rng: np.random.Generator) -> Classes:
    """The counted values with other codes; numbers go along."""
    return _retallied(table, lambda tally: _renumbered(tally, rng.permutation(len(tally.values))))


def respelt(table: Classes, *, sensitive: bool) -> Classes:
    """Every label spelt otherwise, and the counted values too when ``sensitive``; nothing and ``*`` stay."""
    labels = tuple(_spelt(names) for names in table.labels)
    spelt = replace(table, labels=labels)
    if table.population is not None:
        spelt = replace(spelt, population=replace(table.population, labels=labels))
    if not sensitive:
        return spelt
    return _retallied(spelt, lambda tally: replace(tally, values=_spelt(tally.values)))


def _spelt(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value if value in ("", "*") else f"<{value}>" for value in values)


def coarsened(table: Classes, rng: np.random.Generator) -> Classes:
    """Every column's labels mapped at random to fewer ones, and the classes joined."""
    lifts = [rng.integers(max(len(n) - 1, 1), size=len(n)).astype(np.int32) for n in table.labels]
    labels = [tuple(f"part {i}" for i in range(max(len(n) - 1, 1))) for n in table.labels]
    return replace(table.recoded(lifts, labels)[0], wild=None)


def only(table: Classes, place: int) -> Classes:
    """One class of the table."""
    kept = np.zeros(table.count, np.bool_)
    kept[place] = True
    return table.take(kept)


def grown(table: Classes, place: int, rng: np.random.Generator) -> Classes:
    """One class with some more rows of any values."""
    more = int(rng.integers(1, 9))
    sizes = table.sizes.copy()
    sizes[place] += more
    return replace(_retallied(table, lambda t: _grown(t, place, more, rng)), sizes=sizes)


def _grown(tally: Tally, place: int, more: int, rng: np.random.Generator) -> Tally:
    codes = rng.integers(len(tally.values), size=more)
    raised = replace(
        tally,
        owners=np.concatenate([tally.owners, np.full(more, place, np.int64)]),
        codes=np.concatenate([tally.codes, codes.astype(np.int32)]),
        counts=np.concatenate([tally.counts, np.ones(more, np.int64)]),
    )
    return raised.merged(np.arange(tally.classes, dtype=np.int64), tally.classes)


def _renumbered(tally: Tally, order: NDArray[np.int64]) -> Tally:
    """Code ``i`` of the result was ``order[i]``."""
    codes = np.argsort(order).astype(np.int32)
    moved = replace(
        tally,
        codes=codes[tally.codes],
        values=tuple(tally.values[old] for old in order),
        missing=None if tally.missing is None else int(codes[tally.missing]),
        numbers=None if tally.numbers is None else tally.numbers[order],
        original=_moved(tally.original, order),
        whole=_moved(tally.whole, order),
    )
    return moved.merged(np.arange(tally.classes, dtype=np.int64), tally.classes)


def _moved(counts: Counts | None, order: NDArray[np.int64]) -> Counts | None:
    return None if counts is None else counts[order]


def _retallied(table: Classes, change: Callable[[Tally], Tally]) -> Classes:
    return replace(table, tallies={name: change(tally) for name, tally in table.tallies.items()})
