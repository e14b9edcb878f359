"""Trees shared in place of data: `sfumato reproduce models --full` (document 004)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from papers.reproduced import reproduced


def main() -> str:
    """Every table."""
    return reproduced("models", {}, sys.argv[1:])


if __name__ == "__main__":
    print(main())
