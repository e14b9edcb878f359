"""Noise and private selection: thin, typed wrappers, and the only place that knows OpenDP.

Every call takes its share of the budget as an exact fraction, asks OpenDP what the mechanism really costs, and refuses
to release anything that would cost more.
"""

from sfumato.noise.costing import counted, picked
from sfumato.noise.counts import noisy_counts, noisy_reals
from sfumato.noise.gaussian import gaussian_counts
from sfumato.noise.key_selection import chosen_keys
from sfumato.noise.noise_shares import laplace_share
from sfumato.noise.noisy import Noisy
from sfumato.noise.responses import randomized_responses
from sfumato.noise.selection import chosen, chosen_quantile

__all__ = [
    "Noisy",
    "chosen",
    "chosen_keys",
    "chosen_quantile",
    "counted",
    "gaussian_counts",
    "laplace_share",
    "noisy_counts",
    "noisy_reals",
    "picked",
    "randomized_responses",
]
