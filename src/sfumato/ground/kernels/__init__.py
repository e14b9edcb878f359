"""Loops that are compiled: the few places where vectorized NumPy is much slower. Imported only when they are called."""

import sys

_MANY = 2**19
"""Below so many cells a plain loop over arrays is done before the compiler is loaded."""


def worth_compiling(cells: int) -> bool:
    """Whether a compiled loop pays where a plain one gives the same: it is loaded already, or there is much to do."""
    return cells >= _MANY or "numba" in sys.modules
