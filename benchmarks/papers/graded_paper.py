"""Graded grouping: `sfumato reproduce graded --full` (document 002)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from papers.reproduced import reproduced


def main() -> str:
    """Every table."""
    return reproduced("graded", {}, sys.argv[1:])


if __name__ == "__main__":
    print(main())
