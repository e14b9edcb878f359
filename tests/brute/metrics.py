"""Each utility metric of a full-domain generalization as its definition says it, over plain rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2

Leaves = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Published:
    """The original rows and what was done to them; every list over columns has their order."""

    rows: Sequence[Leaves]
    """The quasi-identifiers of each row, as they were."""
    paths: Sequence[Mapping[str, Sequence[str]]]
    """Per column: leaf to its label at each level; level 0 is the leaf, the last is "*"."""
    sizes: Sequence[Sequence[Mapping[str, float]]]
    """Per column and level: label to the number of leaves it covers, or its width."""
    totals: Sequence[float]
    """Per column: leaves, or width, of the whole domain."""
    continuous: Sequence[bool]
    """Per column: whether sizes are widths."""
    levels: Sequence[int]
    """Per column: the level that is published."""
    suppressed: frozenset[int] = frozenset()
    """The rows of which nothing is published."""
    target: Sequence[str] = ()
    """The class label of each row."""

    @property
    def columns(self) -> range:
        return range(len(self.levels))

    def label(self, row: int, column: int) -> str:
        leaf = self.rows[row][column]
        return "*" if row in self.suppressed else self.paths[column][leaf][self.levels[column]]

    def size(self, row: int, column: int) -> float:
        return self.sizes[column][self.levels[column]][self.label(row, column)]

    def height(self, column: int) -> int:
        return len(next(iter(self.paths[column].values()))) - 1

    def classes(self) -> list[list[int]]:
        """The rows of each published class, without the suppressed ones."""
        found: dict[Leaves, list[int]] = {}
        for row in range(len(self.rows)):
            if row not in self.suppressed:
                found.setdefault(tuple(self.label(row, column) for column in self.columns), []).append(row)
        return list(found.values())


def _average(release: Published, cell: Callable[[int, int], float]) -> float:
    """Over all cells; a suppressed one counts 1."""
    cells = [(row, column) for row in range(len(release.rows)) for column in release.columns]
    return sum(1.0 if row in release.suppressed else cell(row, column) for row, column in cells) / len(cells)


def loss(release: Published) -> float:
    """Iyengar's LM: (leaves covered - 1) / (leaves - 1), or width / width of the domain."""

    def cell(row: int, column: int) -> float:
        size, total = release.size(row, column), release.totals[column]
        if release.continuous[column]:
            return size / total
        return 0.0 if total == 1 else (size - 1) / (total - 1)

    return _average(release, cell)


def ncp(release: Published) -> float:
    """Normalized certainty penalty: leaves covered / leaves, none for a leaf; or width / width of the domain."""

    def cell(row: int, column: int) -> float:
        size, total = release.size(row, column), release.totals[column]
        return 0.0 if size == 1 and not release.continuous[column] else size / total

    return _average(release, cell)


def discernibility(release: Published) -> float:
    """A row costs as many rows as it cannot be told from; a suppressed one costs the whole table."""
    published = sum(len(group) ** 2 for group in release.classes())
    return float(published + len(release.suppressed) * len(release.rows))


def discernibility_ratio(release: Published) -> float:
    return discernibility(release) / len(release.rows) ** 2


def classification(release: Published) -> float:
    """Iyengar's CM: the share of rows that are suppressed or not of their class's majority target."""
    targets = [Counter(release.target[row] for row in group) for group in release.classes()]
    minority = sum(counts.total() - max(counts.values()) for counts in targets)
    return (len(release.suppressed) + minority) / len(release.rows)


def height(release: Published) -> float:
    return float(sum(release.levels))


def precision(release: Published) -> float:
    """Sweeney's Prec: 1 - the average of level / height."""
    return 1 - _average(release, lambda _, column: release.levels[column] / release.height(column))


def entropy(release: Published) -> float:
    """Non-uniform entropy: bits to guess each leaf from its label, as a share of those when all is suppressed."""
    rows = range(len(release.rows))

    def bits(row: int, column: int, level: int) -> float:
        leaves = Counter(leaf[column] for leaf in release.rows)
        labels = Counter(release.paths[column][leaf[column]][level] for leaf in release.rows)
        leaf = release.rows[row][column]
        return -log2(leaves[leaf] / labels[release.paths[column][leaf][level]])

    def level(row: int, column: int) -> int:
        return release.height(column) if row in release.suppressed else release.levels[column]

    lost = sum(bits(row, column, level(row, column)) for row in rows for column in release.columns)
    most = sum(bits(row, column, release.height(column)) for row in rows for column in release.columns)
    return lost / most if most else 0.0


def class_size(release: Published, k: int) -> float:
    """LeFevre's normalized average class size; the suppressed rows are one more class."""
    classes = len(release.classes()) + bool(release.suppressed)
    return len(release.rows) / classes / k
