"""DiffGen's constants: prices, sizes of groups, what is kept, inner counts; on tables that no other figure is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from measure import table
from sfumato.algorithms.diffgen import DiffGen, specialization
from sfumato.algorithms.diffgen.noisy_specializer import published
from sfumato.algorithms.private_table import Attribute, Mechanisms, NoisyTable, PrivateTable
from sfumato.core.run_context import Work
from sfumato.counts.local_cuts import CodedColumn, CodedRows
from sfumato.tables.taxonomy import taxonomy
from tables import ROOT

RUNS, RUNS_INNER = 4, 10
PRICES = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)
RECORDS = (12.0, 25.0, 50.0)
KEPT = ("1/4", "1/8", "1/2")
INNER: tuple[str | int, ...] = (0, "1/20", "1/10", "1/4")
EPSILONS = ("0.1", "0.5", "1")
Codes = NDArray[np.int64]


def flat(name: str, size: int) -> Attribute:
    """A domain without a tree."""
    values = tuple(f"{name}{n:03d}" for n in range(size))
    tree = taxonomy([(one,) for one in values], {}, total=float(size), height=1)
    return Attribute(name=name, kind="tree", values=values, tree=tree)


def number(name: str, cells: int) -> Attribute:
    """A range with a grid of 1."""
    return Attribute(name=name, kind="number", values=tuple(map(str, range(cells))), low=0.0, high=cells - 1.0)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Two thirds to publish, one third to test on."""

    attributes: list[Attribute]
    codes: list[Codes]
    kinds: Codes

    def __post_init__(self) -> None:
        order = np.random.default_rng(0).permutation(len(self.kinds))
        for name, value in (("codes", [one[order] for one in self.codes]), ("kinds", self.kinds[order])):
            object.__setattr__(self, name, value)

    @property
    def cut(self) -> int:
        """How many are published."""
        return len(self.kinds) * 2 // 3

    def private(self) -> PrivateTable:
        """What is published."""
        columns = [
            CodedColumn(codes=one[: self.cut].astype(np.int32), size=len(a.values))
            for a, one in zip(self.attributes, self.codes, strict=True)
        ]
        kinds = self.kinds[: self.cut].astype(np.int32)
        return PrivateTable(
            attributes=tuple(self.attributes),
            classes=("no", "yes"),
            counts=CodedRows(columns=tuple(columns), counted={"class": kinds}),
            target_name="class",
        )

    def accuracy(self, made: NoisyTable) -> float:
        """That of a decision tree learnt from the noisy groups."""
        cuts = [cut for cut in made.cut if cut is not None]
        means = [
            np.eye(len(cut.labels)) if a.kind == "tree" else np.arange(len(cut.labels))[:, None]
            for a, cut in zip(self.attributes, cuts, strict=True)
        ]
        rows = np.concatenate([mean[keys] for mean, keys in zip(means, made.keys, strict=True)], axis=1)
        weights = made.counts.ravel().astype(float)
        if not weights.sum():
            return float((self.kinds[self.cut :] == 0).mean())
        least = min(10 / weights.sum(), 0.5)
        model = DecisionTreeClassifier(
            criterion="entropy", min_weight_fraction_leaf=least, ccp_alpha=2e-4, random_state=0
        )
        kept = weights > 0
        model.fit(np.repeat(rows, 2, axis=0)[kept], np.tile([0, 1], len(rows))[kept], sample_weight=weights[kept])
        pairs = zip(means, cuts, self.codes, strict=True)
        tested = np.concatenate([mean[cut.of_code[one[self.cut :]]] for mean, cut, one in pairs], axis=1)
        return float((model.predict(tested) == self.kinds[self.cut :]).mean())

    def off(self, made: NoisyTable) -> float:
        """The share of records that the counts of labels put wrongly, the mean of all columns that are told."""
        found = []
        for cut, one, keys in zip(made.cut, self.codes, made.keys, strict=True):
            if cut is not None and len(cut.labels) > 1:
                noisy = np.bincount(keys, weights=made.counts.sum(axis=1), minlength=len(cut.labels))
                true = np.bincount(cut.of_code[one[: self.cut]], minlength=len(cut.labels))
                found.append(np.abs(noisy - true).sum() / 2 / self.cut)
        return float(np.mean(found)) if found else 0.0


