"""The studio as an application: addresses, and what every refusal looks like."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.errors import DataError, SfumatoError
from sfumato.studio import opening_views, pages, project_views, result_views, tool_views
from sfumato.studio.pages import page, plan_state
from sfumato.studio.processes import Jobs, TableDesk
from sfumato.studio.projects import MOST_BYTES, Projects, ServedFolder, Stale
from sfumato.studio.requests import Guard, Keys

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response


def application(folder: Path, *, keys: Keys, port: int, most_bytes: int = MOST_BYTES) -> Any:
    """The guarded application for a folder; what a crash left half-made is removed first."""
    projects = Projects(served=ServedFolder(root=folder.resolve(), most_bytes=most_bytes))
    projects.recover()
    return Guard(_routed(projects, keys), keys=keys, port=port)


def _routed(projects: Projects, keys: Keys) -> Starlette:
    from starlette.applications import Starlette
    from starlette.routing import Mount
    from starlette.staticfiles import StaticFiles

    @asynccontextmanager
    async def life(app: Any) -> AsyncIterator[None]:
        yield
        app.state.jobs.close()
        app.state.desk.close()
        app.state.tools.close()

    static = StaticFiles(directory=Path(__file__).parent / "static")
    views = [
        *opening_views.ROUTES,
        *project_views.STEP_ROUTES,
        *project_views.ROUTES,
        *project_views.REQUIREMENT_ROUTES,
        *result_views.ROUTES,
        *tool_views.ROUTES,
        *pages.ROUTES,
    ]
    app = Starlette(
        routes=[*views, Mount("/static", static)],
        lifespan=life,
        exception_handlers={SfumatoError: _refused, OSError: _no_file, 404: _missing},
    )
    app.state.projects, app.state.keys = projects, keys
    app.state.jobs, app.state.desk, app.state.tools = Jobs(), TableDesk(), TableDesk()
    return app


async def _no_file(request: Request, error: Exception) -> Response:
    """What the file system refuses for the name that a request gave is the request's fault; a full disk is not."""
    assert isinstance(error, OSError)
    if error.errno not in (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL):
        raise error
    return await _refused(request, DataError(f"{error.strerror}: choose another name"))


async def _refused(request: Request, error: Exception) -> Response:
    """A refusal: for programs as JSON with the state of the plan, for people as a page."""
    from starlette.responses import JSONResponse

    status = 409 if isinstance(error, Stale) else 400
    if request.url.path.startswith("/api/"):
        more: dict[str, Any] = {}
        if isinstance(error, Stale) and "name" in request.path_params:
            more = plan_state(request.app.state.projects.one(request.path_params["name"]))
        return JSONResponse({"error": str(error), **more}, status_code=status)
    return page(request, "refused.html.j2", status=status, message=str(error))


async def _missing(request: Request, error: Exception) -> Response:
    return page(request, "refused.html.j2", status=404, message="There is no such page. Go back to the start.")
