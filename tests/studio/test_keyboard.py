"""From the first page to the export by Tab, Space, Enter and letters: no mouse, and no focus given by a script."""

from __future__ import annotations

from typing import Any

import pytest

from tests.studio.conftest import Running, Seen, needs_browser, plan_in, until

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.xdist_group("studio")]


def reach(page: Any, what: str) -> None:
    """Press Tab until something has the focus."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate(f"() => {{ const one = document.activeElement; return {what} }}"):
            return
    raise AssertionError(f"nothing that {what} was reached by Tab")


def follow(seen: Seen, words: str, url: str) -> None:
    """Reach a link or a button by its words, and press Enter."""
    reach(seen.page, f"one.textContent.trim().startsWith({words!r})")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url(url)
    seen.still()


def test_the_keyboard_alone_suffices(seen: Seen, studio: Running):
    page = seen.page
    follow(seen, "people.csv", "**/columns")
    reach(page, "one.getAttribute('aria-label') === 'role of race'")
    page.keyboard.type("drop")
    until(lambda: page.get_by_label("role of race", exact=True).input_value() == "drop")
    seen.still()
    follow(seen, "Next: hierarchies", "**/hierarchies")
    follow(seen, "Next: requirement", "**/requirement")
    reach(page, "one.type === 'checkbox' && one.closest('li').dataset.model === 'k-map'")
    page.keyboard.press("Space")
    until(lambda: "k_map = 5" in plan_in(page))
    seen.still()
    page.keyboard.press("Space")
    until(lambda: "k_map" not in plan_in(page))
    seen.still()
    follow(seen, "Next: search", "**/search")
    reach(page, "one.id === 'go'")
    page.keyboard.press("Enter")
    page.wait_for_url("**/result/1")
    seen.still()
    reach(page, "one.classList.contains('term')")
    page.keyboard.press("Enter")
    assert page.locator(".meaning:popover-open").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".meaning:popover-open").count() == 0
    reach(page, "one.classList.contains('node') && one.classList.contains('fits') && one.classList.contains('coarser')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#take-node:not([disabled])")
    follow(seen, "Next: compare", "**/compare")
    follow(seen, "Picked: export", "**/export/1")
    reach(page, "one.textContent === 'Download the bundle'")
    with page.expect_download() as taken:
        page.keyboard.press("Enter")
    assert taken.value.suggested_filename.endswith(".zip")
    assert (seen.faults, seen.elsewhere) == ([], [])
