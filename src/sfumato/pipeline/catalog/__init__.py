"""The catalog of methods, models, metrics, algorithms, attacks and formats that a plan can name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

BUILT_IN: list[Callable[[], Any]] = []
"""What loads the parts that sfumato itself brings; the package ``sfumato.pipeline`` puts it here.

So the catalog imports no part, and every part may ask the catalog for others.
"""
