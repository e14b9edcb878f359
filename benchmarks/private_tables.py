"""Private tables: Adult, Nursery and census income by noisy marginals, beside noisy naive Bayes and MST.

``python benchmarks/private_tables.py [NAME ...] [--mst FOLDER]``: FOLDER holds what ``mst_peer.py`` made of the tables
that ``--write FOLDER`` wrote; MST needs an environment of its own (smartnoise-synth, mbi below 2).
"""

from __future__ import annotations

import io
import lzma
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from measure import table, timed
from sfumato.algorithms.marginals import Marginals
from sfumato.algorithms.marginals.levels import binned
from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Promise
from sfumato.dp.noise import counted
from sfumato.pipeline.methods.private.domains import declared_table
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.table import Table
from tables import ROOT

RUNS = 10
FEWER = {"noisy marginals, no class": 2}
"""What is measured beside is measured less often."""
EPSILONS = ("0.1", "0.25", "0.5", "1")
DELTA = "1e-9"
"""As MST has it."""
Ints = np.ndarray[tuple[int, ...], np.dtype[Any]]
ADULT = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 9_999),
    "hours-per-week": (1, 99),
}
CENSUS = {0: (0, 90), 5: (0, 9_999), 16: (0, 99_999), 17: (0, 9_999), 18: (0, 99_999), 30: (0, 6), 39: (0, 52)}
"""Declared ranges of numbers, by their places in the file; everything else is a category of the UCI documentation."""
WEIGHT, INCOME = 24, 41
TRAINING, TESTING = 60_000, 30_000


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A table by the labels that a release shows, and rows to try it on."""

    name: str
    """What it is called."""
    train: PrivateTable
    """What is released from."""
    rows: Ints
    """Columns x training rows."""
    kinds: Ints
    """The classes of these."""
    new: Ints
    """Columns x rows to try."""
    truth: Ints
    """The classes of these."""
    sizes: tuple[int, ...]
    """Labels of each column."""

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.train.classes)


def labelled(
    name: str, frame: pl.DataFrame, target: str, numbers: dict[str, Any], training: int, test: int
) -> Labelled:
    """The first rows for training, the next to try; domains as the documentation of the data has them."""
    columns: dict[str, Any] = {
        column: {"role": "quasi", "hierarchy": {"kind": "grown", "low": low, "high": high, "grid": _grid(low, high)}}
        for column, (low, high) in numbers.items()
    }
    for column in frame.columns:
        if column not in columns:
            values = sorted(frame[column].unique().to_list())
            columns[column] = {"role": "target" if column == target else "quasi", "values": values}
    plan = Plan.parse({"columns": {one: columns[one] for one in frame.columns}, "privacy": {"epsilon": 1}})
    parts = [declared_table(plan, Table(frame=one)) for one in (frame[:training], frame[training : training + test])]
    cuts = [binned(place, one, Marginals(epsilon=1).bins).cut for place, one in enumerate(parts[0].attributes)]
    shown = [
        np.array([cut.of_code[one.codes] for cut, one in zip(cuts, part.counts.columns, strict=True)]) for part in parts
    ]
    kinds = [part.counts.counted[target] for part in parts]
    sizes = tuple(len(cut.labels) for cut in cuts)
    return Labelled(name=name, train=parts[0], rows=shown[0], kinds=kinds[0], new=shown[1], truth=kinds[1], sizes=sizes)


def _grid(low: float, high: float) -> int:
    return max(int(high - low) // 100_000, 1)


def adult() -> Labelled:
    """UCI Adult, complete rows, as the thesis splits it."""
    import sfumato as sf
    from sfumato.tables.datasets.uci_adult import adult_folder

    frame = sf.datasets.adult(folder=adult_folder())
    return labelled("Adult", frame, "income", ADULT, 30_162, 15_060)


def nursery() -> Labelled:
    """UCI Nursery, two thirds for training."""
    frame = pl.read_csv(ROOT / "uci" / "nursery.data", has_header=False, infer_schema=False).drop_nulls()
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=1)
    return labelled("Nursery", mixed, mixed.columns[-1], {}, 8_640, 4_320)


def census() -> Labelled:
    """Census income: 60,000 rows for training and 30,000 to try, 40 attributes."""
    file = ROOT / "census_income_kdd" / "census_income_1994_1995_train.csv.xz"
    raw = pl.read_csv(io.BytesIO(lzma.decompress(file.read_bytes())), has_header=False, infer_schema=False)
    names = [f"c{place}" for place in range(raw.width)]
    texts = raw.select(pl.all().str.strip_chars()).rename(dict(zip(raw.columns, names, strict=True))).drop(f"c{WEIGHT}")
    mixed = texts.sample(n=TRAINING + TESTING, shuffle=True, seed=1)
    numbers = {f"c{place}": ends for place, ends in CENSUS.items()}
    frame = mixed.with_columns(pl.col(name).cast(pl.Int64) for name in numbers)
    return labelled("census income", frame, f"c{INCOME}", numbers, TRAINING, TESTING)


def budget(epsilon: str, delta: str | None) -> dict[str, Fraction]:
    """What a mechanism may spend."""
    promise = Promise.of({"epsilon": epsilon} | ({"delta": delta} if delta else {}))
    return {promise.unit: promise.amount()}


def expanded(made: NoisyTable) -> tuple[Ints, Ints]:
    """The released rows, and their classes."""
    groups, kinds = np.nonzero(made.counts)
    many = made.counts[groups, kinds]
    return made.keys[:, np.repeat(groups, many)], np.repeat(kinds, many)


def scored(of: Labelled, rows: Ints, kinds: Ints) -> dict[str, float]:
    """What logistic regression makes of rows, and how far their two-way marginals are from the true ones."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    starts = np.cumsum([0, *of.sizes[:-1]])[:, None]

    def hot(codes: Ints) -> Any:
        many = codes.shape[1]
        place = np.tile(np.arange(many), len(of.sizes)), (codes + starts).ravel()
        return csr_matrix((np.ones(codes.size), place), shape=(many, sum(of.sizes)))

    told = np.full((len(of.truth), of.classes), -1.0)
    if len(np.unique(kinds)) > 1:
        fitted = LogisticRegression(C=0.1, max_iter=200).fit(hot(rows), kinds)
        told[:, fitted.classes_] = fitted.predict_proba(hot(of.new))
    return {**guessed(of, told), "two-way": 100 * two_way(of, rows, kinds)}


