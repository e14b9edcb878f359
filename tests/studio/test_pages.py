"""Every page: quiet, accessible in light and dark, from a phone to 4K, and the keyboard reaches all of it."""

from __future__ import annotations

from typing import Any

import pytest

import sfumato as sf
from tests.studio.conftest import Running, Seen, needs_browser

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.xdist_group("studio")]
STEPS = ("columns", "hierarchies", "requirement", "search", "result", "compare", "export")
TOOLS = ("", "verify", "attack", "ask", "joint", "theory/k-anonymity", "theory/glossary")
FOCUS = "a[href], button, input, select, textarea, summary, [tabindex='0']"
UNREACHED = """focus => [...document.querySelectorAll(focus)]
  .filter((one) => one.checkVisibility() && !one.disabled && one.type !== "radio" && !("reached" in one.dataset)
    && (one.tagName === "SUMMARY" || !one.closest("details:not([open])")))
  .map((one) => one.outerHTML.slice(0, 100))"""


@pytest.fixture(scope="module")
def projects(studio: Running, table: bytes) -> dict[str, str]:
    """One project of each kind that has forms, each with a result."""
    found = {"table": studio.begin(table), "noise": studio.begin(table)}
    state = studio.told("GET", f"/api/p/{found['noise']}/plan")
    studio.told("POST", f"/api/p/{found['noise']}/promise", {"promise": "noise", "revision": state["revision"]})
    metro = sf.datasets.metro(300, stations=6, minutes=8, seed=7)
    found["paths"] = studio.begin(metro.write_csv().encode(), "metro.csv")
    for name in found.values():
        studio.told("POST", f"/api/p/{name}/search", {})
    for name in found.values():
        assert b'"event": "done"' in studio.events(name)
    return found


def serious(page: Any, *rules: str) -> list[tuple[str, list[str]]]:
    """What axe-core finds that keeps somebody out."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = Axe().run(page, options=options).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    return [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in grave]


def unreached(page: Any) -> list[str]:
    """What Tab does not reach; whatever it reaches shows that it has the focus."""
    for _ in range(page.locator(FOCUS).count() + 5):
        page.keyboard.press("Tab")
        shown = page.evaluate(
            "() => { const one = document.activeElement; one.dataset.reached = ''; "
            "return one === document.body || "
            "getComputedStyle(one.closest('label.button') || one).outlineStyle !== 'none' }"
        )
        assert shown, page.evaluate("() => document.activeElement.outerHTML.slice(0, 150)")
    return list(page.evaluate(UNREACHED, FOCUS))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        *((None, one) for one in TOOLS),
        *(("table", one) for one in STEPS),
        *(("noise", one) for one in ("hierarchies", "requirement", "search", "result")),
        *(("paths", one) for one in ("columns", "hierarchies", "requirement", "result")),
    ],
)
def test_every_page_is_quiet_and_open_to_everybody(projects, seen: Seen, kind: str | None, path: str):
    address = path if kind is None else f"p/{projects[kind]}/{path}"
    page = seen.go(address)
    assert serious(page) == []
    assert unreached(page) == []
    page.emulate_media(color_scheme="dark")
    assert serious(page, "color-contrast") == []
    page.emulate_media(color_scheme="light")
    for width in (3840, 360):
        page.set_viewport_size({"width": width, "height": 900})
        page.reload()
        seen.still()
        wide = page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        assert wide, f"{address} is wider than {width} pixels"
    assert serious(page) == []
    assert (seen.faults, seen.elsewhere) == ([], [])
