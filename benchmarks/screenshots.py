"""Pictures of pages for the README and the docs, made by a browser that shows nothing: ``make pictures``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

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


def taken(page: Path, name: str, size: tuple[int, int]) -> None:
    """A picture of the top of a page."""
    browser = next((found for one in ("chromium", "google-chrome") if (found := shutil.which(one))), None)
    if browser is None:
        sys.exit("pictures need chromium: apt-get install chromium")
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / name
        subprocess.run(
            [
                browser,
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
