"""The report of published trees: what they claim, what they look like, what attackers learn, what was pruned."""

from __future__ import annotations

from sfumato.ground.work import Work
from sfumato.report.base.layout import audit_shown, page
from sfumato.report.trees.tree_facts import TreeFacts
from sfumato.report.trees.tree_picture import tree_picture

MOST_LINES = 200
"""So many rules, and so many merges, are listed."""


def render(facts: TreeFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    watch, pictures = work or Work(), []
    for place, tree in enumerate(facts.trees):
        watch.advance("report", place, len(facts.trees))
        pictures.append(tree_picture(tree))
    return page(
        "tree.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, facts.skipped),
        pictures=pictures,
        lines=[(some[:MOST_LINES], max(len(some) - MOST_LINES, 0)) for some in facts.rules],
        merges=facts.merges[:MOST_LINES],
        more=max(len(facts.merges) - MOST_LINES, 0),
    )
