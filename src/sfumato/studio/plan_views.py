"""What the pages of a project ask for and change: the plan, rows, levels, what is reached, the search."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from sfumato.ground.errors import PlanError, SfumatoError
from sfumato.studio.guided_tour import read
from sfumato.studio.project_store import Project
from sfumato.studio.request_reading import changes, number, said, table
from sfumato.studio.shown import plan_state
from sfumato.studio.step_views import of
from sfumato.workflow.exploring.hierarchy_levels import as_file
from sfumato.workflow.exploring.item_values import TIMES

if TYPE_CHECKING:
    from starlette.requests import Request

View = Callable[["Request"], Awaitable[Response]]
MOST_ROWS = 200
"""How many rows of a table one answer has."""


def looked(view: View) -> View:
    """For whatever only looks: a refusal is an answer like any other, and no failed request."""

    @wraps(view)
    async def answered(request: Request) -> Response:
        try:
            return await view(request)
        except SfumatoError as error:
            return JSONResponse({"error": str(error)})

    return answered


async def save_plan(request: Request) -> Response:
    """The whole text of the plan, from the panel."""
    project, given = of(request), await said(request)
    project.save(str(given.get("text", "")), str(given.get("revision")))
    return JSONResponse(plan_state(project))


async def edit_plan(request: Request) -> Response:
    """Some keys of the plan, from a form."""
    project, given = of(request), await said(request)
    project.edit(changes(given), str(given.get("revision")))
    return JSONResponse(plan_state(project))


async def read_plan(request: Request) -> Response:
    """The plan as it is now."""
    return JSONResponse(plan_state(of(request)))


@looked
async def rows(request: Request) -> Response:
    """Some rows of the table."""
    project = of(request)
    first = number(request, "first", least=0, most=2**48, usual=0)
    many = number(request, "many", least=1, most=MOST_ROWS, usual=50)
    return JSONResponse(await ask_desk(request, project, "rows", first=first, many=many))


@looked
async def profiled(request: Request) -> Response:
    """What the columns look like, and what is suggested."""
    return JSONResponse(await profile_of(request, of(request)))


@looked
async def levels(request: Request) -> Response:
    """The levels that a hierarchy gives a column, before it is taken into the plan."""
    return JSONResponse({"levels": await _with_tree(request, "levels")})


@looked
async def nested(request: Request) -> Response:
    """A hierarchy as a tree of groups, to be edited by moving values."""
    return JSONResponse(await _with_tree(request, "nested"))


@looked
async def spread(request: Request) -> Response:
    """How the numbers of a column lie."""
    column, key = request.query_params.get("column", ""), _key(request.query_params.get("key"))
    return JSONResponse({"spread": await ask_desk(request, of(request), "spread", column=column, key=key)})


@looked
async def declared(request: Request) -> Response:
    """What a declared domain means for the rows of a column, before it is taken into the plan."""
    given = await said(request)
    found = await ask_desk(request, of(request), "declared", column=str(given.get("column")), said=table(given, "said"))
    return JSONResponse(found)


async def take_file(request: Request) -> Response:
    """A hierarchy from a file that is sent, kept beside the plan; refused where it does not fit the column.

    Its name has the digest of its bytes: a file that some plan names is never changed.
    """
    project, column = of(request), request.query_params.get("column", "")
    bare = re.sub(r"[^A-Za-z0-9._-]+", "-", column).strip("-._")[:50] or "column"
    served, key = request.app.state.projects.served, _key(request.query_params.get("key"))
    taken = await served.take(f"{token_hex(8)}.csv", request.stream(), project.folder / "hierarchies")
    try:
        await ask_desk(request, project, "levels", column=column, tree={"file": f"hierarchies/{taken.name}"}, key=key)
    except SfumatoError:
        taken.unlink()
        raise
    named = taken.with_name(f"{bare}-{sha256(taken.read_bytes()).hexdigest()[:12]}.csv")
    taken.replace(named)
    return JSONResponse({"tree": {"file": f"hierarchies/{named.name}"}})


@looked
async def fitting(request: Request) -> Response:
    """Which algorithms can be asked, and why not the others."""
    return JSONResponse(await ask_desk(request, of(request), "fitting"))


async def read_hint(request: Request) -> Response:
    """Somebody has read a hint."""
    read(of(request), str((await said(request)).get("step", "")))
    return JSONResponse({"read": True})


async def leaves(request: Request) -> Response:
    """A hierarchy as a file, leaf first."""
    project, column, key = of(request), request.query_params.get("column", ""), _key(request.query_params.get("key"))
    tree = project.tree.get("columns", {}).get(column, {}).get(key)
    if tree is None:
        raise PlanError(f"columns.{column} has no {key} yet")
    text = as_file(await ask_desk(request, project, "leaves", column=column, tree=tree, key=key))
    headers = {"content-disposition": 'attachment; filename="hierarchy.csv"'}
    return Response(text, media_type="text/csv", headers=headers)


@looked
async def reached(request: Request) -> Response:
    """What the raw table reaches of every model of the plan."""
    return JSONResponse(await ask_desk(request, of(request), "reached"))


async def begin_search(request: Request) -> Response:
    """Make a release of the plan as it is."""
    project = of(request)
    if project.problem is not None:
        raise PlanError(project.problem)
    job = request.app.state.jobs.start(project)
    return JSONResponse({"run": job.number})


async def cancel_search(request: Request) -> Response:
    """Stop the release that is being made."""
    await asyncio.to_thread(request.app.state.jobs.cancel, of(request))
    return JSONResponse({"cancelled": True})


async def progress(request: Request) -> Response:
    """What the release that is being made tells, as it tells it."""
    told = request.app.state.jobs.told(of(request))

    async def lines() -> AsyncIterator[str]:
        async for event in told:
            yield f"data: {json.dumps(event)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


async def ask_desk(request: Request, project: Project, verb: str, **given: Any) -> Any:
    """An answer of the process that keeps the project's table."""
    return await request.app.state.desk.ask(verb, folder=str(project.folder), text=project.text, **given)


