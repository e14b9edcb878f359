"""The page of a reproduced document: ours beside theirs, charts, tables; it needs nothing else."""

from __future__ import annotations

from sfumato.report.base.layout import page
from sfumato.report.base.line_chart import line_chart
from sfumato.report.papers.paper_facts import PaperFacts


def render(facts: PaperFacts) -> str:
    """One self-contained HTML page."""
    drawn = {one.name: [line_chart(panel) for panel in one.panels] for one in facts.shown}
    return page("papers.html.j2", facts=facts, drawn=drawn)
