"""The pages of a project: steps, edits of the plan, kind of requirement, search."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import wraps
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sfumato.core.errors import PlanError, SfumatoError
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.exploration import TIMES, as_file, with_noise
from sfumato.studio.pages import MODELS, plan_state, step
from sfumato.studio.plan_text import edited
from sfumato.studio.projects import Project, read
from sfumato.studio.requests import changes, json_body, number, table
from sfumato.tables.hierarchy_files import DATA_SETS, hierarchy_files

if TYPE_CHECKING:
    from starlette.requests import Request


# The steps of a project up to the search: columns, hierarchies, requirement, search.


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
    project: Project = request.app.state.projects.one(request.path_params["name"])
    return project


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
    matches = [tab for tab in tabs if tab[0] == column and tab[1] == key] if column else tabs[:1]
    if column and not matches:
        role = "published" if noise else "a quasi-identifier"
        raise PlanError(f"columns.{column} is not {role}; give it that role first")
    bundled = [f"{place}/{name}" for place in DATA_SETS for name in hierarchy_files(place)]
    context: dict[str, Any] = {"tabs": tabs, "chosen": matches[0] if matches else None, "bundled": bundled}
    if noise:
        return step(request, project, "hierarchies", "domains", kinds=DOMAINS, known_by=KNOWN_BY, **context)
    return step(request, project, "hierarchies", kinds=HIERARCHIES, **context)


def _tabs(columns: Mapping[str, Any], *, noise: bool) -> Iterator[tuple[str, str, str]]:
    """Column, key and title of every hierarchy that can be edited; paths have one for places and one for times."""
    roles = ("quasi", "target") if noise else ("quasi",)
    for name, column in columns.items():
        if not any(role in str(column.get("role")) for role in roles):
            continue
        path = column.get("type") == "trajectory"
        yield name, "hierarchy", f"{name}: places" if path else name
        if path:
            yield name, TIMES, f"{name}: times"


def pieces(text: str) -> list[tuple[str, str]]:
    """Words of a model, with the names of its parameters apart, so that a page can show their values.

    >>> pieces("at least {k} rows")
    [('words', 'at least '), ('parameter', 'k'), ('words', ' rows')]
    """
    parts = re.split(r"\{(\w+)\}", text)
    pairs = [("parameter" if place % 2 else "words", part) for place, part in enumerate(parts)]
    return [pair for pair in pairs if pair[1]]


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


STEP_ROUTES = (
    Route("/p/{name}", start),
    Route("/p/{name}/columns", columns),
    Route("/p/{name}/hierarchies", hierarchies),
    Route("/p/{name}/requirement", requirement),
    Route("/p/{name}/search", search),
)


# What the pages of a project ask for and change: the plan, rows, levels, what is reached, the search.


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
    project, given = of(request), await json_body(request)
    project.save(str(given.get("text", "")), str(given.get("revision")))
    return JSONResponse(plan_state(project))


async def edit_plan(request: Request) -> Response:
    """Some keys of the plan, from a form."""
    project, given = of(request), await json_body(request)
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
    given = await json_body(request)
    answer = await ask_desk(
        request, of(request), "declared", column=str(given.get("column")), declaration=table(given, "said")
    )
    return JSONResponse(answer)


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
    read(of(request), str((await json_body(request)).get("step", "")))
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
    events = request.app.state.jobs.told(of(request))

    async def lines() -> AsyncIterator[str]:
        async for event in events:
            yield f"data: {json.dumps(event)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


async def ask_desk(request: Request, project: Project, verb: str, **given: Any) -> Any:
    """An answer of the process that keeps the project's table."""
    return await request.app.state.desk.ask(verb, folder=str(project.folder), text=project.text, **given)


async def profile_of(request: Request, project: Project) -> Any:
    """What the project's table looks like, read as the plan says."""
    settings = project.tree.get("input", {})
    path = project.folder / str(settings.get("path", ""))
    request.app.state.projects.served.inside(str(path))
    reading = {key: settings[key] for key in ("delimiter", "encoding", "names", "header") if key in settings}
    return await request.app.state.desk.ask("profile", path=str(path), reading=reading)


async def _with_tree(request: Request, verb: str) -> Any:
    given = await json_body(request)
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


# Groups or noise: the two kinds of promise, and the way from one to the other and back.


GROUPS, NOISE = "groups", "noise"
"""What a release promises by: rows that look alike, or counts with noise."""


async def promise(request: Request) -> Response:
    """Take the other kind of promise; the plan that was there is kept, and comes back with its own kind."""
    project, given = of(request), await json_body(request)
    wanted = NOISE if given.get("promise") == NOISE else GROUPS
    now = NOISE if project.kind == "private" else GROUPS
    left_out: list[str] = []
    if wanted != now:
        text, left_out = await _text(request, project, wanted)
        project.remember(promises={**project.notes.get("promises", {}), now: project.text})
        project.save(text, str(given.get("revision")))
    return JSONResponse({**plan_state(project), "left_out": left_out})


async def _text(request: Request, project: Project, wanted: str) -> tuple[str, list[str]]:
    """The plan of the other kind: as it was left, or made from this one; and the columns that it leaves out."""
    kept = project.notes.get("promises", {}).get(wanted)
    if kept is not None:
        return str(kept), []
    table_profile = await profile_of(request, project)
    if wanted == GROUPS:
        return edited(table_profile["draft"], ["input", "path"], project.tree["input"]["path"]), []
    types = {column["name"]: str(column["type"]) for column in table_profile["columns"]}
    changes, left_out = with_noise(project.tree, types, project.folder)
    text = project.text
    for path, value in changes:
        text = edited(text, path, value)
    return text, left_out


REQUIREMENT_ROUTES = (Route("/api/p/{name}/promise", promise, methods=["POST"]),)
