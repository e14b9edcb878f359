"""Loops that are compiled: the few places where vectorized NumPy is much slower. Imported only when they are called.

The compiler is an extra. Where it is not installed, whatever has a plain form runs in that.
"""

from importlib.util import find_spec

_MANY = 2**19
"""Below so many cells a plain loop over arrays is done before the compiler is loaded."""


def worth_compiling(cells: int, many: int = _MANY) -> bool:
    """Whether a compiled loop pays where a plain one gives the same: there is much to do, and a compiler."""
    return cells >= many and find_spec("numba") is not None
