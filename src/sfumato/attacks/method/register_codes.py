"""How the cells of a register, or of rows that are published as they are, are read as codes to learn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.attacks.frame.assignment import codes_of
from sfumato.attacks.frame.subject import Ints, Subject

BINS = 20
"""Numbers with more than twice as many different values are read in so many bins of about equal size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The code of every value of every quasi-identifier."""

    names: tuple[str, ...]
    """The columns."""
    places: tuple[dict[str, int], ...]
    """For each column the code of each text."""
    widths: tuple[int, ...]
    """How many codes each column has."""

    @classmethod
    def of(cls, subject: Subject) -> Reader:
        """From the register, or from the rows where the sensitive column is published apart."""
        places = []
        for name in subject.quasi:
            cells = subject.release[name] if subject.groups is not None else subject.people[name]
            texts = cells.cast(pl.String).fill_null("").unique().sort().to_list()
            places.append(_binned(texts) if name in subject.numeric else {text: at for at, text in enumerate(texts)})
        widths = tuple(max(place.values(), default=0) + 1 for place in places)
        return cls(names=subject.quasi, places=tuple(places), widths=widths)

    def read(self, rows: pl.DataFrame) -> Ints:
        """A row of codes per column; -1 for a text that is not known."""
        read = [
            codes_of(rows, name, tuple(place))
            if len(set(place.values())) == len(place)
            else _looked_up(rows, name, place)
            for name, place in zip(self.names, self.places, strict=True)
        ]
        return np.stack(read)


def _looked_up(rows: pl.DataFrame, name: str, place: dict[str, int]) -> Ints:
    code = codes_of(rows, name, tuple(place))
    return np.where(code >= 0, np.array(list(place.values()))[code], -1)


def _binned(texts: list[str]) -> dict[str, int]:
    numbers = pl.Series(texts).cast(pl.Float64, strict=False).to_numpy()
    if len(texts) <= 2 * BINS or np.isnan(numbers).any():
        return {text: at for at, text in enumerate(texts)}
    rank = np.argsort(np.argsort(numbers))
    return dict(zip(texts, (rank * BINS // len(texts)).tolist(), strict=True))
