"""Pages beside the way: verify a bundle, attack one, ask under a budget, look at results of several parties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from sfumato.bundles.files import MANIFEST
from sfumato.core.errors import DataError
from sfumato.studio.pages import page
from sfumato.studio.projects import Project, Projects
from sfumato.studio.requests import REPORT_POLICY, json_body

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_MOST = 300


def bundles(projects: Projects, kind: str | None = None) -> list[str]:
    """The bundles of the folder, by their path."""
    root, paths = projects.served.root, []
    for place in sorted(root.glob(f"**/{MANIFEST}"))[:_MOST]:
        if place.is_symlink() or any(part.startswith(".") for part in place.relative_to(root).parts):
            continue
        if kind is None or _kind(place) == kind:
            paths.append(place.parent.relative_to(root).as_posix())
    return paths


def _kind(manifest: Path) -> str:
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8")).get("kind"))
    except (OSError, ValueError, AttributeError):
        return ""


async def verify(request: Request) -> Response:
    """Choose a bundle, and see whether it is what it says."""
    return page(request, "verify.html.j2", here="verify", bundles=bundles(request.app.state.projects))


async def attack(request: Request) -> Response:
    """Choose a bundle and its original, and see what an adversary can do."""
    projects: Projects = request.app.state.projects
    own = {project.name: _table_of(project, projects.served.root) for project in projects.all()}
    files = dict.fromkeys([*(served_file.name for served_file in projects.served.files()), *filter(None, own.values())])
    return page(request, "attack.html.j2", here="attack", bundles=bundles(projects), files=list(files), own=own)


def _table_of(project: Project, root: Path) -> str:
    """The path of a project's table in the served folder; empty where it has none there."""
    path = project.tree.get("input", {}).get("path")
    try:
        place = (project.folder / str(path)).resolve()
        return place.relative_to(root).as_posix() if path and place.is_relative_to(root) and place.is_file() else ""
    except (OSError, ValueError):  # a plan may name what no file can be called
        return ""


async def ask(request: Request) -> Response:
    """Ask a project's table under its budget."""
    projects: Projects = request.app.state.projects
    names = [project.name for project in projects.all()]
    wanted = request.query_params.get("project")
    chosen = projects.one(wanted).name if wanted else next(iter(names), None)
    return page(request, "ask.html.j2", here="ask", projects=names, chosen=chosen)


async def joint(request: Request) -> Response:
    """The results of sessions of several parties that lie in the folder."""
    bundle_paths = bundles(request.app.state.projects, "joint")
    chosen = request.query_params.get("bundle")
    if chosen is not None and chosen not in bundle_paths:
        raise DataError(f"{chosen!r} is no joint result of this folder")
    return page(request, "joint.html.j2", here="joint", bundles=bundle_paths, chosen=chosen)


async def joint_report(request: Request) -> Response:
    """The report of a joint result."""
    projects: Projects = request.app.state.projects
    chosen = request.query_params.get("bundle", "")
    if chosen not in bundles(projects, "joint"):
        raise DataError(f"{chosen!r} is no joint result of this folder")
    text = (projects.served.inside(chosen) / "report.html").read_text(encoding="utf-8")
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


async def verified(request: Request) -> Response:
    """What the checks of a bundle come to."""
    place = _inside(request, (await json_body(request)).get("bundle"))
    return JSONResponse(await request.app.state.tools.ask("verify", folder=str(place)))


async def attacked(request: Request) -> Response:
    """What the attacks on a bundle find."""
    given = await json_body(request)
    bundle, original = _inside(request, given.get("bundle")), _inside(request, given.get("original"))
    plan = given.get("plan")
    text = None if not plan else str(request.app.state.projects.one(str(plan)).folder / "plan.toml")
    answer = await request.app.state.tools.ask("attack", folder=str(bundle), original=str(original), plan=text)
    return JSONResponse(answer)


async def budget(request: Request) -> Response:
    """What may be spent on a project's table and was."""
    return JSONResponse(await _of_project(request, "budget"))


async def grant(request: Request) -> Response:
    """Let somebody spend so much."""
    given = await json_body(request)
    analyst = str(given.get("analyst") or "").strip() or None
    return JSONResponse(await _of_project(request, "grant", limit=str(given.get("limit", "")), analyst=analyst))


async def confirm(request: Request) -> Response:
    """The steward says that a drafted domain is public knowledge."""
    project = request.app.state.projects.one(request.path_params["name"])
    column = str((await json_body(request)).get("column", ""))
    if project.tree.get("columns", {}).get(column, {}).get("domain_from") != "profile":
        raise DataError(f"columns.{column} has no drafted domain to confirm")
    project.edit([(["columns", column, "domain_from"], "public")], project.revision)
    return JSONResponse(await _of_project(request, "budget"))


async def answer_question(request: Request) -> Response:
    """A noisy answer, paid for from the project's ledger."""
    given = await json_body(request)
    analyst = str(given.get("analyst") or "").strip() or None
    texts = {key: str(given.get(key, "")) for key in ("sql", "epsilon")}
    return JSONResponse(await _of_project(request, "ask", analyst=analyst, **texts))


async def _of_project(request: Request, verb: str, **given: Any) -> Any:
    project = request.app.state.projects.one(request.path_params["name"])
    return await request.app.state.tools.ask(verb, folder=str(project.folder), text=project.text, **given)


async def stop(request: Request) -> Response:
    """End what the pages beside the way are waiting for."""
    request.app.state.tools.close()
    return JSONResponse({"stopped": True})


def _inside(request: Request, name: Any) -> Path:
    path: Path = request.app.state.projects.served.inside(str(name or ""))
    if not name:
        raise DataError("nothing is chosen; put a table or a bundle into the folder that the studio serves")
    if not path.exists():
        raise DataError(f"{name!r} is not in the folder that the studio serves")
    return path


ROUTES = (
    Route("/verify", verify),
    Route("/attack", attack),
    Route("/ask", ask),
    Route("/joint", joint),
    Route("/joint/report.html", joint_report),
    Route("/api/stop", stop, methods=["POST"]),
    Route("/api/verify", verified, methods=["POST"]),
    Route("/api/attack", attacked, methods=["POST"]),
    Route("/api/p/{name}/budget", budget),
    Route("/api/p/{name}/grant", grant, methods=["POST"]),
    Route("/api/p/{name}/confirm", confirm, methods=["POST"]),
    Route("/api/p/{name}/ask", answer_question, methods=["POST"]),
)
