"""The page of a frontier: charts, what they mean, and every point in one table; it needs nothing else."""

from __future__ import annotations

from sfumato.report.base.layout import page
from sfumato.report.base.picture import Picture
from sfumato.report.frontier.frontier_charts import LARGE, SMALL, chart, symbol, written
from sfumato.report.frontier.frontier_facts import AxisFacts, FrontierFacts


def render(facts: FrontierFacts) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    drawn = _charts(facts)
    lost = facts.ended("refuted", "infeasible", "refused", "failed", "not run")
    return page(
        "frontier.html.j2",
        facts=facts,
        main=drawn[0] if drawn else None,
        narrow=chart(facts, (0, 0), SMALL) if drawn else None,
        others=drawn[1:],
        lost=lost,
        verdict=verdict(facts),
        twins=[(facts.privacy[late], facts.privacy[early]) for late, early in twins(facts).items()],
        first=lambda text: text[:1].upper() + text[1:],
        symbols=[symbol(place) for place in range(len(facts.series))],
        written=lambda value, axis: "" if value is None else written(value, axis.how),
    )


def verdict(facts: FrontierFacts) -> str:
    """What came of the points, in one sentence."""
    words = {
        "verified": "verified",
        "refuted": "not what they claim",
        "infeasible": "infeasible",
        "refused": "refused",
        "failed": "failed",
        "not run": "not run",
    }
    counts = [(len(facts.ended(status)), told) for status, told in words.items()]
    said = ", ".join(f"{many} {told}" for many, told in counts if many)
    every = f"{len(facts.points)} points" if len(facts.points) != 1 else "1 point"
    return f"{every}: {said}."


def twins(facts: FrontierFacts) -> dict[int, int]:
    """Axes of privacy that are one over an earlier one, as class sizes are of risks: their charts would be the same."""
    made = [point.privacy for point in facts.ended("verified")]
    found: dict[int, int] = {}
    for late in range(len(facts.privacy)):
        for early in range(late):
            pairs = [(values[early], values[late]) for values in made]
            if pairs and all(a is not None and b is not None and abs(a * b - 1) < 1e-9 for a, b in pairs):
                found.setdefault(late, early)
    return found


def _charts(facts: FrontierFacts) -> list[tuple[AxisFacts, AxisFacts, Picture]]:
    """The charts of all pairs that have points and show something new, the first one large."""
    found = []
    for j, utility in enumerate(facts.utility):
        for i, privacy in enumerate(facts.privacy):
            picture = None if i in twins(facts) else chart(facts, (i, j), SMALL if i or j else LARGE)
            if picture is not None:
                found.append((privacy, utility, picture))
    return found
