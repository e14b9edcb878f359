"""Where the way begins: projects, files of the folder, uploads and examples."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from starlette.responses import JSONResponse
from starlette.routing import Route

from sfumato.core.errors import DataError
from sfumato.pipeline.demo import PLAN as TOUR_PLAN
from sfumato.studio.pages import page
from sfumato.studio.plan_text import edited
from sfumato.studio.projects import Project, Projects
from sfumato.studio.requests import json_body
from sfumato.tables.files import rendered

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

EXAMPLES = {
    "patients": "A guided tour: 30,000 made-up patients, with birth date, postal code, sex, job and diagnosis.",
    "census": "5,000 made-up people: age, sex, education, marital status and occupation.",
    "journeys": "2,000 made-up passengers: the stations where each was seen, and when.",
    "stays": "3,000 made-up stays in intensive care: a set of diagnosis codes each.",
}
"""Tables that come with sfumato, and what they are."""


async def home(request: Request) -> Response:
    """Projects, files, examples."""
    projects: Projects = request.app.state.projects
    return page(
        request,
        "home.html.j2",
        projects=projects.all(),
        files=projects.served.files(),
        examples=EXAMPLES,
        folder=projects.served.root.name,
        most=projects.served.most_bytes,
    )


async def open_file(request: Request) -> Response:
    """A project for a file of the folder."""
    given = await json_body(request)
    projects: Projects = request.app.state.projects
    place = projects.served.inside(str(given.get("file", "")))
    if not place.is_file():
        raise DataError(f"{given.get('file')!r} is no file of this folder")
    project = await _begun(request, place, lambda folder: os.path.relpath(place, folder))
    return JSONResponse({"go": f"/p/{project.name}/columns"})


async def upload(request: Request) -> Response:
    """A project for a file that is sent."""
    projects: Projects = request.app.state.projects
    name = Path(request.query_params.get("name", "")).name
    project = projects.free_name(Path(name).stem)
    place = await projects.served.take(name, request.stream(), projects.home / project / "data")
    try:
        new_project = await _begun(request, place, lambda folder: f"data/{place.name}", name=project)
    except DataError:
        place.unlink(missing_ok=True)
        raise
    return JSONResponse({"go": f"/p/{new_project.name}/columns"})


async def example(request: Request) -> Response:
    """A project for a table that comes with sfumato."""
    which = str((await json_body(request)).get("example", ""))
    project = begin_example(request.app.state.projects, which)
    return JSONResponse({"go": f"/p/{project.name}/columns"})


def begin_example(projects: Projects, which: str) -> Project:
    """A project of its own for an example; the patients come with the tour's plan, the others with a draft."""
    if which not in EXAMPLES:
        raise DataError(f"{which!r} is no example")
    name = projects.free_name(which)
    path = projects.home / name / "data" / f"{which}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(rendered(_example(which), path.name))
    if which == "patients":
        project = projects.begin(name, TOUR_PLAN.replace('path = "patients.csv"', 'path = "data/patients.csv"'))
        project.remember(guided=True)
        return project
    from sfumato.pipeline.profile.draft import draft
    from sfumato.pipeline.profile.profile import profile

    return projects.begin(name, draft(profile(path), path=f"data/{path.name}"))


def _example(which: str) -> pl.DataFrame:
    """The table of an example."""
    from sfumato.tables import datasets

    if which == "journeys":
        return datasets.metro(2_000, stations=12, minutes=20, seed=7)
    if which == "stays":
        codes = pl.col("codes").str.replace_all(" ", "|").alias("diagnoses")
        return datasets.icu(3_000, seed=5).select("gender", "admission type", codes, "mortality")
    return datasets.patients(30_000, seed=1) if which == "patients" else datasets.census(5_000, seed=7)


async def _begun(request: Request, place: Path, path: Callable[[Path], str], name: str | None = None) -> Project:
    """Look at the table, and begin a project with the plan that was drafted for it."""
    projects: Projects = request.app.state.projects
    called = name or projects.free_name(place.stem)
    table_profile: dict[str, Any] = await request.app.state.desk.ask("profile", path=str(place), reading={})
    text = edited(table_profile["draft"], ["input", "path"], path(projects.home / called))
    return projects.begin(called, text)


ROUTES = (
    Route("/", home),
    Route("/api/open", open_file, methods=["POST"]),
    Route("/api/upload", upload, methods=["PUT"]),
    Route("/api/example", example, methods=["POST"]),
)
