"""Keys, masks and shares that nobody else can guess; no noise and no choice is ever drawn from here."""

from __future__ import annotations

import os


def fresh_key(length: int = 32) -> bytes:
    """So many bytes that nobody can guess, from the system.

    >>> len(fresh_key()), fresh_key() == fresh_key()
    (32, False)
    """
    return os.urandom(length)
