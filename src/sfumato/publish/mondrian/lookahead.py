"""Small groups try a few cuts out to the end, and take the one that leads to the lowest loss."""

from __future__ import annotations

import numpy as np

from sfumato.group.keys import Ids, weighed
from sfumato.publish.mondrian.cutting import Knife
from sfumato.publish.mondrian.slices import Marks, Slices
from sfumato.utility.view import Reals

_TRIALS = 3
"""How many cuts are tried out; more gain little."""

_ALIKE = 2.0**30
"""Losses, in rows, are equal to one part in so many; of equal ones the cut that was better by itself is taken."""


def tried_out(knife: Knife, order: Ids, moved: Ids, groups: Slices, small: Marks) -> None:
    """Replace the cuts of small groups, written to ``moved``, by better ones.

    A group with another cut than its first forgets what it has tried: if this one is refused, it starts at the first.
    """
    if not small.any():
        return
    chosen = groups.take(small)
    places, lengths = chosen.places, chosen.lengths
    trials = [chosen.packed()]
    written = [moved[places]]
    for _ in range(1, _TRIALS):
        trials.append(trials[-1].copy())
        written.append(order[places])
        knife(order[places], written[-1], trials[-1])
    best = _least_loss(knife, np.concatenate(written), trials)
    every = np.arange(chosen.count)
    moved[places] = np.array(written)[np.repeat(best, lengths), np.arange(len(places))]
    middles, numbers = np.array([one.ends[2] for one in trials]), np.array([one.numbers for one in trials])
    groups.ends[2, small] = chosen.ends[0] + middles[best, every] - trials[0].ends[0]
    groups.numbers[small] = numbers[best, every]
    groups.tried[small] = np.where(best == 0, chosen.tried, -np.inf)


def _least_loss(knife: Knife, order: Ids, trials: list[Slices]) -> Ids:
    """For each group, which of its trials loses least when its sides are cut on until no cut is left."""
    able = np.array([trial.cut & (trial.tried <= 0) for trial in trials])
    able &= able[1]
    shift = len(order) // len(trials)
    sides = [
        trial.take(here).halves(number * shift) for number, (trial, here) in enumerate(zip(trials, able, strict=True))
    ]
    owner = np.concatenate([np.tile(np.flatnonzero(here) + n * able.shape[1], 2) for n, here in enumerate(able)])
    groups = sum(sides[1:], start=sides[0])
    loss = _to_the_end(knife, order, groups, owner, able.size).reshape(able.shape)
    return np.asarray(np.argmin(np.where(able, np.round(loss * _ALIKE), np.inf), axis=0), np.int64)


def _to_the_end(knife: Knife, order: Ids, groups: Slices, owner: Ids, owners: int) -> Reals:
    """What the groups of each owner cost together, cut until no cut is left."""
    loss = np.zeros(owners)
    while groups.count:
        knife(order, order, groups, weighed=True)
        closed = ~groups.cut
        loss += weighed(owner[closed], groups.loss[closed], owners)
        owner = np.tile(owner[~closed], 2)
        groups = groups.take(~closed).halves()
    return loss
