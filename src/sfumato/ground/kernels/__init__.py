"""Loops that are compiled: the few places where vectorized NumPy is much slower. Imported only when they are called."""
