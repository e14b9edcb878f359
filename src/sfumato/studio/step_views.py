"""The steps of a project up to the search: columns, hierarchies, requirement, search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse
from starlette.routing import Route

from sfumato.data.bundled import DATA_SETS, hierarchy_files
from sfumato.ground.errors import PlanError
from sfumato.studio.project_store import Project
from sfumato.studio.shown import step
from sfumato.studio.theory_pages import MODELS
from sfumato.workflow.catalog.lookup import catalog

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

ROLES = {
    "identifier": "names somebody by itself: it is left out, or replaced by a keyed name",
    "quasi": "others may know it: it is made coarser",
    "sensitive": "must not be learnt about anybody: it is published as it is",
    "target": "what a classifier should learn from the release",
    "keep": "nobody outside can know it: it is published as it is",
    "drop": "it is left out",
}
"""What each role means, in a sentence."""
HIERARCHIES = {
    "intervals": "numbers become ranges of equal widths",
    "edges": "numbers become ranges with edges of your own",
    "mask": "characters become *, from one end",
    "dates": "days become months, years, decades",
    "flat": "a value, or *",
    "groups": "values become named groups, one level",
    "tree": "groups within groups",
    "bundled": "a tree that comes with sfumato",
    "file": "a tree from a file",
}
"""The kinds of hierarchy, in a few words."""


FINDING = ("k-anonymity", "k-map", "delta-presence")
"""Models against finding somebody's row; the others are against learning a value."""


def of(request: Request) -> Project:
    """The project of a request."""
    found: Project = request.app.state.projects.one(request.path_params["name"])
    return found


async def start(request: Request) -> Response:
    """A project begins with its columns."""
    return RedirectResponse(f"/p/{of(request).name}/columns", status_code=303)


async def columns(request: Request) -> Response:
    """Role and type of every column, with what the table shows."""
    return step(request, of(request), "columns", roles=ROLES)


async def hierarchies(request: Request) -> Response:
    """How every quasi-identifier is made coarser."""
    project = of(request)
    names = [name for name, one in project.tree.get("columns", {}).items() if "quasi" in str(one.get("role"))]
    chosen = request.query_params.get("column") or (names[0] if names else "")
    if chosen and chosen not in names:
        raise PlanError(f"columns.{chosen} is no quasi-identifier; give it that role first")
    bundled = [f"{place}/{name}" for place in DATA_SETS for name in hierarchy_files(place)]
    return step(request, project, "hierarchies", names=names, chosen=chosen, kinds=HIERARCHIES, bundled=bundled)


def pieces(text: str) -> list[tuple[str, str]]:
    """Words of a model, with the names of its parameters apart, so that a page can show their values.

    >>> pieces("at least {k} rows")
    [('words', 'at least '), ('parameter', 'k'), ('words', ' rows')]
    """
    parts = re.split(r"\{(\w+)\}", text)
    found = [("parameter" if place % 2 else "words", part) for place, part in enumerate(parts)]
    return [one for one in found if one[1]]


async def requirement(request: Request) -> Response:
    """What must hold."""
    models = [
        {
            "key": part.key,
            "name": part.make.name,
            "meaning": pieces(part.meaning),
            "limits": pieces(part.limits),
            "plan": part.plan,
            "theory": MODELS.get(part.make.name, ""),
            "against": "rows" if part.make.name in FINDING else "values",
        }
        for part in catalog().models.values()
        if "table" in part.judges
    ]
    metrics = {name: part.meaning for name, part in catalog().metrics.items()}
    return step(request, of(request), "requirement", models=models, metrics=metrics)


async def search(request: Request) -> Response:
    """Which algorithm, and go."""
    algorithms = list(catalog().solving("table"))
    job = request.app.state.jobs.of.get(of(request).name)
    running = job is not None and not job.over
    return step(request, of(request), "search", algorithms=algorithms, running=running)


ROUTES = (
    Route("/p/{name}", start),
    Route("/p/{name}/columns", columns),
    Route("/p/{name}/hierarchies", hierarchies),
    Route("/p/{name}/requirement", requirement),
    Route("/p/{name}/search", search),
)
