"""Condensation straight from its definition, one record at a time and in exact fractions where that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import dist

Record = tuple[float, ...]


def moments(rows: Sequence[Record]) -> tuple[list[Fraction], list[list[Fraction]]]:
    """The mean and the covariance of some records by their textbook definitions, exactly."""
    exact = [[Fraction(value) for value in row] for row in rows]
    many, width = len(exact), len(exact[0])
    mean = [sum((row[i] for row in exact), Fraction(0)) / many for i in range(width)]
    covariance = [
        [sum(((row[i] - mean[i]) * (row[j] - mean[j]) for row in exact), Fraction(0)) / many for j in range(width)]
        for i in range(width)
    ]
    return mean, covariance


def given_up(
    points: Sequence[Record], groups: Sequence[int], centres: Sequence[Record], k: int
) -> dict[int, list[int]]:
    """Groups of which the smallest (the first of several) is given up while it has fewer than k records."""
    members = {group: [row for row, one in enumerate(groups) if one == group] for group in range(len(centres))}
    while len(members) > 1:
        least = min(members, key=lambda group: (len(members[group]), group))
        if len(members[least]) >= k:
            break
        for row in members.pop(least):
            nearest = min(members, key=lambda group: (round(dist(points[row], centres[group]) ** 2, 9), group))
            members[nearest].append(row)
    return members
