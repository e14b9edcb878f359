"""Top-down specialization: from all ``*`` downwards, one label after the other is replaced by finer ones."""

from sfumato.algorithms.top_down.specializer import TopDown

__all__ = ["TopDown"]
