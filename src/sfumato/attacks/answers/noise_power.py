"""What an audit of so many runs can find: its power, computed before it is run."""

from __future__ import annotations

from math import log

from sfumato.attacks.answers.noise_guesses import highest, lowest

POWER = 0.95
"""The probability with which a violation is found that an audit says it finds."""
COUNTED = 0.98
"""The part of it that is computed: a right guess is enough with this probability. The rest is left for the choice of a
guess on few runs; tests measure that it suffices."""


def refuting(declared: float, guesses: int, missed: float) -> int | None:
    """How many of so many guesses must be right to refute a promise; None where all together do not."""
    low, high = 0, guesses + 1
    while low < high:
        middle = (low + high) // 2
        more, less = lowest(middle, guesses, missed), highest(guesses - middle, guesses, missed)
        if more > 0 and log(more / less) > declared:
            high = middle
        else:
            low = middle + 1
    return low if low <= guesses else None


def smallest_found(declared: float, counted: int, missed: float) -> float | None:
    """The least true epsilon that is found with probability ``POWER`` in so many counted runs on each input.

    Claim: it is meant for one count with discrete Laplace noise that one record moves by 1. The threshold between the
        two counts guesses right with probability e^epsilon / (1 + e^epsilon), so the power of counting is exact. No
        mechanism of the same epsilon shows more: on two inputs all of them are this one, looked at through something
        random (Kairouz, Oh and Viswanath 2015). Where a record moves the output less, or several noises lie over each
        other, less is found.
    Edges: None where the promise is so high that even guesses that are all right do not refute it.
    """
    from scipy.special import betaincinv

    guesses = 2 * counted
    needed = refuting(declared, guesses, missed)
    if needed is None:
        return None
    right = float(betaincinv(needed, guesses - needed + 1, COUNTED))
    return log(right / (1 - right))
