"""The steps of a project up to the search: columns, hierarchies, requirement, search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse
from starlette.routing import Route

from sfumato.data.bundled import DATA_SETS, hierarchy_files
from sfumato.ground.errors import PlanError
from sfumato.studio.project_store import Project
from sfumato.studio.shown import step
from sfumato.studio.theory_pages import MODELS
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.exploring.item_values import TIMES

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


DOMAINS = {
    "numbers": "numbers between two limits",
    "values": "a list of values",
    "tree": "a tree that comes with sfumato or from a file",
    "discover": "not known: let the release find it, for a part of the budget",
}
"""The kinds of domain that noise can be added over, in a few words."""
KNOWN_BY = {
    "declared": "I say it here",
    "public": "it was drafted from the rows; I checked that it is public knowledge",
}
"""Who says what a column can hold."""
FORMS = ("table", "items", "private")
"""The kinds of release that have forms for their promise; others are asked for in the plan itself."""
FINDING = ("k-anonymity", "k-map", "delta-presence", "km-anonymity", "lkc-privacy")
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
    """How every quasi-identifier is made coarser; with noise, what every published column can hold."""
    project = of(request)
    noise = project.kind == "private"
    tabs = list(_tabs(project.tree.get("columns", {}), noise=noise))
    column, key = request.query_params.get("column", ""), request.query_params.get("key", "hierarchy")
    found = [one for one in tabs if one[0] == column and one[1] == key] if column else tabs[:1]
    if column and not found:
        role = "published" if noise else "a quasi-identifier"
        raise PlanError(f"columns.{column} is not {role}; give it that role first")
    bundled = [f"{place}/{name}" for place in DATA_SETS for name in hierarchy_files(place)]
    shown: dict[str, Any] = {"tabs": tabs, "chosen": found[0] if found else None, "bundled": bundled}
    if noise:
        return step(request, project, "hierarchies", "domains", kinds=DOMAINS, known_by=KNOWN_BY, **shown)
    return step(request, project, "hierarchies", kinds=HIERARCHIES, **shown)


def _tabs(columns: Mapping[str, Any], *, noise: bool) -> Iterator[tuple[str, str, str]]:
    """Column, key and title of every hierarchy that can be edited; paths have one for places and one for times."""
    roles = ("quasi", "target") if noise else ("quasi",)
    for name, said in columns.items():
        if not any(role in str(said.get("role")) for role in roles):
            continue
        path = said.get("type") == "trajectory"
        yield name, "hierarchy", f"{name}: places" if path else name
        if path:
            yield name, TIMES, f"{name}: times"


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
    project = of(request)
    kind = project.kind
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
        if kind in part.judges
    ]
    metrics = {name: part.meaning for name, part in catalog().metrics.items()}
    return step(request, project, "requirement", models=models, metrics=metrics, forms=kind in FORMS)


async def search(request: Request) -> Response:
    """Which algorithm, and go."""
    project = of(request)
    algorithms = list(catalog().solving(project.kind))
    job = request.app.state.jobs.of.get(project.name)
    running = job is not None and not job.over
    return step(request, project, "search", algorithms=algorithms, running=running)


ROUTES = (
    Route("/p/{name}", start),
    Route("/p/{name}/columns", columns),
    Route("/p/{name}/hierarchies", hierarchies),
    Route("/p/{name}/requirement", requirement),
    Route("/p/{name}/search", search),
)
