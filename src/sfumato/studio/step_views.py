"""The steps of a project up to the search: columns, hierarchies, requirement, search; and the plan beside them."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, RedirectResponse, StreamingResponse
from starlette.routing import Route

from sfumato.describe.roles import Role
from sfumato.ground.errors import PlanError
from sfumato.studio.project_store import Project
from sfumato.studio.shown import plan_state, step
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
    "intervals": "numbers become ranges",
    "mask": "characters become *, from one end",
    "dates": "days become months, years, decades",
    "flat": "a value, or *",
    "groups": "values become named groups",
    "tree": "a tree of your own",
    "bundled": "a tree that comes with sfumato",
    "file": "a tree from a file",
}
"""The kinds of hierarchy, in a few words."""
MOST_ROWS = 200
"""How many rows of a table one answer has."""


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
    return step(request, project, "hierarchies", names=names, chosen=chosen, kinds=HIERARCHIES)


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
        }
        for part in catalog().models.values()
        if "table" in part.judges
    ]
    metrics = {name: part.meaning for name, part in catalog().metrics.items()}
    return step(request, of(request), "requirement", models=models, metrics=metrics)


async def search(request: Request) -> Response:
    """Which algorithm, and go."""
    from sfumato.workflow.catalog.listing import algorithm_rows

    solving = catalog().solving("table")
    algorithms = [(name, about) for name, about in algorithm_rows() if name in solving]
    job = request.app.state.jobs.of.get(of(request).name)
    running = job is not None and not job.over
    return step(request, of(request), "search", algorithms=algorithms, running=running)


async def save_plan(request: Request) -> Response:
    """The whole text of the plan, from the panel."""
    project, given = of(request), await request.json()
    project.save(str(given["text"]), str(given["revision"]))
    return JSONResponse(plan_state(project))


async def edit_plan(request: Request) -> Response:
    """Some keys of the plan, from a form."""
    project, given = of(request), await request.json()
    changes = [([str(part) for part in path], value) for path, value in given["changes"]]
    project.edit(changes, str(given["revision"]))
    return JSONResponse(plan_state(project))


async def read_plan(request: Request) -> Response:
    """The plan as it is now."""
    return JSONResponse(plan_state(of(request)))


async def rows(request: Request) -> Response:
    """Some rows of the table."""
    project = of(request)
    first = max(int(request.query_params.get("first", "0")), 0)
    many = min(max(int(request.query_params.get("many", "50")), 1), MOST_ROWS)
    return JSONResponse(await _ask(request, project, "rows", first=first, many=many))


async def profiled(request: Request) -> Response:
    """What the columns look like, and what is suggested."""
    project = of(request)
    path = project.folder / str(project.tree.get("input", {}).get("path", ""))
    reading = {
        k: v for k, v in project.tree.get("input", {}).items() if k in ("delimiter", "encoding", "names", "header")
    }
    return JSONResponse(await request.app.state.desk.ask("profile", path=str(path), reading=reading))


async def levels(request: Request) -> Response:
    """The levels that a hierarchy gives a column, before it is taken into the plan."""
    given = await request.json()
    found = await _ask(request, of(request), "levels", column=str(given["column"]), tree=given["tree"])
    return JSONResponse({"levels": found})


async def leaves(request: Request) -> Response:
    """A hierarchy as a file, leaf first."""
    import csv
    import io

    project, column = of(request), request.query_params.get("column", "")
    tree = project.tree.get("columns", {}).get(column, {}).get("hierarchy")
    if tree is None:
        raise PlanError(f"columns.{column} has no hierarchy yet")
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(await _ask(request, project, "leaves", column=column, tree=tree))
    from starlette.responses import Response as Plain

    headers = {"content-disposition": 'attachment; filename="hierarchy.csv"'}
    return Plain(out.getvalue(), media_type="text/csv", headers=headers)


async def reached(request: Request) -> Response:
    """What the raw table reaches of every model of the plan."""
    return JSONResponse(await _ask(request, of(request), "reached"))


async def begin_search(request: Request) -> Response:
    """Make a release of the plan as it is."""
    project = of(request)
    if project.problem is not None:
        raise PlanError(project.problem)
    job = request.app.state.jobs.start(project)
    return JSONResponse({"run": job.number})


async def cancel_search(request: Request) -> Response:
    """Stop the release that is being made."""
    request.app.state.jobs.cancel(of(request))
    return JSONResponse({"cancelled": True})


async def progress(request: Request) -> Response:
    """What the release that is being made tells, as it tells it."""
    told = request.app.state.jobs.told(of(request))

    async def lines() -> AsyncIterator[str]:
        async for event in told:
            yield f"data: {json.dumps(event)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


async def _ask(request: Request, project: Project, verb: str, **given: Any) -> Any:
    return await request.app.state.desk.ask(verb, folder=str(project.folder), text=project.text, **given)


SHOWN_ROLES = tuple(str(one) for one in Role)
ROUTES = (
    Route("/p/{name}", start),
    Route("/p/{name}/columns", columns),
    Route("/p/{name}/hierarchies", hierarchies),
    Route("/p/{name}/requirement", requirement),
    Route("/p/{name}/search", search),
    Route("/p/{name}/hierarchy.csv", leaves),
    Route("/api/p/{name}/plan", read_plan),
    Route("/api/p/{name}/plan", save_plan, methods=["PUT"]),
    Route("/api/p/{name}/edit", edit_plan, methods=["POST"]),
    Route("/api/p/{name}/rows", rows),
    Route("/api/p/{name}/profile", profiled),
    Route("/api/p/{name}/levels", levels, methods=["POST"]),
    Route("/api/p/{name}/reached", reached),
    Route("/api/p/{name}/search", begin_search, methods=["POST"]),
    Route("/api/p/{name}/cancel", cancel_search, methods=["POST"]),
    Route("/api/p/{name}/progress", progress),
)
