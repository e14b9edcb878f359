"""The same mining on real sequences: tuples of (place, time), the subsequence relation, lengths and joins.

Source: document 003, definitions 4.2, 4.4, 4.5 and algorithm 4.1. Nothing here uses that a path with increasing times
is a set; the tests show that the view as sets gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Pair = tuple[str, int]
Path = tuple[Pair, ...]
Paths = Sequence[Path]
Secrets = Sequence[str | None] | None
Share = Fraction | int
Level = tuple[set[Path], set[Path], set[Path]]


def label(pair: Pair) -> str:
    return f"{pair[0]}{pair[1]}"


def as_set(path: Path) -> frozenset[str]:
    """The path as the set of its labelled pairs."""
    return frozenset(map(label, path))


def in_time(paths: Paths) -> list[str]:
    """The labels of all pairs, by time and then by place."""
    pairs = {pair for path in paths for pair in path}
    return [label(pair) for pair in sorted(pairs, key=lambda pair: (pair[1], pair[0]))]


def subsequence(q: Path, path: Path) -> bool:
    """The pairs of q are found in the path one after another, not necessarily side by side."""
    rest = iter(path)
    return all(any(pair == seen for seen in rest) for pair in q)


def containing(paths: Paths, q: Path) -> list[int]:
    """T(q)."""
    return [row for row, path in enumerate(paths) if subsequence(q, path)]


def parts(paths: Paths, most: int | None) -> set[Path]:
    """Every non-empty subsequence of at most `most` pairs (None: of any length) of some path."""
    return {
        tuple(path[place] for place in places)
        for path in paths
        for length in range(1, (len(path) if most is None else most) + 1)
        for places in combinations(range(len(path)), length)
    }


def violates(paths: Paths, secrets: Secrets, q: Path, k: int, c: Share, values: tuple[str, ...] = ()) -> bool:
    rows = containing(paths, q)
    if len(rows) < k or secrets is None:
        return len(rows) < k
    told = [secrets[row] for row in rows]
    looked_at = values or {value for value in secrets if value is not None}
    return any(Fraction(told.count(value), len(told)) > c for value in looked_at)


def minimal_violating(
    paths: Paths, secrets: Secrets, l: int, k: int, c: Share, values: tuple[str, ...] = ()
) -> set[Path]:
    found = {q for q in parts(paths, l) if violates(paths, secrets, q, k, c, values)}
    return {q for q in found if not any(part != q and subsequence(part, q) for part in found)}


def maximal_frequent(paths: Paths, support: int) -> set[Path]:
    frequent = {q for q in parts(paths, None) if len(containing(paths, q)) >= support}
    return {q for q in frequent if not any(larger != q and subsequence(q, larger) for larger in frequent)}


def joined(kept: set[Path]) -> set[Path]:
    """Line 12: two sequences with the same beginning, the one that ends later behind the other."""
    return {(*x, y[-1]) for x in kept for y in kept if x[:-1] == y[:-1] and x[-1][1] < y[-1][1]}


def levels(
    paths: Paths, secrets: Secrets, l: int, k: int, c: Share, values: tuple[str, ...] = (), *, as_printed: bool = False
) -> list[Level]:
    """Algorithm 4.1: candidates X, minimal violating V and non-violating W, one triple for each length.

    As printed, line 14 drops a candidate only for a violation of the length just finished. That lets in candidates of
    four and more pairs that hold a shorter violation, so here violations of all lengths so far are looked at.
    """
    found: list[Level] = []
    violations: set[Path] = set()
    candidates = parts(paths, 1)
    while len(found) < l and candidates:
        present = {q for q in candidates if containing(paths, q)}
        bad = {q for q in present if violates(paths, secrets, q, k, c, values)}
        found.append((candidates, bad, present - bad))
        violations = bad if as_printed else violations | bad
        candidates = {q for q in joined(present - bad) if not any(subsequence(v, q) for v in violations)}
    return found