async def profile_of(request: Request, project: Project) -> Any:
    """What the project's table looks like, read as the plan says."""
    said = project.tree.get("input", {})
    path = project.folder / str(said.get("path", ""))
    request.app.state.projects.served.inside(str(path))
    reading = {key: said[key] for key in ("delimiter", "encoding", "names", "header") if key in said}
    return await request.app.state.desk.ask("profile", path=str(path), reading=reading)


async def _with_tree(request: Request, verb: str) -> Any:
    given = await said(request)
    about = {"column": str(given.get("column")), "tree": table(given, "tree"), "key": _key(given.get("key"))}
    return await ask_desk(request, of(request), verb, **about)


def _key(named: Any) -> str:
    """Which hierarchy of a column: of its values or places, or of its times."""
    return TIMES if named == TIMES else "hierarchy"


ROUTES = (
    Route("/p/{name}/hierarchy.csv", leaves),
    Route("/api/p/{name}/plan", read_plan),
    Route("/api/p/{name}/plan", save_plan, methods=["PUT"]),
    Route("/api/p/{name}/edit", edit_plan, methods=["POST"]),
    Route("/api/p/{name}/rows", rows),
    Route("/api/p/{name}/profile", profiled),
    Route("/api/p/{name}/levels", levels, methods=["POST"]),
    Route("/api/p/{name}/spread", spread),
    Route("/api/p/{name}/nested", nested, methods=["POST"]),
    Route("/api/p/{name}/declared", declared, methods=["POST"]),
    Route("/api/p/{name}/hierarchy", take_file, methods=["PUT"]),
    Route("/api/p/{name}/fitting", fitting),
    Route("/api/p/{name}/reached", reached),
    Route("/api/p/{name}/read", read_hint, methods=["POST"]),
    Route("/api/p/{name}/search", begin_search, methods=["POST"]),
    Route("/api/p/{name}/cancel", cancel_search, methods=["POST"]),
    Route("/api/p/{name}/progress", progress),
)
