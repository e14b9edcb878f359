"""Loops that are compiled: the few places where vectorized NumPy is much slower. Imported only when they are called.

The compiler is an extra, ``sfumato[paths]``: paths and sets need it, tables do not.
"""
