"""Run benchmarks, all or those that are named, and keep their tables in RESULTS.md beside this file."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measure import machine

SHORT = (
    "grouping",
    "lattice",
    "searches",
    "mondrian",
    "judging",
    "people",
    "verifying_cost",
    "anjana_race",
    "swapping",
    "group_outputs",
    "cube",
    "matching",
    "histograms",
    "collect_speed",
    "condensing",
    "membership",
    "studio",
)
LONG = (
    "k_optimize",
    "top_down",
    "bottom_up",
    "diffgen",
    "diffgen_constants",
    "marginal_constants",
    "private_tables",
    "questions",
    "comparison",
    "twenty",
    "local_recoding",
    "cost",
    "itemsets",
    "item_data",
    "set_recoding",
    "hiding_rules",
    "inference_channels",
    "attacks_adult",
    "audit_cost",
    "collect_shapes",
    "collect_trees",
    "streaming",
    "trees",
    "auditing",
    "joint_mining",
    "joint_releases",
    "joint_private",
    "primitives",
)
"""Forty minutes together; they draw the docs' pictures too."""
PAPERS = (
    "papers.bottom_up_paper",
    "papers.thesis",
    "papers.marginals_adult",
    "papers.mixed_health",
)
"""The experiments of the papers."""
BY_HAND = ("before_after", "whole_processes")
"""Run by themselves, because they need an older checkout; their parts of RESULTS.md are kept."""


PICTURES = {
    "top_down": ("top-down-records", "top-down-growth"),
    "bottom_up": ("bottom-up",),
    "diffgen": ("diffgen-cost",),
    "comparison": ("loss-against-k",),
    "cost": ("cost",),
    "itemsets": ("trajectory-cost",),
    "whole_processes": ("whole-processes",),
    "collect_shapes": ("collect-shapes", "collect-errors"),
    "collect_trees": ("collect-trees",),
    "condensing": ("condensation",),
    "papers.bottom_up_paper": ("bottom-up-adult",),
    "papers.thesis": (
        "lkc-blood",
        "lkc-adult",
        "trajectory-city",
        "trajectory-metro",
        "diffgen-adult",
        "diffgen-compared",
    ),
}
"""What the benchmarks draw, in the docs' folder of pictures."""


def main(names: Sequence[str]) -> None:
    """Print each table as it comes; those that ran replace their part of RESULTS.md, the others stay."""
    known = (*SHORT, *LONG, *PAPERS)
    strange = [name for name in names if name not in known]
    if strange:
        raise SystemExit(f"no benchmark {strange[0]!r}; there are {', '.join(known)}")
    place = Path(__file__).parent / "RESULTS.md"
    parts = kept(place.read_text() if place.exists() else "")
    for name in names or known:
        one = import_module(name)
        put(place, parts, name, f"{one.main()}\n{mark(name, one.__doc__)}\n", known)
        print(parts[name], flush=True)


def put(place: Path, parts: dict[str, str], name: str, text: str, known: Sequence[str]) -> None:
    """Write the file anew with one part replaced."""
    drawn = "".join(f"![{one}](../docs/pictures/{one}.svg)\n\n" for one in PICTURES.get(name, ()))
    body, ends, last = text.rpartition("`python benchmarks/")
    parts[name] = f"{body.rstrip()}\n\n{drawn}{ends}{last}"
    head = f"# Measured\n\nBy `make bench` on {machine()}. Times are wall clock unless said; ratios are of one run.\n"
    order = (*known, *BY_HAND)
    place.write_text("\n".join([head, *(parts[one] for one in order if one in parts)]))


def mark(name: str, doc: str | None) -> str:
    """The line that ends the part of a benchmark: the command that made it."""
    return f"`python benchmarks/{name.replace('.', '/')}.py`: {' '.join((doc or '').split())}"


def kept(text: str) -> dict[str, str]:
    """The parts of RESULTS.md by the benchmarks that made them."""
    found: dict[str, str] = {}
    lines: list[str] = []
    for line in text.splitlines()[4:]:
        lines.append(line)
        ended = re.match(r"`python benchmarks/([\w/]+)\.py`: ", line)
        if ended:
            found[ended[1].replace("/", ".")] = "\n".join(lines).strip("\n") + "\n"
            lines = []
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
