"""Documents reproduced in full, as Markdown tables and as pictures for the docs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measure import table
from pictures import FOLDER
from sfumato.ground.work import Work
from sfumato.papers.documents import document
from sfumato.papers.running import chosen, measured
from sfumato.report.base.line_chart import Panel, line_chart
from sfumato.report.papers.paper_facts import Shown

COLOURS = (
    "--ink: #2a2622; --muted: #665e56; --track: #ece6dc; --series1: #2f6690; --series2: #b5651d; --series3: #3f7d58; "
    "--series4: #8a4f7d; --series5: #6b6f2a; --series6: #a63d40"
)
WIDE, TALL = 396, 230


def reproduced(name: str, pictures: Mapping[str, Sequence[str]]) -> str:
    """Everything of a document that runs, in full; ``pictures`` says which figures a picture has."""
    which = document(name)
    found = {one.name: one for one in measured(which, chosen(which, ()), full=True, work=Work()).shown}
    for file, figures in pictures.items():
        draw([panel for figure in figures for panel in found[figure].panels], file)
    return "\n".join(part for one in found.values() for part in told(one))


def told(one: Shown) -> list[str]:
    """Ours beside theirs, and every table."""
    words = {True: "holds", False: "differs", None: ""}
    name = one.name[:1].upper() + one.name[1:]
    beside = [[each.what, each.theirs, each.ours, words[each.holds], each.why] for each in one.beside]
    parts = [table(f"{name}: {one.title}", ["what", "theirs", "ours", "", "why"], beside)]
    parts += [table(f"{name}, {grid.title}", grid.heads, grid.rows) for grid in one.grids]
    return [*parts, *(f"{note}\n" for note in one.notes)]


def draw(panels: Sequence[Panel], name: str) -> None:
    """Some charts as one SVG file, three in a row."""
    parts = []
    for number, panel in enumerate(panels):
        x, y = number % 3 * WIDE, number // 3 * (TALL + 30)
        parts.append(f'<text x="{x + 4}" y="{y + 16}" font-size="13" font-weight="600">{panel.title}</text>')
        parts.append(line_chart(panel, width=WIDE, height=TALL).svg.replace("<svg ", f'<svg x="{x}" y="{y + 26}" ', 1))
    width, height = min(len(panels), 3) * WIDE, -(-len(panels) // 3) * (TALL + 30)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
    style = f'font-family="system-ui, sans-serif" style="{COLOURS}; background: #ffffff">'
    (FOLDER / name).write_text(f"{head}{style}{''.join(parts)}</svg>\n", encoding="utf-8")
