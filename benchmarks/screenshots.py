"""Pictures of pages for the README and the docs, made by a browser that shows nothing: ``make pictures``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
COLOURS = 64
"""A page has few; so the file stays small."""


def main() -> None:
    """The report of the tour."""
    with tempfile.TemporaryDirectory() as folder:
        tour = Path(folder) / "tour"
        program = Path(sys.executable).with_name("sfumato")
        subprocess.run([str(program), "demo", "-o", str(tour), "--json"], check=True, stdout=subprocess.DEVNULL)
        taken(tour / "release" / "report.html", "report.png", (1000, 1150))
        studio(Path(folder))


def studio(folder: Path) -> None:
    """The studio on the tour's patients, step by step."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "sfumato", "studio", str(folder), "--no-open", "--demo"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    link = process.stdout.readline().strip()
    try:
        with sync_playwright() as kit:
            chromium = kit.chromium.launch(executable_path=browser(), args=["--no-sandbox", "--disable-gpu"])
            page = chromium.new_page(viewport={"width": 1280, "height": 860})
            page.goto(link)
            base = link.partition("/enter")[0]
            way(page, f"{base}/p/patients")
            others(page, base)
            chromium.close()
    finally:
        process.kill()
        process.wait()


def way(page: Any, project: str) -> None:
    """Every step, with a release and a second one to compare with."""
    for step in ("columns", "hierarchies", "requirement"):
        page.goto(f"{project}/{step}")
        shot(page, step)
    for algorithm in ("auto", "mondrian"):
        page.goto(f"{project}/search")
        page.check(f"[name=algorithm][value={algorithm}]")
        page.wait_for_load_state("networkidle")
        page.click("#go")
        page.wait_for_url("**/result/*", timeout=120_000)
    page.goto(f"{project}/result/1")
    page.click("text=End the tour")
    shot(page, "result")
    page.locator("#lattice").scroll_into_view_if_needed()
    shot(page, "lattice")
    page.goto(f"{project}/compare")
    shot(page, "compare")


def others(page: Any, base: str) -> None:
    """Noise, paths, and a question under a budget."""
    for example in ("Census", "Journeys"):
        page.goto(base)
        page.click(f"text={example}")
        page.wait_for_url("**/columns")
    page.goto(f"{base}/p/census/requirement")
    page.check("[name=promise][value=noise]")
    page.wait_for_selector("#epsilon")
    shot(page, "noise")
    page.goto(f"{base}/p/journeys/search")
    page.click("#go")
    page.wait_for_url("**/result/1", timeout=120_000)
    page.locator("#columns-title").evaluate("one => one.scrollIntoView()")
    shot(page, "paths")
    page.goto(f"{base}/ask?project=census")
    for limit, whom in (("2", ""), ("1", "ann")):
        page.fill("#limit", limit)
        page.fill("#whom", whom)
        page.click("#grant button")
        page.wait_for_selector(f"#accounts th:text-is('{whom or 'everybody together'}')")
    page.wait_for_selector("body:not(.busy)")
    page.select_option("#by", "marital-status")
    page.click("#ask button")
    page.wait_for_selector("#told tbody tr")
    page.locator("#budget-title").evaluate("one => one.scrollIntoView()")
    shot(page, "ask")


def shot(page: Any, name: str) -> None:
    """What the window shows, with few colours."""
    from PIL import Image

    page.wait_for_load_state("load")
    page.wait_for_selector("body:not(.busy)")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "shot.png"
        page.screenshot(path=str(place))
        Image.open(place).convert("RGB").quantize(COLOURS).save(PICTURES / f"studio-{name}.png", optimize=True)


def browser() -> str:
    """The browser of this machine."""
    found = next((found for one in ("chromium", "google-chrome") if (found := shutil.which(one))), None)
    if found is None:
        sys.exit("pictures need chromium: apt-get install chromium")
    return found


def taken(page: Path, name: str, size: tuple[int, int]) -> None:
    """A picture of the top of a page."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / name
        subprocess.run(
            [
                browser(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--screenshot={shot}",
                f"--window-size={size[0]},{size[1]}",
                page.absolute().as_uri(),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        Image.open(shot).convert("RGB").quantize(COLOURS).save(PICTURES / name, optimize=True)


if __name__ == "__main__":
    main()
