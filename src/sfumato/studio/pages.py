"""Pages from templates, with glossary terms, and the theory pages."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape
from starlette.routing import Route

from sfumato.core.errors import DataError
from sfumato.reports import language
from sfumato.studio.projects import Project, hint

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request
    from starlette.responses import Response


# Where the docs are that the studio shows: in an installed package, and in a checkout.


_HERE = Path(__file__).parent
PLACES = (_HERE / "docs", _HERE.parents[2] / "docs")
"""In an installed package, and in a checkout."""


@cache
def place() -> Path:
    """The folder of the docs."""
    return next((path for path in PLACES if (path / "glossary.md").is_file()), PLACES[0])


# Every term is explained where it stands: the glossary's words, and the way to a page of theory.


PAGES = {
    "quasi-identifier": "k-anonymity",
    "class": "k-anonymity",
    "unique row": "k-anonymity",
    "risk": "k-anonymity",
    "sensitive": "l-diversity",
    "lattice": "optimal-search",
    "node": "optimal-search",
    "level": "optimal-search",
    "suppress": "optimal-search",
    "algorithm": "comparison",
    "metric": "metrics",
    "loss": "metrics",
    "utility": "metrics",
    "target": "classification",
    "local recoding": "local",
    "trail": "top-down",
    "ledger": "differential-privacy",
    "session": "joint-mining",
}
"""The theory page of each term that has one; the others lead to the glossary."""
_NUMBER = count(1)


@cache
def glossary() -> dict[str, str]:
    """What every word of the glossary means."""
    lines = (place() / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ", 1) for line in lines if line.startswith("| ") and not line.startswith("| -")]
    return {
        word.strip(): meaning.replace("`", "").replace("*", "")
        for words, meaning in rows[1:]
        for word in words.split(",")
    }


def term(word: str, label: str | None = None) -> Markup:
    """A word that says what it means when somebody asks it to."""
    name, page = f"term-{next(_NUMBER)}", PAGES.get(word, "glossary")
    meaning = glossary()[word]
    more = Markup('<a href="/theory/{}" target="_blank" rel="noopener">More</a>').format(page)
    return Markup(
        '<button type="button" class="term" popovertarget="{0}">{1}</button>'
        '<span popover id="{0}" class="meaning"><strong>{2}</strong>: {3}. {4}</span>'
    ).format(name, escape(label or word), escape(word), escape(meaning), more)


# Pages from templates: every value is escaped, and every page knows where on the way it stands.


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

    jinja_environment = Environment(
        loader=PackageLoader("sfumato.studio", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: language.seen(value) if type(value) is str else value,
    )
    jinja_environment.globals.update(term=term)
    jinja_environment.filters.update(
        count=language.count,
        share=language.share,
        odds=language.odds,
        number=language.number,
        plain=lambda value: (
            language.number(value) if isinstance(value, int | float) else language.NONE if value is None else value
        ),
        label=lambda text: language.label(str(text), most=80),
        as_json=lambda value: json.dumps(value, ensure_ascii=False),
        drawn=Markup,
    )
    return jinja_environment


def page(request: Request, template: str, *, status: int = 200, **given: Any) -> Response:
    """A whole page."""
    from starlette.responses import HTMLResponse

    state = request.app.state
    page_template = environment().get_template(template)
    html = page_template.render(header=state.keys.header, steps=STEPS, here=given.pop("here", ""), **given)
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


# The theory pages and the glossary, as they come with sfumato: no page of the studio sends anybody elsewhere.


MODELS = {
    "k-anonymity": "k-anonymity",
    "distinct-l-diversity": "l-diversity",
    "entropy-l-diversity": "l-diversity",
    "recursive-l-diversity": "l-diversity",
    "simple-l-diversity": "l-diversity",
    "t-closeness": "t-closeness",
    "alpha-k-anonymity": "alpha-k-anonymity",
    "confidence-bounding": "confidence-bounding",
    "lkc-privacy": "lkc-privacy",
    "e-m-anonymity": "e-m-anonymity",
    "divergence-bounding": "divergence-bounding",
    "delta-presence": "delta-presence",
    "k-map": "k-map",
    "personalized-privacy": "personalized-privacy",
    "km-anonymity": "sets",
    "rho-uncertainty": "sets",
}
"""The page that explains each model."""


@cache
def html_of(name: str) -> str:
    """A page as HTML; marks of HTML in it are shown, not obeyed."""
    from markdown_it import MarkdownIt

    path = place() / ("glossary.md" if name == "glossary" else f"theory/{name}.md")
    if not re.fullmatch(r"[a-z0-9-]+", name) or not path.is_file():
        raise DataError(f"there is no page {name!r}")
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(path.read_text(encoding="utf-8"))
    html = re.sub(r'href="(?:\.\./)*(?:theory/)?([a-z0-9-]+)\.md(#[a-z0-9-]*)?"', r'href="/theory/\1\2"', html)
    return re.sub(
        r'<(img|a) [^>]*(src|href)="(?!/theory/)[^"#][^"]*"[^>]*>', lambda m: "" if m[1] == "img" else "<a>", html
    )


async def theory(request: Request) -> Response:
    """One page."""
    return page(request, "theory.html.j2", here="theory", shown=html_of(request.path_params["page"]))


ROUTES = (Route("/theory/{page}", theory),)
