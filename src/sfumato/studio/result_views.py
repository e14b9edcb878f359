"""Results of a search: before and after, claims, attacks, comparison of runs, export."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from sfumato.core.errors import DataError
from sfumato.reports.frontier import LARGE, AxisFacts, FrontierFacts, PointFacts, chart
from sfumato.reports.svg import Picture
from sfumato.studio.pages import step
from sfumato.studio.project_views import of
from sfumato.studio.projects import PLAN, Project, Run
from sfumato.studio.requests import REPORT_POLICY, json_body, levels
from sfumato.version import __version__

if TYPE_CHECKING:
    from starlette.requests import Request


# Several runs of a project on the frontier's own chart: privacy across, utility along.


_RISK = AxisFacts(
    name="average risk", meaning="the share of rows matched rightly on average", better="lower", how="share"
)


def compared(runs: Sequence[Run]) -> Picture | None:
    """The runs as points; None where fewer than two have figures of both."""
    results = [(run, run.result) for run in runs]
    tables = [(run, run_result) for run, run_result in results if "risk" in run_result and run_result.get("utility")]
    if len(tables) < 2:
        return None
    metric = tables[-1][1]["metric"]
    series = tuple(dict.fromkeys(str(run_result["algorithm"]) for _, run_result in tables))
    axis = AxisFacts(name=metric, meaning="what was lost", better="lower", how="number")
    points = tuple(
        PointFacts(
            number=run.number,
            series=series.index(str(run_result["algorithm"])),
            parameters=(),
            status="verified",
            privacy=(float(run_result["risk"]["marketer"]),),
            utility=(float(run_result["utility"].get(metric, 0.0)),),
        )
        for run, run_result in tables
    )
    front = tuple(point.number for point in points if not any(_better(other, point) for other in points))
    facts = FrontierFacts(
        made="", version=__version__, rows=0, target=None, risk=None, series=series, keys=(),
        privacy=(_RISK,), utility=(axis,), points=points, fronts={(0, 0): front},
    )  # fmt: skip
    return chart(facts, (0, 0), LARGE)


def _better(point: PointFacts, other: PointFacts) -> bool:
    """Whether one point is at least as good in both, and better in one."""
    pairs = [
        (a or 0.0, b or 0.0)
        for a, b in zip((*point.privacy, *point.utility), (*other.privacy, *other.utility), strict=True)
    ]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


# What a search came to: before and after, claims, attacks, nodes around; several runs compared; export.


SAMPLE = 12
"""How many rows of the release a page shows."""


def run_of(request: Request) -> tuple[Project, Run]:
    """The project and the run of a request; the last run where none is named."""
    project = of(request)
    if "run" in request.path_params:
        return project, project.run(int(request.path_params["run"]))
    run = project.picked
    if run is None:
        raise DataError(f"project {project.name} has no result yet; make a release first")
    return project, run


async def result(request: Request) -> Response:
    """One run, before and after."""
    project = of(request)
    if not project.runs:
        return RedirectResponse(f"/p/{project.name}/search", status_code=303)
    project, run = run_of(request)
    desk = request.app.state.desk
    sample = await desk.ask("sample", folder=str(run.bundle), many=SAMPLE)
    before = await desk.ask("rows", folder=str(project.folder), text=run.text, first=0, many=SAMPLE)
    context: dict[str, Any] = {"run": run, "found": run.result, "drawn": run.pictures}
    return step(request, project, "result", sample=sample, before=before, **context)


async def around(request: Request) -> Response:
    """A node of the lattice with its neighbours, under the plan that the run was made with."""
    project, run = run_of(request)
    given = await json_body(request)
    chosen_levels = levels(given)
    answer = await request.app.state.desk.ask("around", folder=str(project.folder), text=run.text, levels=chosen_levels)
    return JSONResponse(answer)


async def compare(request: Request) -> Response:
    """All runs of a project, as a chart and as a table."""
    project = of(request)
    return step(request, project, "compare", chart=compared(project.runs), picked=project.picked)


async def pick(request: Request) -> Response:
    """One of the results is the one to hand out."""
    project, run = run_of(request)
    project.remember(picked=run.number)
    return JSONResponse({"go": f"/p/{project.name}/export/{run.number}"})


async def export(request: Request) -> Response:
    """What can be taken away, and how to make it again without the studio."""
    if not of(request).runs:
        return RedirectResponse(f"/p/{of(request).name}/search", status_code=303)
    project, run = run_of(request)
    served = request.app.state.projects.served.root.name
    same = run.text == project.text
    return step(request, project, "export", run=run, found=run.result, served=served, same=same, made_with=run.text)


async def bundle(request: Request) -> Response:
    """The bundle as one file."""
    project, run = run_of(request)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(run.bundle.rglob("*")):
            if path.is_file():
                packed.write(path, path.relative_to(run.folder).as_posix())
    name = f'attachment; filename="{project.name}-{run.number}.zip"'
    return Response(out.getvalue(), media_type="application/zip", headers={"content-disposition": name})


async def plan_file(request: Request) -> Response:
    """The plan that a run was made with."""
    _, run = run_of(request)
    return FileResponse(run.folder / PLAN, media_type="application/toml", filename="plan.toml")


async def report(request: Request) -> Response:
    """A report as its page: the public one, or the steward's own."""
    _, run = run_of(request)
    inside = request.path_params["which"] == "inside"
    place = run.folder / "inside.html" if inside else run.bundle / "report.html"
    if not place.is_file():
        raise DataError("this run has no such report")
    return HTMLResponse(place.read_text(encoding="utf-8"), headers={"content-security-policy": REPORT_POLICY})


ROUTES = (
    Route("/p/{name}/result", result),
    Route("/p/{name}/result/{run:int}", result),
    Route("/p/{name}/compare", compare),
    Route("/p/{name}/export", export),
    Route("/p/{name}/export/{run:int}", export),
    Route("/p/{name}/run/{run:int}/bundle.zip", bundle),
    Route("/p/{name}/run/{run:int}/plan.toml", plan_file),
    Route("/p/{name}/run/{run:int}/{which:str}.html", report),
    Route("/api/p/{name}/run/{run:int}/around", around, methods=["POST"]),
    Route("/api/p/{name}/run/{run:int}/pick", pick, methods=["POST"]),
)
