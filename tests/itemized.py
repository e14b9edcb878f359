"""Small set-valued and trajectory tables for tests: hypothesis strategies, and the views of what the mining finds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from tests.brute.sequences import Path

ITEMS = "abcdef"
VALUES = ("flu", "hiv", "cold")
LIMITS = (Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(3, 4), Fraction(1))


def secrets_of(rows: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(VALUES), min_size=rows, max_size=rows)


@st.composite
def baskets(draw: st.DrawFn, *, most: int = 9, items: str = ITEMS) -> tuple[list[frozenset[str]], list[str] | None]:
    """Random sets of items, empty ones too, and a secret for each or none at all."""
    records = draw(st.lists(st.frozensets(st.sampled_from(items)), min_size=1, max_size=most))
    return records, draw(st.none() | secrets_of(len(records)))


@st.composite
def paths(draw: st.DrawFn, *, places: str = "ab", times: int = 5) -> Path:
    """A walk: one place at each of some of the times, which strictly increase."""
    moments = sorted(draw(st.sets(st.integers(1, times))))
    return tuple((draw(st.sampled_from(places)), moment) for moment in moments)


@st.composite
def walks(draw: st.DrawFn, *, most: int = 8, places: str = "ab", times: int = 5) -> tuple[list[Path], list[str] | None]:
    """Random trajectories with strictly increasing times, and a secret for each or none at all."""
    made = draw(st.lists(paths(places=places, times=times), min_size=1, max_size=most))
    return made, draw(st.none() | secrets_of(len(made)))


@st.composite
def requests(
    draw: st.DrawFn, secrets: Sequence[str] | None, longest: int
) -> tuple[int, int, Fraction, tuple[str, ...]]:
    """l from 1 to one more than the longest record, k, c and the watched values: all, or one that occurs."""
    one = st.sampled_from(sorted(set(secrets or ()))).map(lambda value: (value,)) if secrets else st.just(())
    return (
        draw(st.integers(1, longest + 1)),
        draw(st.integers(1, 5)),
        draw(st.sampled_from(LIMITS)),
        draw(st.just(()) | one),
    )
