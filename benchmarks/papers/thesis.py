"""Private data sharing: `sfumato reproduce thesis --full` (document 003); figures that are named, or all."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from papers.reproduced import reproduced

PICTURES = {
    "lkc-blood.svg": ("figure 3.4",),
    "lkc-adult.svg": ("figure 3.5", "figure 3.6", "figure 3.7"),
    "trajectory-city.svg": ("figure 4.4", "figure 4.5", "figure 4.6"),
    "trajectory-metro.svg": ("figure 4.7", "figure 4.8", "figure 4.9"),
    "diffgen-adult.svg": ("figure 6.4",),
    "private-parties.svg": ("figure 7.2",),
    "diffgen-compared.svg": ("figure 6.3", "figure 6.5", "figure 6.6"),
}


def main() -> str:
    """Tables, and a picture for each group of figures."""
    return reproduced("thesis", PICTURES, sys.argv[1:])


if __name__ == "__main__":
    print(main())
