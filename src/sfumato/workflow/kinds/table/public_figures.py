"""What a bundle may say about a table: figures that follow from the released rows and from declared facts.

A figure that was scaled by the original (the range of a column, how many different values it had) can be solved for a
row that was removed. So whatever stands in the manifest and in the public report is computed here, from labels that are
released and domains that are declared; the exact figures are for the steward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.bundle.claims import Claim
from sfumato.describe.hierarchy import TOP, Hierarchy
from sfumato.publish.problem import Form
from sfumato.verification.losses import losses
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.table.table_public import column_loss, label_costs, label_rows

if TYPE_CHECKING:
    from sfumato.workflow.kinds.table.table_release import TableRelease

_SHARES: tuple[Form, ...] = ("boxes", "intervals", "means", "distributions")
"""Labels that are no hierarchy values: they lie as high as their share of the domain says."""


def recoded_columns(made: TableRelease) -> dict[str, Any]:
    """Per quasi-identifier, the labels that the release shows; how large they are where the domain is declared."""
    problem = made.prepared.problem
    found = made.outcome.recoding(problem)
    shown: dict[str, Any] = {}
    for place, (name, hierarchy) in enumerate(zip(problem.cells.quasi, problem.hierarchies, strict=True)):
        ruler, labels = found.rulers[place], found.labels[place]
        used = _used(made, name, labels)
        form = found.forms[place] if found.forms else "levels"
        lies = {labels[i]: float(ruler.steps[i]) + hierarchy.base for i in used}
        height = _height(hierarchy, lies)
        steps = {label: _steps(hierarchy, form, label, step, height) for label, step in lies.items()}
        here: dict[str, Any] = {"of": height, "labels": steps}
        if made.outcome.levels is not None:
            level = made.outcome.levels[place] + hierarchy.base
            here["level"] = min(level, height) if hierarchy.open else level
        if form != "levels":
            here["form"] = form
        if made.rules is not None:
            here["rule"] = made.rules[name].to_json()
        if hierarchy.declared is not None and form != "means":
            here["sizes"] = {labels[i]: float(ruler.sizes[i]) for i in used}
            here |= {"total": hierarchy.total, "continuous": hierarchy.continuous}
        shown[name] = here
    return shown


def _used(made: TableRelease, name: str, labels: tuple[str, ...]) -> list[int]:
    """The labels that released rows show; the group of starred rows has its own."""
    released = set(made.classes.labels[made.classes.quasi.index(name)])
    return [place for place, label in enumerate(labels) if label in released]


def _height(hierarchy: Hierarchy, steps: dict[str, float]) -> int:
    """The levels of a hierarchy; where they were read off the values, as many as the released labels show."""
    if not hierarchy.open:
        return hierarchy.base + hierarchy.height
    below = [max(len(label), int(step) + 1) for label, step in steps.items() if label != TOP]
    return max(below, default=1)


def _steps(hierarchy: Hierarchy, form: Form, label: str, steps: float, height: int) -> float | None:
    """How high a label lies; not told where that would tell how wide the original was."""
    if label == TOP and hierarchy.open:
        return float(height)
    told = label == TOP or form not in _SHARES or (hierarchy.declared is not None and form != "means")
    return steps if told else None


def stated_counts(made: TableRelease) -> dict[str, Any]:
    """How many rows were suppressed, of how many, and how."""
    removed = made.recoding.rows == "remove"
    people = made.suppressed_people
    return {
        "rows": made.suppressed_rows,
        "of": made.prepared.rows if removed else made.published.rows,
        **({} if people is None else {"people": people, "people_of": made.prepared.people}),
        **({"left_out": made.prepared.dropped_rows} if made.prepared.dropped_rows else {}),
        "how": made.recoding.rows,
        "limit": made.plan.algorithm.max_suppressed,
    }


def public_utility(made: TableRelease) -> dict[str, float]:
    """Every metric that a verifier can compute: from released rows, label sizes and declared domains."""
    stated = {
        "data": made.published.to_json(),
        "claims": [_plain(one) for one in made.claims],
        "recoding": {"columns": made.stated_columns},
        "suppression": stated_counts(made),
    }
    return losses(stated, made.classes, catalog(), list(made.utility))


def _plain(one: Claim) -> dict[str, Any]:
    return {"model": one.model, "parameters": dict(one.parameters)}


def exact_loss(made: TableRelease, name: str) -> float:
    """The share of what a column could tell that is lost, with the sizes of labels in the original: not public.

    It is 0 for values as they were, and 1 where one label is left.
    """
    problem = made.prepared.problem
    place = problem.cells.quasi.index(name)
    found, hierarchy = made.outcome.recoding(problem), problem.hierarchies[place]
    labels, ruler = found.labels[place], found.rulers[place]
    counts = label_rows(made.classes, name)
    sizes = {labels[i]: float(ruler.sizes[i]) for i in _used(made, name, labels) if labels[i] in counts}
    removed = made.suppressed_rows if made.recoding.rows == "remove" else 0
    return column_loss(counts, label_costs(sizes, float(ruler.total), continuous=hierarchy.continuous), removed)
