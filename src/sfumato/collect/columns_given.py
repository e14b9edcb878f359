"""Columns of whatever frame or array a learner is given, in the order of the questions; and their cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.collect.channels import Channel, Evidence, category_channel, evidence, exact, number_channel
from sfumato.collect.kept_categories import KeptCategory, declared_place
from sfumato.collect.noise_laws import Whole
from sfumato.collect.noisy_numbers import NoisyNumber
from sfumato.collect.unary_bits import UnaryBits
from sfumato.ground.errors import DataError, ParameterError, listed

Asked = NoisyNumber | KeptCategory | UnaryBits


def columns_of(table: Any, questions: Sequence[Asked]) -> list[Any]:
    """One array per question: by name from a frame, by place from an array."""
    refuse_others(questions)
    if hasattr(table, "columns"):
        names = [str(name) for name in table.columns]
        for one in questions:
            if one.name not in names:
                raise DataError(f"there is no column {one.name!r}; the table has {listed(names)}")
        return [np.asarray(table[one.name]) for one in questions]
    given = np.asarray(table)
    if given.ndim != 2 or given.shape[1] != len(questions):
        raise DataError(f"X must have {len(questions)} columns, one for each question; its shape is {given.shape}")
    return [given[:, place] for place in range(len(questions))]


def refuse_others(questions: Sequence[Asked]) -> None:
    """Refuse questions that have no cells: sets of items have none."""
    good = [isinstance(one, Asked) and one.kind != "items" for one in questions]
    if not good or not all(good):
        raise ParameterError(
            "questions must be numbers, kept categories or unary bits, at least one; not "
            f"{[getattr(one, 'kind', type(one).__name__) for one in questions]}"
        )


def channel_of(question: Asked, cells: int) -> Channel:
    """The cells of a question; numbers have at most so many.

    Of unary bits the outcomes are known where answers are; here each cell is an outcome of its own.
    """
    if isinstance(question, KeptCategory):
        return category_channel(question)
    if isinstance(question, UnaryBits):
        return exact(question.name, question.values, np.zeros(0, np.int64)).channel
    return number_channel(question, min(cells, question.steps + 1))


def shown_evidence(question: Asked, shown: Any, cells: int) -> Evidence:
    """Shown answers as evidence, in the same cells."""
    if not isinstance(question, NoisyNumber):
        return evidence(question, [str(one) for one in shown])
    return evidence(question, np.asarray(shown, np.float64), cells=min(cells, question.steps + 1))


def true_cells(question: Asked, channel: Channel, values: Any) -> Whole:
    """The cell of every original value; numbers outside the range fall into its ends."""
    if channel.edges is not None:
        given = np.asarray(values, np.float64)
        if np.isnan(given).any():
            raise DataError(f"column {question.name!r}: NaN is no value; leave such rows out")
        return np.asarray(np.searchsorted(channel.edges[1:-1], given, side="right"), np.int64)
    if isinstance(question, NoisyNumber):
        raise TypeError("a channel of numbers has edges")
    known = {str(one): declared_place(question.name, str(one), question.values) for one in set(values)}
    return np.fromiter((known[str(one)] for one in values), np.int64, len(values))


def classes_of(y: Any, rows: int) -> tuple[Any, Whole]:
    """The classes, and the place of every label among them."""
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(codes) != rows:
        raise DataError(f"y must have a label for each of the {rows:,} rows, not {len(codes):,}")
    if len(labels) < 2:
        raise DataError(f"y must have at least two classes; it has {listed(labels)} alone")
    return labels, np.asarray(codes, np.int64).reshape(-1)


def cells_for(answers: int) -> int:
    """How many cells so many answers can tell apart: a hundred answers each, from 10 to 100 cells.

    Source: Agrawal and Srikant 2000, section 4.1.
    """
    return int(np.clip(answers // 100, 10, 100))