def guessed(of: Labelled, told: np.ndarray[Any, Any]) -> dict[str, float]:
    """How right some certainties (rows x classes) are."""
    from sklearn.metrics import roc_auc_score

    found = {"accuracy": 100 * float((told.argmax(axis=1) == of.truth).mean())}
    if of.classes == 2:
        found["AUC"] = 100 * float(roc_auc_score(of.truth, told[:, 1] - told[:, 0]))
    return found


def two_way(of: Labelled, rows: Ints, kinds: Ints) -> float:
    """The mean total variation over all pairs of columns, the class among them."""
    true, made = np.vstack([of.rows, of.kinds]), np.vstack([rows, kinds])
    sizes, found = [*of.sizes, of.classes], []
    for a in range(len(sizes)):
        for b in range(a):
            shares = [
                np.bincount(one[a].astype(np.int64) * sizes[b] + one[b], minlength=sizes[a] * sizes[b])
                / max(one.shape[1], 1)
                for one in (true, made)
            ]
            found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(found))


def marginals(of: Labelled, epsilon: str, delta: str | None) -> dict[str, float]:
    """The release that knows the class."""
    made, cost = timed(lambda: Marginals(**budget(epsilon, delta))(of.train, Work()))
    return {**scored(of, *expanded(made)), "CPU": cost.cpu}


