"""The theory pages and the glossary, as they come with sfumato: no page of the studio sends anybody elsewhere."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from starlette.routing import Route

from sfumato.ground.errors import DataError
from sfumato.studio.doc_pages import place
from sfumato.studio.shown import page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

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
    made = MarkdownIt("commonmark", {"html": False}).enable("table").render(path.read_text(encoding="utf-8"))
    made = re.sub(r'href="(?:\.\./)*(?:theory/)?([a-z0-9-]+)\.md(#[a-z0-9-]*)?"', r'href="/theory/\1\2"', made)
    return re.sub(
        r'<(img|a) [^>]*(src|href)="(?!/theory/)[^"#][^"]*"[^>]*>', lambda m: "" if m[1] == "img" else "<a>", made
    )


async def theory(request: Request) -> Response:
    """One page."""
    return page(request, "theory.html.j2", here="theory", shown=html_of(request.path_params["page"]))


ROUTES = (Route("/theory/{page}", theory),)
