"""The guided first run: one short hint per step, shown until it was read."""

from __future__ import annotations

from sfumato.studio.project_store import Project

HINTS = {
    "columns": (
        "This is the tour's hospital: 30,000 made-up patients. A neighbour may know somebody's birth date, postal "
        "code, sex and job, so these four are quasi-identifiers. Nobody may learn a diagnosis, so it is "
        "sensitive. Look at “As the table stands”: nearly every row is alone. Then go on to the hierarchies."
    ),
    "hierarchies": (
        "A birth date may become a month, a year, a decade; a postal code loses digits from the right. Change a "
        "hierarchy and watch what it gives below; take it into the plan only if you like it. Then say what must "
        "hold."
    ),
    "requirement": (
        "Two things are asked for: every combination is shared by at least 5 rows (k-anonymity), and in every "
        "group the diagnosis stays uncertain (l-diversity). The raw table reaches 1 of each. Try another k: the "
        "plan on the right changes with it. Then search."
    ),
    "search": (
        "Leave it at auto and make the release. The search proves which levels lose least, then attacks its own "
        "result and verifies the written files. You can cancel at any time."
    ),
    "result": (
        "What was promised stands first, then what it costs. Choose a box around the released node to see what "
        "another choice of levels would give. Change the requirement, search again, and compare."
    ),
    "compare": (
        "Every release that you made is a point here. Further to the right is more private, further up is more "
        "useful. Pick one and export it."
    ),
    "export": (
        "This is what you hand out, and the two lines that make the same without the studio. The tour ends here: "
        "open a table of your own on the first page."
    ),
}
"""What a newcomer is told at each step."""


def hint(project: Project, step: str, kind: str) -> str | None:
    """The hint of a step, as long as the project is guided, nobody has read it, and the plan is of the tour's kind."""
    notes = project.notes
    unread = notes.get("guided") and step not in notes.get("read", [])
    return HINTS.get(step) if unread and kind == "table" else None


def read(project: Project, step: str) -> None:
    """Somebody has read the hint of a step, or wants none of them."""
    seen = list(HINTS) if step == "all" else [step]
    project.remember(read=sorted({*project.notes.get("read", []), *seen} & {*HINTS}))
