"""Groups or noise: the two kinds of promise, and the way from one to the other and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.studio.plan_text import edited
from sfumato.studio.plan_views import profile_of
from sfumato.studio.project_store import Project
from sfumato.studio.request_reading import said
from sfumato.studio.shown import plan_state
from sfumato.studio.step_views import of
from sfumato.workflow.exploring.switched_promise import with_noise

if TYPE_CHECKING:
    from starlette.requests import Request

GROUPS, NOISE = "groups", "noise"
"""What a release promises by: rows that look alike, or counts with noise."""


async def promise(request: Request) -> Response:
    """Take the other kind of promise; the plan that was there is kept, and comes back with its own kind."""
    project, given = of(request), await said(request)
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
    found = await profile_of(request, project)
    if wanted == GROUPS:
        return edited(found["draft"], ["input", "path"], project.tree["input"]["path"]), []
    types = {one["name"]: str(one["type"]) for one in found["columns"]}
    changes, left_out = with_noise(project.tree, types, project.folder)
    text = project.text
    for path, value in changes:
        text = edited(text, path, value)
    return text, left_out


ROUTES = (Route("/api/p/{name}/promise", promise, methods=["POST"]),)
