"""Names and values that look like statements, and every question that a source asks."""

from __future__ import annotations

import numpy as np

from sfumato.counts.engine_source import EngineSource
from sfumato.counts.sources import CellMapping

ATTACKS = [
    '"; DROP TABLE victim; --',
    "'; DROP TABLE victim; --",
    "\\'; DROP TABLE victim; --",
    '") FROM victim; DELETE FROM victim; SELECT ("',
    "') OR 1 = 1; INSERT INTO victim VALUES ('x'); --",
    "x') UNION SELECT * FROM victim --",
    "`; DROP TABLE victim; --`",
    "$$; DROP TABLE victim; $$",
    "/* */ ; ATTACH 'stolen.db'; --",
    "\n; COPY victim TO 'stolen.csv'; --\n",
    "E'\\x27; DROP TABLE victim'",
    "{'a': 1}; PRAGMA x",
    "?", "$1", ":name", "%s", "\x00" + "nul",
]  # fmt: skip


def everything(source: EngineSource) -> None:
    """Every question that a source asks."""
    names = list(source.names)
    whole = source.marked(names, ("?", "'")).complete(names[:1])
    domains = [whole.domain(name) for name in names]
    whole.cells(domains[:1], domains[1:])
    cells = whole.cells(domains[:2])
    mapping = CellMapping(
        cells=cells, labels=cells.labels, shown=cells.keys, suppressed=np.arange(cells.count) % 2 == 0
    )
    assert whole.apply(mapping, names[-1:]).frame.height == whole.rows
    whole.texts(names, mapping)
    whole.texts(names)
