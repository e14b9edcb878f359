"""Documents reproduced in full, as Markdown tables and as pictures for the docs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measure import table
from pictures import in_rows, save
from sfumato.core.run_context import Work
from sfumato.papers.documents import chosen, document, measured
from sfumato.reports.papers import Shown


def reproduced(name: str, pictures: Mapping[str, Sequence[str]], only: Sequence[str] = ()) -> str:
    """What runs of a document, in full, or ``only`` some of it; ``pictures`` says which figures a picture has."""
    which = document(name)
    found = {one.name: one for one in measured(which, chosen(which, only), full=True, work=Work()).shown}
    for file, figures in pictures.items():
        if not set(figures) <= set(found):
            continue
        save(in_rows([panel for figure in figures for panel in found[figure].panels]), file)
    return "\n".join(part for one in found.values() for part in told(one))


def told(one: Shown) -> list[str]:
    """Ours beside theirs, and every table."""
    words = {True: "holds", False: "differs", None: ""}
    name = one.name[:1].upper() + one.name[1:]
    beside = [[each.what, each.theirs, each.ours, words[each.holds], each.why] for each in one.beside]
    parts = [table(f"{name}: {one.title}", ["what", "theirs", "ours", "", "why"], beside)]
    parts += [table(f"{name}, {grid.title}", grid.heads, grid.rows) for grid in one.grids]
    return [*parts, *(f"{note}\n" for note in one.notes)]
