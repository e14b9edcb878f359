"""Bottom-up generalization: `sfumato reproduce bottom-up --full` (document 001)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from papers.reproduced import reproduced


def main() -> str:
    """Tables, and the picture of figures 3 and 4."""
    return reproduced("bottom-up", {"bottom-up-adult.svg": ("figure 3", "figure 4")})


if __name__ == "__main__":
    print(main())