def _classed(score: NDArray[np.float64], dice: np.random.Generator) -> Codes:
    return (score + dice.logistic(size=len(score)) > 0).astype(np.int64)


def unordered() -> Trial:
    """Five flat domains of 50 values, 60,000 records; three tell about the class."""
    dice = np.random.default_rng(1)
    codes = [dice.choice(50, 90_000, p=dice.dirichlet(np.ones(50))) for _ in range(5)]
    score = sum(dice.normal(size=50)[one] for one in codes[:3])
    return Trial(attributes=[flat(f"c{n}", 50) for n in range(5)], codes=codes, kinds=_classed(score, dice))


def ordered() -> Trial:
    """Three flat domains of 50 values whose order tells, and two small ones, 30,000 records."""
    dice = np.random.default_rng(3)
    codes = [np.clip(dice.normal(25, 9, 45_000).astype(int), 0, 49) for _ in range(3)]
    codes += [dice.integers(0, 5, 45_000), dice.integers(0, 4, 45_000)]
    score = (codes[0] > 30) * 1.5 + (codes[1] - 25) * 0.08 * (codes[3] > 2) - (codes[2] < 18) + 0.5 * (codes[4] == 1)
    named = [flat(f"c{n}", 50) for n in range(3)] + [flat("a", 5), flat("b", 4)]
    return Trial(attributes=named, codes=codes, kinds=_classed(score - 1.0, dice))


def mixed() -> Trial:
    """Four numbers and four flat domains of 5 to 16 values with common causes, 30,000 records."""
    dice = np.random.default_rng(2)
    named = [number(f"n{n}", 60) for n in range(4)] + [flat(f"f{size}", size) for size in (5, 8, 12, 16)]
    causes = dice.normal(size=(45_000, 3))
    seen = causes @ dice.normal(size=(3, 8)) + dice.normal(size=(45_000, 8))
    codes = []
    for one, values in zip(named, seen.T, strict=True):
        size = len(one.values)
        place = np.clip(((values - values.min()) / np.ptp(values) * size).astype(int), 0, size - 1)
        codes.append(dice.permutation(size)[place] if one.kind == "tree" else place)
    first, second, third = causes.T
    score = first * 1.5 + np.maximum(second, 0) * first + third / 2 - 1.2
    return Trial(attributes=named, codes=codes, kinds=_classed(score, dice))


def small() -> Trial:
    """Eight flat domains of six values and two numbers, 30,000 records."""
    dice = np.random.default_rng(4)
    codes = [dice.choice(6, 45_000, p=dice.dirichlet(np.full(6, 2.0))) for _ in range(8)]
    codes += [dice.integers(0, 40, 45_000), np.minimum(dice.exponential(15, 45_000).astype(int), 99)]
    strengths = (1, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0)
    score = sum(dice.normal(size=6)[one] * weight for one, weight in zip(codes, strengths, strict=False))
    score = score + (codes[8] - 20) * 0.05 + 0.03 * np.minimum(codes[9], 40) - 1.5
    named = [flat(f"c{n}", 6) for n in range(8)] + [number("n", 40), number("m", 100)]
    return Trial(attributes=named, codes=codes, kinds=_classed(score, dice))


