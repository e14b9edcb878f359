"""Simulated collections for studies: the declared laws by NumPy from a seed. Never for answers of people."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.collect.kept_categories import KeptCategory
from sfumato.collect.noise_laws import NoiseLaw, Reals, Whole
from sfumato.collect.noisy_numbers import NoisyNumber
from sfumato.collect.unary_bits import UnaryBits
from sfumato.ground.chance import Chance


def shown_numbers(question: NoisyNumber, true: Reals, chance: Chance) -> Reals:
    """What a question would show of these numbers, which are rounded to its grid; its chance must be its own.

    Numbers that were drawn from the same seed would go with their noise.
    """
    rng, law = chance.generator(), NoiseLaw.of(question)
    low, step = float(question.low), float(question.step)
    codes = np.clip(np.rint((np.asarray(true) - low) / step), 0, question.steps)
    drawn = np.searchsorted(np.cumsum(law.mass)[:-1], rng.random(len(codes)), side="right") - law.reach
    return np.asarray(low + step * (codes + drawn))


def shown_codes(question: KeptCategory, true: Whole, chance: Chance) -> Whole:
    """What a question would show of these answers, by their places."""
    rng, many = chance.generator(), len(question.values)
    other = rng.integers(0, many - 1, len(true))
    other += other >= true
    return np.where(rng.random(len(true)) < float(question.keep), true, other)


def shown_bits(question: UnaryBits, true: NDArray[np.bool_], chance: Chance) -> NDArray[np.bool_]:
    """What a question would show of these rows of bits, in one report."""
    keep, flip = map(float, question.shown)
    return np.asarray(chance.generator().random(true.shape) < np.where(true, keep, flip))
