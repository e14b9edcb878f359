"""Rows on their way between polars and an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ArrowStream:
    """Rows as a stream of Arrow and as nothing else: no other package is needed between polars and an engine."""

    rows: Any
    """Whatever can be streamed so."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)
