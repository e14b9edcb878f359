"""Privacy and usefulness of set-valued records as the definitions say them: frozensets, all subsets, exact fractions.

Records are sets of items, secrets one value per record (None: no value) or no secrets at all. Sources: document 003,
definitions 4.1, 4.2, 4.4, 4.5 and algorithm 4.2; Terrovitis, Mamoulis, Kalnis 2008 (k^m-anonymity); Cao, Karras,
Raissi, Tan 2010 (rho-uncertainty).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Itemset = frozenset[str]
Records = Sequence[Itemset]
Secrets = Sequence[str | None] | None
Share = Fraction | int


def supported(records: Records, q: Itemset) -> int:
    """|T(q)|: how many records contain all of q."""
    return sum(q <= record for record in records)


def share(records: Records, secrets: Sequence[str | None], q: Itemset, value: str) -> Fraction:
    """P(value | q) = |T(q and value)| / |T(q)|."""
    both = sum(q <= record and secret == value for record, secret in zip(records, secrets, strict=True))
    return Fraction(both, supported(records, q))


def known(records: Records, most: int | None) -> set[Itemset]:
    """Every non-empty set of at most `most` items (None: of any length) that some record contains."""
    return {
        frozenset(q)
        for record in records
        for length in range(1, (len(record) if most is None else most) + 1)
        for q in combinations(sorted(record), length)
    }


def watched(secrets: Secrets, values: tuple[str, ...]) -> set[str]:
    return set(values) or {secret for secret in secrets or () if secret is not None}


def violates(records: Records, secrets: Secrets, q: Itemset, k: int, c: Share, values: tuple[str, ...] = ()) -> bool:
    few = supported(records, q) < k
    return few or (
        secrets is not None and any(share(records, secrets, q, value) > c for value in watched(secrets, values))
    )


def violating(
    records: Records, secrets: Secrets, l: int, k: int, c: Share, values: tuple[str, ...] = ()
) -> set[Itemset]:
    """Definition 4.4, for every length 1..l."""
    return {q for q in known(records, l) if violates(records, secrets, q, k, c, values)}


def minimal_violating(
    records: Records, secrets: Secrets, l: int, k: int, c: Share, values: tuple[str, ...] = ()
) -> set[Itemset]:
    """Definition 4.5: violating, and no proper part is."""
    found = violating(records, secrets, l, k, c, values)
    return {q for q in found if not any(part < q for part in found)}


def holds_lkc(records: Records, secrets: Secrets, l: int, k: int, c: Share, values: tuple[str, ...] = ()) -> bool:
    """Definition 4.1."""
    return all(
        supported(records, q) >= k
        and (secrets is None or all(share(records, secrets, q, value) <= c for value in watched(secrets, values)))
        for q in known(records, l)
    )


def holds_km(records: Records, k: int, m: int) -> bool:
    """Whoever knows at most m items of a record finds at least k records with them."""
    return all(supported(records, q) >= k for q in known(records, m))


def rho_uncertain(records: Records, sensitive: Iterable[str], rho: Share, l: int | None = None) -> bool:
    """No q (any items, sensitive ones too) of a record tells of another sensitive item with more than rho."""
    return all(
        Fraction(supported(records, q | {item}), supported(records, q)) <= rho
        for q in known(records, l)
        for item in set(sensitive) - q
    )


def maximal_frequent(records: Records, support: int) -> set[Itemset]:
    """Definition 4.2: frequent, and nothing larger is."""
    frequent = {q for q in known(records, None) if supported(records, q) >= support}
    return {q for q in frequent if not any(q < larger for larger in frequent)}


def lost_frequent(before: Iterable[Itemset], released: Records, support: int) -> Fraction:
    """The share of the maximal frequent sets from before that are not frequent any more."""
    sets = list(before)
    lost = [q for q in sets if supported(released, q) < support]
    return Fraction(len(lost), len(sets)) if sets else Fraction(0)


def gains(sets: Iterable[Itemset], item: str) -> int:
    return sum(item in q for q in sets)


def scores(violations: list[Itemset], frequent: list[Itemset], order: Sequence[str], score: str) -> dict[str, Fraction]:
    """The score of each item of a violation, in `order`: equation 4.1 (ratio), and score 2 (gain) and 3 (loss)."""
    found = {}
    for item in order:
        gain, loss = gains(violations, item), gains(frequent, item)
        if gain:
            formulas = {"ratio": Fraction(gain, loss + 1), "gain": Fraction(gain), "loss": Fraction(1, loss + 1)}
            found[item] = formulas[score]
    return found


def steps(
    violations: Iterable[Itemset], frequent: Iterable[Itemset], order: Sequence[str], score: str
) -> Iterator[tuple[str, dict[str, Fraction]]]:
    """Algorithm 4.2, lines 3 to 9: each winner with the scores it won by; the earliest item in `order` wins a tie."""
    left, useful = list(violations), list(frequent)
    while left:
        table = scores(left, useful, order, score)
        winner = next(item for item in order if item in table and table[item] == max(table.values()))
        yield winner, table
        left = [q for q in left if winner not in q]
        useful = [q for q in useful if winner not in q]


def anonymize(
    records: Records,
    secrets: Secrets,
    order: Sequence[str],
    l: int,
    k: int,
    c: Share,
    values: tuple[str, ...],
    support: int,
    score: str,
) -> tuple[list[str], list[Itemset]]:
    """Algorithm 4.2: the suppressed items in order, and the records without them."""
    violations = minimal_violating(records, secrets, l, k, c, values)
    suppressed = [item for item, _ in steps(violations, maximal_frequent(records, support), order, score)]
    return suppressed, [record - set(suppressed) for record in records]
