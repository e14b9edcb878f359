"""Where the way begins: projects, files of the folder, uploads and examples."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse
from starlette.routing import Route

from sfumato.data.files import rendered
from sfumato.ground.errors import DataError
from sfumato.studio.plan_text import edited
from sfumato.studio.project_store import Project, Projects
from sfumato.studio.shown import page
from sfumato.workflow.tour import PLAN as TOUR_PLAN

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

EXAMPLES = {
    "patients": "A guided tour: 30,000 made-up patients, with birth date, postal code, sex, job and diagnosis.",
    "census": "5,000 made-up people: age, sex, education, marital status and occupation.",
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
    given = await request.json()
    projects: Projects = request.app.state.projects
    place = projects.served.inside(str(given.get("file", "")))
    if not place.is_file():
        raise DataError(f"{given.get('file')!r} is no file of this folder")
    made = await _begun(request, place, lambda folder: os.path.relpath(place, folder))
    return JSONResponse({"go": f"/p/{made.name}/columns"})


async def upload(request: Request) -> Response:
    """A project for a file that is sent."""
    projects: Projects = request.app.state.projects
    name = Path(request.query_params.get("name", "")).name
    project = projects.free_name(Path(name).stem)
    place = await projects.served.take(name, request.stream(), projects.home / project / "data")
    try:
        made = await _begun(request, place, lambda folder: f"data/{place.name}", name=project)
    except DataError:
        place.unlink(missing_ok=True)
        raise
    return JSONResponse({"go": f"/p/{made.name}/columns"})


async def example(request: Request) -> Response:
    """A project for a table that comes with sfumato."""
    which = str((await request.json()).get("example", ""))
    made = begin_example(request.app.state.projects, which)
    return JSONResponse({"go": f"/p/{made.name}/columns"})


def begin_example(projects: Projects, which: str) -> Project:
    """A project of its own for an example."""
    from sfumato.datasets.synthetic_census import census
    from sfumato.datasets.synthetic_patients import patients

    if which not in EXAMPLES:
        raise DataError(f"{which!r} is no example")
    name = projects.free_name(which)
    folder = projects.home / name
    (folder / "data").mkdir(parents=True, exist_ok=True)
    frame = patients(30_000, seed=1) if which == "patients" else census(5_000, seed=7)
    (folder / "data" / f"{which}.csv").write_bytes(rendered(frame, f"{which}.csv"))
    if which == "patients":
        made = projects.begin(name, TOUR_PLAN.replace('path = "patients.csv"', 'path = "data/patients.csv"'))
        made.remember(guided=True)
        return made
    from sfumato.workflow.profile.draft import draft
    from sfumato.workflow.profile.profiling import profile

    path = folder / "data" / f"{which}.csv"
    return projects.begin(name, draft(profile(path), path=f"data/{which}.csv"))


async def _begun(request: Request, place: Path, path: Callable[[Path], str], name: str | None = None) -> Project:
    """Look at the table, and begin a project with the plan that was drafted for it."""
    projects: Projects = request.app.state.projects
    called = name or projects.free_name(place.stem)
    found: dict[str, Any] = await request.app.state.desk.ask("profile", path=str(place), reading={})
    text = edited(found["draft"], ["input", "path"], path(projects.home / called))
    return projects.begin(called, text)


ROUTES = (
    Route("/", home),
    Route("/api/open", open_file, methods=["POST"]),
    Route("/api/upload", upload, methods=["PUT"]),
    Route("/api/example", example, methods=["POST"]),
)