def _read(frame: pl.DataFrame, names: tuple[str, ...], numbers: dict[str, tuple[int, int]], kinds: pl.Series) -> Trial:
    """A public table; what its flat domains have is read off it, which a release must not do."""
    named, codes = [], []
    for name, (cells, grid) in numbers.items():
        named.append(number(name, cells))
        codes.append(np.clip(frame[name].cast(pl.Float64).to_numpy() // grid, 0, cells - 1).astype(int))
    for name in names:
        column = frame[name].cast(pl.String)
        values = column.unique().sort().to_list()
        named.append(flat(name, len(values)))
        codes.append(column.cast(pl.Enum(values)).to_physical().to_numpy().astype(int))
    return Trial(attributes=named, codes=codes, kinds=kinds.to_numpy().astype(np.int64))


def accidents() -> Trial:
    """FARS: who died, by age, sex and state."""
    frame = pl.read_csv(ROOT / "arx" / "fars_subset.csv", separator=";")
    return _read(frame, ("isex", "istatenum"), {"iage": (100, 1)}, frame["iinjury"] == "Fatal Injury")


def givers() -> Trial:
    """CUP: who gave more than eight times."""
    frame = pl.read_csv(ROOT / "arx" / "cup_subset.csv", separator=";")
    numbers = {"AGE": (100, 1), "RAMNTALL": (100, 10), "MINRAMNT": (50, 1)}
    return _read(frame, ("STATE", "GENDER", "INCOME"), numbers, frame["NGIFTALL"] > 8)


def trials() -> Iterator[tuple[str, Trial]]:
    """The tables that are there."""
    made: dict[str, Callable[[], Trial]] = {"unordered": unordered, "ordered": ordered, "mixed": mixed, "small": small}
    if (ROOT / "arx" / "fars_subset.csv").exists():
        made |= {"FARS": accidents, "CUP": givers}
    yield from ((name, make()) for name, make in made.items())


def settled(given: list[tuple[str, Trial]], kept: str) -> list[str]:
    """The accuracy on each table, their mean, and how wrong labels are; means over all budgets."""
    line, off = [], []
    for _, one in given:
        made = [DiffGen(epsilon=e, kept=kept)(one.private(), Work()) for e in EPSILONS for _ in range(RUNS)]
        line.append(float(np.mean([one.accuracy(m) for m in made])))
        off.append(float(np.mean([one.off(m) for m in made])))
    return [*(f"{100 * x:.1f}" for x in (*line, np.mean(line))), f"{100 * np.mean(off):.2f}"]


def by_price(given: list[tuple[str, Trial]]) -> list[list[str]]:
    """Each price, all else as it is."""
    usual, rows = specialization.PRICE, []
    for price in PRICES:
        specialization.PRICE = price
        rows.append([f"{price:g}", *settled(given, KEPT[0])])
    specialization.PRICE = usual
    return rows


def by_size(given: list[tuple[str, Trial]]) -> list[list[str]]:
    """What is kept for the counts, and how many times their noise should be in a group; all else as it is."""
    usual, rows = specialization.RECORDS, []
    for kept, records in [*((KEPT[0], many) for many in RECORDS), *((kept, usual) for kept in KEPT[1:])]:
        specialization.RECORDS = records
        rows.append([f"{kept}, {records:g}", *settled(given, kept)])
    specialization.RECORDS = usual
    return rows


def by_inner(given: list[tuple[str, Trial]]) -> list[list[str]]:
    """The same groups each time, since the best is always chosen: how wrong labels are, and the accuracy."""
    chosen = Mechanisms(choose=lambda scores, cost: int(np.argmax(scores.values)))
    rows = []
    for inner in INNER:
        line, right = [], []
        for _, one in given:
            asked = [DiffGen(epsilon=e, inner=inner) for e in (EPSILONS[0], EPSILONS[-1])]
            made = [published(a, one.private(), Work(), chosen) for a in asked for _ in range(RUNS_INNER)]
            line.append(float(np.mean([one.off(m) for m in made])))
            right.append(float(np.mean([one.accuracy(m) for m in made])))
        rows.append([str(inner), *(f"{100 * x:.2f}" for x in (*line, np.mean(line))), f"{100 * np.mean(right):.1f}"])
    return rows


def main() -> str:
    """Three tables."""
    given = list(trials())
    names = [name for name, _ in given]
    return "\n".join(
        [
            table(
                f"DiffGen by the price of a group: accuracy in %, mean of {RUNS} runs at epsilon {', '.join(EPSILONS)}",
                ["price", *names, "mean", "labels off by, %"],
                by_price(given),
            ),
            table(
                f"DiffGen by what is kept and by records in a group: accuracy in %, mean of {RUNS} runs at epsilon "
                f"{', '.join(EPSILONS)}",
                ["kept, records", *names, "mean", "labels off by, %"],
                by_size(given),
            ),
            table(
                f"DiffGen by inner counts: labels off by, %, the same groups, mean of {RUNS_INNER} runs at epsilon "
                f"{EPSILONS[0]} and {EPSILONS[-1]}",
                ["inner", *names, "mean", "accuracy"],
                by_inner(given),
            ),
        ]
    )


if __name__ == "__main__":
    print(main())
