"""Records that are alike, counted once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.group.transactions import Codes, Starts, Transactions, ragged

_WORDS = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repeats:
    """The different records, how often each occurs, and what sensitive values its occurrences have."""

    records: Transactions
    """The different records, without a secret."""
    times: Codes
    """How often each occurs."""
    watched: tuple[Starts, Codes, Codes]
    """The watched values of each: where they begin, the values, and how often."""


def repeats(transactions: Transactions, values: tuple[str, ...] = ()) -> Repeats:
    """Count records that have the same items once; of the secret only named values are watched, or all.

    Records are compared by a hash, and then item by item.
    """
    group, first = _groups(transactions)
    whole = transactions.starts[first + 1] - transactions.starts[first]
    different = replace(
        transactions,
        starts=np.concatenate(([0], np.cumsum(whole))).astype(np.int64),
        codes=transactions.codes[ragged(transactions.starts, first)],
        secret=None,
    )
    times = np.bincount(group, minlength=len(first)).astype(np.int32)
    return Repeats(records=different, times=times, watched=_watched(transactions, values, group, len(first)))


def singly(transactions: Transactions, values: tuple[str, ...] = ()) -> Repeats:
    """The records as they are, each once."""
    every, times = np.arange(transactions.rows), np.ones(transactions.rows, np.int32)
    watched = _watched(transactions, values, every, transactions.rows)
    return Repeats(records=replace(transactions, secret=None), times=times, watched=watched)


def _groups(transactions: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each record, equal for equal records, and the first record of each number."""
    words = (np.arange(1, transactions.count + 1, dtype=np.uint64) * _WORDS) ** np.uint64(3)
    words ^= words >> np.uint64(29)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(words[transactions.codes], dtype=np.uint64)))
    lengths = np.diff(transactions.starts)
    hashes = (sums[transactions.starts[1:]] - sums[transactions.starts[:-1]]) * _WORDS + lengths.astype(np.uint64)
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    heads = first[group]
    if not np.array_equal(lengths, lengths[heads]) or not np.array_equal(
        transactions.codes, transactions.codes[ragged(transactions.starts, heads)]
    ):  # two different records with one hash: none is counted with another
        every = np.arange(transactions.rows)
        return every, every
    return group, first


def _watched(
    transactions: Transactions, values: tuple[str, ...], group: NDArray[np.int64], count: int
) -> tuple[Starts, Codes, Codes]:
    """The watched values of the records of each number, and how often."""
    secret = transactions.secret
    if secret is None:
        return np.zeros(count + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
    looked_at = np.array([not values or value in values for value in secret.values], np.bool_)
    seen = (secret.codes >= 0) & (looked_at[secret.codes] if len(looked_at) else False)
    many = max(len(secret.values), 1)
    keys, times = np.unique(group[seen] * many + secret.codes[seen], return_counts=True)
    owner, codes = np.divmod(keys, many)
    starts = np.searchsorted(owner, np.arange(count + 1)).astype(np.int64)
    return starts, codes.astype(np.int32), times.astype(np.int32)
