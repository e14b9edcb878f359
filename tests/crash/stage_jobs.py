"""What the children of a small warm process do: a bundle of three files and a page, without any engine."""

from __future__ import annotations

from pathlib import Path

from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.bundles.staging import staged
from sfumato.cli import main as command
from sfumato.core.scratch import page_of
from sfumato.core.staging import write_whole


def stage(name: str, text: str, page: str) -> None:
    """A bundle, and a page beside it or elsewhere; told like a command tells it."""

    def work() -> None:
        with staged(Path(name), force=True, page=Path(page)) as inner:
            fill(inner, text)
            page_of(inner).write_text(page_text(text))

    _told(work)


def careless(name: str, text: str, page: str) -> None:
    """The known-bad twin: it removes the old bundle, then writes the new one where it is read."""
    for path in (Path(name) / "data.csv", Path(name) / "report.html", Path(name) / "manifest.json", Path(page)):
        path.unlink(missing_ok=True)
    Path(name).mkdir(exist_ok=True)
    fill(Path(name), text)
    Path(page).write_text(page_text(text))


def file(name: str, text: str) -> None:
    """One file."""
    _told(lambda: write_whole(Path(name), text))


def fill(folder: Path, text: str) -> None:
    """A sealed bundle whose files all say the same."""
    (folder / "data.csv").write_text(text)
    (folder / "report.html").write_text(text)
    named = {name: {"file": name, "sha256": sha256(folder / name)} for name in ("data.csv", "report.html")}
    (folder / "manifest.json").write_text(dump(seal({"schema": 1, "says": text, **named})))


def page_text(text: str) -> str:
    """A page that may be replaced."""
    return f'<meta name="generator" content="sfumato test">{text}'


def _told(work: object) -> None:
    command._whole = lambda: lambda standalone_mode: work()  # type: ignore[operator, assignment]
    command.main()
