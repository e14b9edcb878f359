"""Randomness for releases and studies, and keys that no one can guess."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


# Randomness is handed in: from the system for releases, from a seed for studies.


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """A source of randomness that knows whether it can be repeated."""

    seed: int | None = None
    """The seed of a study, or None for the system's entropy."""

    def generator(self) -> np.random.Generator:
        """A fresh NumPy generator; equal seeds give equal generators."""
        import numpy as np

        return np.random.Generator(np.random.PCG64(secrets.randbits(128) if self.seed is None else self.seed))


# Keys, masks and shares that nobody else can guess; no noise and no choice is ever drawn from here.


def fresh_key(length: int = 32) -> bytes:
    """So many bytes that nobody can guess, from the system.

    >>> len(fresh_key()), fresh_key() == fresh_key()
    (32, False)
    """
    return os.urandom(length)
