"""Private scalar products: of one pair of vectors, of many at once, and pair counts of two columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.errors import ParameterError
from sfumato.core.randomness import fresh_key
from sfumato.parties.circuit_arithmetic import add, less
from sfumato.parties.circuits import Circuit, CircuitBuilder, Numbers, bits_of
from sfumato.parties.conversation import Exchange, Leakage, Seat, Talk, Told
from sfumato.parties.garbled_circuits import compute
from sfumato.parties.oblivious_transfer import (
    BLOCK,
    Blocks,
    FixedKeyHash,
    Receiving,
    Sending,
    Words,
    receive_chosen,
    receive_correlated,
    send_chosen,
    send_correlated,
)
from sfumato.parties.ristretto import Draw

# The scalar product of two private vectors, into two shares that tell nothing alone.
#
# Claim: one party holds bits, the other numbers modulo 2^64 (or bits); each ends with a share, and the shares add up
# to the scalar product modulo 2^64. Each share alone is uniform. Of the other's vector a party learns its length only.
#
# Source: Gilboa 1999, by correlated transfers: for every position the holder of numbers draws r_i, the holder of bits
# gets r_i + b_i x_i, and the shares are the sum of these and minus the sum of the r_i.


MODULUS = 1 << 64
"""Shares are added modulo this."""

LEAKAGE = Leakage(
    protocol="scalar product into shares",
    result=(Told(to="everybody", what="one share of the product, uniform modulo 2^64"),),
    beyond=(Told(to="everybody", what="the length of the vectors"),),
    withstands="either party alone",
    limits="a party that does not follow the protocol, or that uses another vector than it should; whoever learns both "
    "shares learns the product, and many products tell the vectors",
)


def product_of_numbers(ready: Sending, numbers: Numbers) -> Talk[int]:
    """A share of the product, for the party that holds numbers; negative ones count modulo 2^64."""
    own = yield from send_correlated(ready, as_words(numbers))
    return -int(own.sum(dtype=np.uint64)) % MODULUS


def product_of_bits(ready: Receiving, bits: ArrayLike) -> Talk[int]:
    """A share of the product, for the party that holds bits."""
    words = yield from receive_correlated(ready, bits)
    return int(words.sum(dtype=np.uint64))


def signed(value: int) -> int:
    """A number modulo 2^64 as one from -2^63 to 2^63 - 1.

    >>> signed(MODULUS - 3), signed(5)
    (-3, 5)
    """
    return (value + MODULUS // 2) % MODULUS - MODULUS // 2


def as_words(numbers: Numbers | NDArray[np.bool_] | NDArray[np.uint8]) -> Words:
    """Whole numbers modulo 2^64; others, and those beyond 64 bits, are refused.

    >>> as_words([1, -1]).tolist()
    [1, 18446744073709551615]
    """
    if not isinstance(numbers, np.ndarray):
        if not all(-MODULUS // 2 <= number < MODULUS for number in numbers):
            raise ParameterError("numbers from -2^63 to 2^64 - 1 are needed")
        return np.array([int(number) % MODULUS for number in numbers], np.uint64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "biu":
        raise ParameterError(f"a vector of whole numbers is needed, not {numbers.ndim} dimensions of {numbers.dtype}")
    return numbers.astype(np.int64).view(np.uint64) if numbers.dtype.kind == "i" else numbers.astype(np.uint64)


# Many scalar products at once, each into two shares, and what the parties do with the shares.
#
# Claim: each share alone is uniform, as of one scalar product. ``reaching`` tells both parties which products reach a
#     number and nothing else about them, and ``put_together`` tells both the products of the shares that it is given.


_PRODUCTS_BLOCK = 2**21
"""So many transfers are made at a time."""


def products_of_numbers(ready: Sending, numbers: Words) -> Talk[Words]:
    """A share of each product, for the party that holds numbers: products x positions."""
    products = []
    for some in _blocks(*numbers.shape):
        own = yield from send_correlated(ready, np.ascontiguousarray(numbers[some]).reshape(-1))
        products.append(np.uint64(0) - own.reshape(-1, numbers.shape[1]).sum(axis=1, dtype=np.uint64))
    return np.concatenate([np.empty(0, np.uint64), *products])


def products_of_bits(ready: Receiving, bits: NDArray[np.uint8]) -> Talk[Words]:
    """A share of each product, for the party that holds bits: products x positions."""
    products = []
    for some in _blocks(*bits.shape):
        own = yield from receive_correlated(ready, bits[some].reshape(-1))
        products.append(own.reshape(-1, bits.shape[1]).sum(axis=1, dtype=np.uint64))
    return np.concatenate([np.empty(0, np.uint64), *products])


def _blocks(products: int, positions: int) -> list[slice]:
    step = max(_PRODUCTS_BLOCK // max(positions, 1), 1)
    return [slice(first, first + step) for first in range(0, products, step)]


def reaching(ready: Sending | Receiving, shares: Words, least: int) -> Talk[NDArray[np.bool_]]:
    """Which products reach ``least``; products are below 2^63."""
    if not len(shares):
        return np.empty(0, np.bool_)
    output = yield from compute(ready, _reached(len(shares), least), bits_of(shares, 64).ravel())
    return ~output.astype(bool)


@lru_cache(maxsize=8)
def _reached(count: int, least: int) -> Circuit:
    build = CircuitBuilder()
    sums = add(build, build.garbler_input(count, 64), build.evaluator_input(count, 64))
    limit = np.broadcast_to(build.constant(least, 64), sums.shape)
    below = less(build, sums, limit)
    return build.circuit(garbler=below, evaluator=below)


def put_together(peer: int, shares: Words) -> Talk[Words]:
    """The products of some shares, for both parties."""
    content = shares.astype("<u8").tobytes()
    came = yield Exchange(label="products/shares", send={peer: content}, expect={peer: len(content)})
    return shares + np.frombuffer(came[peer], "<u8").astype(np.uint64)


# How many rows have each pair of values, where one party knows the first value of every row and the other the second.
#
# Claim: the counts, modulo 2^32, come out as two shares; each alone is uniform. Of the other's values a party learns
#     nothing but how many rows and values there are. Rows are counted by a kind that both know, such as their class.
# How: for every row the *counter* draws a seed, and from it a tree of seeds with a leaf for each value of the
#     *chooser*, who gets all leaves but the one of its own value: of every level, by one transfer, the sum of the
#     seeds on the side that it does not take. Leaves are stretched to a word for each value of the counter. The
#     counter tells the sum of all stretched leaves, with 1 added at its own value, so the chooser finds the missing
#     leaf with 1 added there. The chooser's share is the sum of the stretched leaves over all rows, and the counter's
#     is minus that.
# Cost: a row takes 48 bytes for each doubling of the chooser's values and 4 for each of the counter's, instead of some
#     bytes for every pair as by scalar products of membership bits (document 003, example 7.4.2; `scalar_product`).
# Source: Goldreich, Goldwasser, Micali 1986 (the tree); Boyle, Couteau, Gilboa, Ishai 2018 (all leaves but one by
#     transfers of level sums); the use for counts is ours.


Codes = NDArray[np.int64]
Shares = NDArray[np.int64]
_WORD = 4
_BLOCK = 2**22
"""So many words are stretched at a time."""

PAIR_COUNTS_LEAKAGE = Leakage(
    protocol="counts of pairs of values into shares",
    result=(Told(to="everybody", what="one share of each count, uniform modulo 2^32"),),
    beyond=(Told(to="everybody", what="how many rows there are, of which kind each is, and how many values"),),
    withstands="either party alone",
    limits="a party that does not follow the protocol, or that puts in other values; whoever learns both shares learns "
    "the counts",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crossed:
    """What both parties know of a count of pairs."""

    chooser: int
    """How many values the chooser tells apart."""
    counter: int
    """How many values the counter tells apart."""
    kinds: Codes
    """The kind of every row."""
    many: int
    """How many kinds there are."""

    @property
    def levels(self) -> int:
        """Levels of a tree with a leaf for each of the chooser's values."""
        return (self.chooser - 1).bit_length()

    def blocks(self) -> Iterator[slice]:
        """Some rows at a time."""
        step = max(_BLOCK // ((self.counter + 4) << self.levels), 1)
        for first in range(0, len(self.kinds), step):
            yield slice(first, first + step)

    def added(self, shares: NDArray[np.uint32], words: NDArray[np.uint32], rows: slice) -> None:
        """Add the words of some rows (rows x leaves x counter) by their kind."""
        kinds = self.kinds[rows]
        for kind in range(self.many):
            mine = words if self.many == 1 else words[kinds == kind]
            shares[:, :, kind] += mine.sum(axis=0, dtype=np.uint32)


def count_crossed(ready: Sending, crossed: Crossed, values: Codes, *, draw: Draw = fresh_key) -> Talk[Shares]:
    """The counter's share: chooser's values x own values x kinds, whole numbers that add up modulo 2^32."""
    seeds = Seeds(ready.seat, ready.done)
    roots = np.frombuffer(draw(BLOCK * len(values)), np.uint64).reshape(-1, 2)
    shares = np.zeros((1 << crossed.levels, crossed.counter, crossed.many), np.uint32)
    sides = np.empty((len(values), crossed.levels, 2, 2), np.uint64)
    row_sums = np.empty((len(values), crossed.counter), np.uint32)
    for rows in crossed.blocks():
        leaves = roots[rows, None]
        for level in range(crossed.levels):
            leaves = seeds.below(leaves, level, rows.start)
            sides[rows, level] = np.bitwise_xor.reduce(leaves.reshape(len(leaves), -1, 2, 2), axis=1)
        words = seeds.stretched(leaves, crossed.counter, rows.start)
        crossed.added(shares, words, rows)
        row_sums[rows] = words.sum(axis=1, dtype=np.uint32)
    row_sums[np.arange(len(values)), values] += np.uint32(1)
    zeros, ones = (sides[:, :, side].reshape(-1, 2).view(np.uint8).reshape(-1, BLOCK) for side in (0, 1))
    if crossed.levels:
        yield from send_chosen(ready, zeros, ones)
    yield Exchange(label="crossed/sums", send={ready.peer: row_sums.tobytes()})
    return _signed(np.uint32(0) - shares, crossed)


def count_choosing(ready: Receiving, crossed: Crossed, values: Codes) -> Talk[Shares]:
    """The chooser's share: own values x counter's values x kinds, whole numbers that add up modulo 2^32."""
    seeds = Seeds(ready.seat, ready.done)
    path = (values[:, None] >> np.arange(crossed.levels)[::-1]) & 1
    sides = np.zeros((len(values), 0, 2), np.uint64)
    if crossed.levels:
        came = yield from receive_chosen(ready, (1 - path).ravel(), BLOCK)
        sides = np.ascontiguousarray(came).view(np.uint64).reshape(len(values), crossed.levels, 2)
    size = _WORD * len(values) * crossed.counter
    content = yield Exchange(label="crossed/sums", expect={ready.peer: size})
    row_sums = np.frombuffer(content[ready.peer], np.uint32).reshape(len(values), crossed.counter)
    shares = np.zeros((1 << crossed.levels, crossed.counter, crossed.many), np.uint32)
    for rows in crossed.blocks():
        leaves = _all_but_one(seeds, path[rows], sides[rows], rows.start)
        words = seeds.stretched(leaves, crossed.counter, rows.start)
        at = np.arange(len(words)), values[rows]
        words[at] = 0
        words[at] = row_sums[rows] - words.sum(axis=1, dtype=np.uint32)
        crossed.added(shares, words, rows)
    return _signed(shares, crossed)


class Seeds:
    """Seeds below seeds, and words from seeds; each row has tweaks of its own."""

    def __init__(self, seat: Seat, done: int) -> None:
        """Keys of this count alone: the number of transfers before it names it."""
        self._inner = FixedKeyHash(seat.session, f"crossed counts after {done} transfers: seeds")
        self._leaves = FixedKeyHash(seat.session, f"crossed counts after {done} transfers: words")

    def below(self, above: Blocks, level: int, first: int) -> Blocks:
        """Rows x twice as many seeds: a left and a right one below each."""
        rows, count = above.shape[:2]
        tweaks, flat = _tweaks(first, rows, count), np.ascontiguousarray(above).reshape(-1, 2)
        sides = [self._inner(flat, tweaks, 2 * level + side + 1) for side in (0, 1)]
        return np.stack(sides, axis=1).reshape(rows, 2 * count, 2)

    def stretched(self, leaves: Blocks, words: int, first: int) -> NDArray[np.uint32]:
        """Rows x seeds x words."""
        rows, count = leaves.shape[:2]
        flat = np.ascontiguousarray(leaves).reshape(-1, 2)
        content = self._leaves.wide(flat, _tweaks(first, rows, count), _WORD * words)
        return np.ascontiguousarray(content).view(np.uint32).reshape(rows, count, words)


def _all_but_one(seeds: Seeds, path: Codes, sides: Blocks, first: int) -> Blocks:
    """Rows x leaves x 2: every seed but the one at the end of each row's path, which stays 0."""
    rows = np.arange(len(path))
    leaves, missing = np.zeros((len(path), 1, 2), np.uint64), np.zeros(len(path), np.int64)
    for level in range(path.shape[1]):
        leaves = seeds.below(leaves, level, first)
        leaves[rows, 2 * missing] = 0
        leaves[rows, 2 * missing + 1] = 0
        taken = path[:, level]
        sums = np.bitwise_xor.reduce(leaves.reshape(len(path), -1, 2, 2), axis=1)
        leaves[rows, 2 * missing + 1 - taken] = sides[:, level] ^ sums[rows, 1 - taken]
        missing = 2 * missing + taken
    return leaves


def _tweaks(first: int, rows: int, count: int) -> NDArray[np.uint64]:
    """A number for each seed of a level: no two rows share one."""
    row = np.arange(first, first + rows, dtype=np.uint64)[:, None] << np.uint64(24)
    return (row + np.arange(count, dtype=np.uint64)).ravel()


def _signed(shares: NDArray[np.uint32], crossed: Crossed) -> Shares:
    return shares[: crossed.chooser].view(np.int32).astype(np.int64)
