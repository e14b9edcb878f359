"""What a file from a stranger may hold: every reader takes its limits from here (docs/guide/limits.md lists them)."""

from __future__ import annotations

MOST_COLUMNS = 2_000
"""How many columns a table may have."""
MOST_NAME = 1_000
"""How many characters the name of a column may have."""
MOST_FIELD = 1_000_000
"""How many bytes one cell may have."""
MOST_DEPTH = 64
"""How deep lists, tables and objects may be nested, in JSON, TOML and SQL, and how many levels a hierarchy may have."""
MOST_DIGITS = 40
"""How many characters a number may have, in JSON, TOML and SQL."""
MOST_JSON = 256_000_000
"""How many characters a JSON text may have."""
MOST_TOML = 16_000_000
"""How many characters a TOML text may have."""
MOST_SQL = 400_000
"""How many characters a SQL text may have."""
MOST_TEXT = 256_000_000
"""How many bytes a plan, a hierarchy, a manifest or a ledger may have."""
MOST_KEY = 65_536
"""How many bytes a secret key may have."""
MOST_CELLS = 32_000_000
"""How many cells (rows times columns) a table may always have."""
CELLS_TO_A_BYTE = 8
"""A larger file of typed columns may have so many cells for each of its bytes."""
BYTES_TO_A_CELL = 2
"""A larger text must have so many bytes for each of its cells: a sign, and what divides it from the next."""
UNFOLDED = 100_000_000
"""How many bytes a compressed file may always unfold to."""
UNFOLDED_TIMES = 25
"""A compressed file of more bytes may unfold to so many times its own size: what it costs grows with what was sent."""


def most_unfolded(size: int) -> int:
    """How many bytes a file of this size may unfold to.

    >>> most_unfolded(1_000), most_unfolded(100_000_000)
    (100000000, 2500000000)
    """
    return max(UNFOLDED, UNFOLDED_TIMES * size)