def without_class(of: Labelled, epsilon: str, delta: str | None) -> dict[str, float]:
    """The class as one column among others: nothing but two-way marginals is asked for."""
    from sfumato.algorithms.private_table import Attribute
    from sfumato.counts.local_cuts import CodedColumn, CodedRows
    from sfumato.tables.taxonomy import taxonomy

    names = of.train.classes
    tree = taxonomy([(one,) for one in names], {}, total=float(len(names)), height=1)
    last = Attribute(name="class", kind="tree", values=names, tree=tree)
    columns = (*of.train.counts.columns, CodedColumn(codes=of.kinds, size=len(names)))  # type: ignore[attr-defined]
    rows = CodedRows(columns=columns, counted={"": np.zeros(len(of.kinds), np.int32)})
    plain = PrivateTable(attributes=(*of.train.attributes, last), classes=("all",), counts=rows)
    made = Marginals(**budget(epsilon, delta))(plain, Work())
    found, _ = expanded(made)
    return scored(of, found[:-1], found[-1])


def naive(of: Labelled, epsilon: str, delta: str | None) -> dict[str, float]:
    """Noisy counts of every attribute with the class, none below 1: a model, no rows."""
    ((unit, whole),) = budget(epsilon, delta).items()
    from sfumato.dp.accounting import Purse

    purse, told = Purse(whole=whole, unit=unit), np.zeros((len(of.truth), of.classes))  # type: ignore[arg-type]
    for place, size in enumerate(of.sizes):
        counts = np.bincount(of.rows[place].astype(np.int64) * of.classes + of.kinds, minlength=size * of.classes)
        noisy = counted(counts.reshape(size, of.classes), purse.cost(whole / len(of.sizes), "counts")).values
        kept = np.maximum(noisy, 1.0)
        told += np.log(kept / kept.sum(axis=0))[of.new[place]] + np.log(kept.sum(axis=0) / kept.sum()) / len(of.sizes)
    return guessed(of, told)


HOW: dict[str, Callable[[Labelled, str, str | None], dict[str, float]]] = {
    "noisy marginals": marginals,
    "noisy marginals, no class": without_class,
    "noisy naive Bayes": naive,
}
TABLES = {"adult": adult, "nursery": nursery, "census": census}


def lines_of(of: Labelled, mst: Path | None) -> list[list[str]]:
    """One line per promise and method."""
    found = []
    for delta in (None, DELTA):
        for epsilon in EPSILONS:
            runs = {name: [run(of, epsilon, delta) for _ in range(FEWER.get(name, RUNS))] for name, run in HOW.items()}
            if mst is not None and delta is not None:
                made = [np.load(one) for one in sorted(mst.glob(f"{of.name}-{epsilon}-*.npy"))]
                runs["MST (SmartNoise)"] = [scored(of, one[:-1], one[-1]) for one in made]
            for name, some in runs.items():
                if some:
                    what = f"{epsilon}" + (f", delta {delta}" if delta else "")
                    told = [_mean([one.get(key, np.nan) for one in some]) for key in ("accuracy", "AUC", "two-way")]
                    cpu = f"{np.mean([one['CPU'] for one in some]):.1f} s" if "CPU" in some[0] else ""
                    found.append([what, name, str(len(some)), *told, cpu])
                    print(found[-1], file=sys.stderr, flush=True)
    return found


def _mean(found: Sequence[float]) -> str:
    if np.isnan(found).any():
        return ""
    spread = f" ± {np.std(found, ddof=1):.1f}" if len(found) > 1 else ""
    return f"{np.mean(found):.1f}{spread}"


def main() -> str:
    """The tables, or nothing where the data is not there."""
    if not (ROOT / "uci" / "nursery.data").exists():
        return ""
    asked = sys.argv[1:]
    folder = {key: Path(asked[asked.index(key) + 1]) for key in ("--mst", "--write") if key in asked}
    names = [one for one in asked if one in TABLES] or list(TABLES)
    if "--write" in folder:
        for name in names:
            of = TABLES[name]()
            np.savez(folder["--write"] / of.name, codes=np.vstack([of.rows, of.kinds]), sizes=[*of.sizes, of.classes])
        return ""
    heads = ["epsilon", "how", "runs", "accuracy in %", "AUC in %", "two-way total variation in %", "CPU of a release"]
    said = []
    for name in names:
        of = TABLES[name]()
        title = f"{of.name}: {of.rows.shape[1]:,} rows x {len(of.sizes)} attributes, tried on {len(of.truth):,}"
        said.append(table(title, heads, lines_of(of, folder.get("--mst"))))
    return "\n".join(said)


if __name__ == "__main__":
    print(main())
