"""Pages from templates: every value is escaped, and every page knows where on the way it stands."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from sfumato.report.base import figures
from sfumato.studio.guided_tour import hint
from sfumato.studio.project_store import Project
from sfumato.studio.terms import term

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request
    from starlette.responses import Response

STEPS = (
    ("columns", "Columns"),
    ("hierarchies", "Hierarchies"),
    ("requirement", "Requirement"),
    ("search", "Search"),
    ("result", "Result"),
    ("compare", "Compare"),
    ("export", "Export"),
)
"""The way of a project: address and name of each step."""


@cache
def environment() -> Environment:
    """The studio's templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("sfumato.studio", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: figures.seen(value) if type(value) is str else value,
    )
    made.globals.update(term=term)
    made.filters.update(
        count=figures.count,
        share=figures.share,
        odds=figures.odds,
        number=figures.number,
        plain=lambda value: (
            figures.number(value) if isinstance(value, int | float) else figures.NONE if value is None else value
        ),
        label=lambda text: figures.label(str(text), most=80),
        as_json=lambda value: json.dumps(value, ensure_ascii=False),
        drawn=Markup,
    )
    return made


def page(request: Request, template: str, *, status: int = 200, **given: Any) -> Response:
    """A whole page."""
    from starlette.responses import HTMLResponse

    state = request.app.state
    shown = environment().get_template(template)
    html = shown.render(header=state.keys.header, steps=STEPS, here=given.pop("here", ""), **given)
    return HTMLResponse(html, status_code=status)


def step(request: Request, project: Project, here: str, template: str | None = None, **given: Any) -> Response:
    """A page on the way of a project, with the plan beside it."""
    state = plan_state(project)
    return page(
        request,
        f"{template or here}.html.j2",
        here=here,
        project=project,
        **state,
        runs=project.runs,
        hint=hint(project, here, state["kind"]),
        **given,
    )


def plan_state(project: Project) -> dict[str, Any]:
    """The plan as the panel shows it."""
    return {
        "text": project.text,
        "revision": project.revision,
        "problem": project.problem,
        "tree": project.tree,
        "kind": project.kind,
    }
