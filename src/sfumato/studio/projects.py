"""The served folder and its projects: plans, data, runs, and the hints already read."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.errors import DataError, PlanError, SfumatoError
from sfumato.core.input_files import MOST_TOML
from sfumato.core.staging import write_whole
from sfumato.pipeline.exploration import kind_asked, problems
from sfumato.studio.plan_text import MAX_NAME, edited, refuse_outside, revision, root_of, tree_of

# The folder that the studio serves: files to open, and nothing outside of it.


HOME = "sfumato-studio"
"""The folder for projects, inside the served one."""
MOST_BYTES = 4 * 1024**3
"""The largest file that is taken by upload."""
_SHOWN = frozenset(
    [
        ".csv",
        ".tsv",
        ".txt",
        ".data",
        ".parquet",
        ".pq",
        ".arrow",
        ".feather",
        ".gz",
        ".zst",
        ".xlsx",
        ".xls",
        ".ods",
        ".sav",
        ".zsav",
        ".dta",
        ".sas7bdat",
        ".xpt",
        ".jsonl",
        ".ndjson",
    ]
)
_MOST_FILES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class FileShown:
    """A file that can be opened."""

    name: str
    """Its path from the served folder."""
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFolder:
    """One folder; paths that lead out of it, by dots or by links, are refused."""

    root: Path
    """Where it is."""
    most_bytes: int = MOST_BYTES
    """The largest upload."""

    def inside(self, name: str) -> Path:
        """The place of a name inside the folder, wherever links lead."""
        _refuse_long(Path(name).name)
        place = (self.root / name.replace("\0", "")).resolve()
        if "\0" in name or not place.is_relative_to(self.root.resolve()):
            raise DataError(f"{name[:200]!r} is outside of the folder that the studio serves; move the file into it")
        return place

    def files(self) -> list[FileShown]:
        """The tables in the folder and two folders below, but for projects."""
        table_files: list[FileShown] = []
        for folder, below, names in os.walk(self.root):
            depth = len(Path(folder).relative_to(self.root).parts)
            below[:] = sorted(
                folder_name
                for folder_name in below
                if not folder_name.startswith(".") and folder_name != HOME and depth < 2
            )
            for name in sorted(names):
                place = Path(folder) / name
                if place.suffix.lower() in _SHOWN and not place.is_symlink() and len(table_files) < _MOST_FILES:
                    relative_path = place.relative_to(self.root).as_posix()
                    table_files.append(FileShown(name=relative_path, size=place.stat().st_size))
        return table_files

    async def take(self, name: str, chunks: AsyncIterator[bytes], folder: Path) -> Path:
        """Write what arrives into a folder, piece by piece; more than the limit leaves nothing behind."""
        bare = Path(name).name
        if not bare or bare.startswith(".") or "\0" in bare:
            raise DataError(f"{name[:100]!r} is no name for a file; rename it and upload it again")
        _refuse_long(bare)
        folder.mkdir(parents=True, exist_ok=True)
        part, size = folder / f".{bare}.part", 0
        try:
            with part.open("wb") as out:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > self.most_bytes:
                        raise DataError(f"{bare} has more than {self.most_bytes:,} bytes; put it into {self.root.name} "
                                        "and open it there")  # fmt: skip
                    out.write(chunk)
            if not size:
                raise DataError(f"{bare} is empty; choose a file that has rows")
            part.replace(folder / bare)
        finally:
            part.unlink(missing_ok=True)
        return folder / bare


def _refuse_long(name: str) -> None:
    size = len(os.fsencode(name))
    if size > MAX_NAME:
        raise DataError(f"{name[:40]!r}... has {size:,} bytes; the name of a file has at most {MAX_NAME}: rename it")


# Projects on disk: a plan, its data, and the runs that were made. Whatever is written appears whole or not at all.


PLAN, RUNS, RESULT, PICTURES, NOTES = "plan.toml", "runs", "result.json", "pictures.json", "studio.json"
BEGUN = ".new-"
"""How the folder of a run begins that is not whole yet; the next start removes it."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")


class Stale(SfumatoError):
    """Somebody else, perhaps in another tab, changed the plan meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One release that was made."""

    number: int
    """Its number in the project."""
    folder: Path
    """Where it is."""

    @property
    def result(self) -> dict[str, Any]:
        """What it came to."""
        document: dict[str, Any] = json.loads((self.folder / RESULT).read_text(encoding="utf-8"))
        return document

    @property
    def pictures(self) -> dict[str, Any]:
        """What is drawn of it, with the original's figures."""
        document: dict[str, Any] = json.loads((self.folder / PICTURES).read_text(encoding="utf-8"))
        return document

    @property
    def text(self) -> str:
        """The plan that it was made with."""
        return (self.folder / PLAN).read_text(encoding="utf-8")

    @property
    def bundle(self) -> Path:
        """What can be handed out."""
        return self.folder / "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One project: a folder with a plan."""

    name: str
    """Its name."""
    folder: Path
    """Where it is."""

    @property
    def text(self) -> str:
        """The plan as text."""
        return (self.folder / PLAN).read_text(encoding="utf-8")

    @property
    def revision(self) -> str:
        """Which state of the plan this is."""
        return revision(self.text)

    @property
    def tree(self) -> dict[str, Any]:
        """The plan's tables; empty where the text is no TOML."""
        try:
            return tree_of(self.text)
        except PlanError:
            return {}

    @property
    def kind(self) -> str:
        """The kind of release that the plan asks for."""
        return kind_asked(self.tree, self.folder)

    @property
    def problem(self) -> str | None:
        """What is wrong with the plan, if anything."""
        try:
            tree = tree_of(self.text)
            refuse_outside(tree, self.folder, root_of(self.folder))
            return problems(tree, self.folder)
        except PlanError as error:
            return str(error)

    def save(self, text: str, based_on: str) -> None:
        """Write the plan, unless it was changed since the state that the edit began with."""
        if self.revision != based_on:
            raise Stale("the plan was changed in another tab or on disk; look at it and make your change again")
        if len(text) > MOST_TOML:
            raise PlanError(f"the plan has {len(text):,} characters; at most {MOST_TOML:,} are read")
        write_whole(self.folder / PLAN, text)

    def edit(self, changes: list[tuple[list[str], Any]], based_on: str) -> None:
        """Set some keys of the plan at once."""
        text = self.text
        for path, value in changes:
            text = edited(text, path, value)
        self.save(text, based_on)

    @property
    def notes(self) -> dict[str, Any]:
        """What the studio remembers beside the plan: which hints were read, which result was picked."""
        try:
            document = json.loads((self.folder / NOTES).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return document if isinstance(document, dict) else {}

    def remember(self, **notes: Any) -> None:
        """Keep some notes."""
        write_whole(self.folder / NOTES, json.dumps({**self.notes, **notes}, ensure_ascii=False))

    @property
    def picked(self) -> Run | None:
        """The result that was picked, or the last one; None where there is none."""
        runs = self.runs
        chosen = [run for run in runs if run.number == self.notes.get("picked")]
        return next(iter(chosen or runs[-1:]), None)

    @property
    def runs(self) -> list[Run]:
        """What was made, oldest first."""
        place = self.folder / RUNS
        names = sorted(int(path.name) for path in place.iterdir() if path.name.isdigit()) if place.is_dir() else []
        return [
            Run(number=number, folder=place / f"{number:04d}")
            for number in names
            if (place / f"{number:04d}" / RESULT).is_file()
        ]

    def run(self, number: int) -> Run:
        """One of them."""
        for run in self.runs:
            if run.number == number:
                return run
        raise DataError(f"project {self.name} has no run {number}")

    def next_run(self) -> int:
        """The number of the next run."""
        return max((run.number for run in self.runs), default=0) + 1

    def clear(self) -> None:
        """Remove what a run that was stopped left behind."""
        for folder in (self.folder / RUNS).glob(f"{BEGUN}*"):
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projects:
    """All projects of a served folder."""

    served: ServedFolder
    """Where they are."""

    @property
    def home(self) -> Path:
        """The folder of all projects."""
        return self.served.root / HOME

    def all(self) -> list[Project]:
        """Every project, by name."""
        plan_paths = sorted(self.home.glob(f"*/{PLAN}")) if self.home.is_dir() else []
        return [
            Project(name=path.parent.name, folder=path.parent)
            for path in plan_paths
            if _NAME.fullmatch(path.parent.name)
        ]

    def one(self, name: str) -> Project:
        """The project of a name."""
        folder = self.home / name
        if not _NAME.fullmatch(name) or not (folder / PLAN).is_file():
            raise DataError(f"there is no project {name!r}")
        self.served.inside(f"{HOME}/{name}")
        return Project(name=name, folder=folder)

    def free_name(self, wanted: str) -> str:
        """A name for a new project that no other has."""
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)  # it holds uploads and figures of the original
        bare = re.sub(r"[^A-Za-z0-9._-]+", "-", wanted).strip("-._")[:50] or "project"
        return next(name for name in self._names(bare) if not (self.home / name).exists())

    @staticmethod
    def _names(bare: str) -> Iterator[str]:
        yield bare
        number = 2
        while True:
            yield f"{bare}-{number}"
            number += 1

    def begin(self, name: str, text: str) -> Project:
        """A new project with a plan."""
        folder = self.home / name
        write_whole(folder / PLAN, text)
        return Project(name=name, folder=folder)

    def recover(self) -> None:
        """After a crash: what is half-made goes."""
        for project in self.all():
            project.clear()


# The guided first run: one short hint per step, shown until it was read.


HINTS = {
    "columns": (
        "This is the tour's hospital: 30,000 made-up patients. A neighbour may know somebody's birth date, postal "
        "code, sex and job, so these four are quasi-identifiers. Nobody may learn a diagnosis, so it is "
        "sensitive. Look at “As the table stands”: nearly every row is alone. Then go on to the hierarchies."
    ),
    "hierarchies": (
        "A birth date may become a month, a year, a decade; a postal code loses digits from the right. Change a "
        "hierarchy and watch what it gives below; take it into the plan only if you like it. Then say what must "
        "hold."
    ),
    "requirement": (
        "Two things are asked for: every combination is shared by at least 5 rows (k-anonymity), and in every "
        "group the diagnosis stays uncertain (l-diversity). The raw table reaches 1 of each. Try another k: the "
        "plan on the right changes with it. Then search."
    ),
    "search": (
        "Leave it at auto and make the release. The search proves which levels lose least, then attacks its own "
        "result and verifies the written files. You can cancel at any time."
    ),
    "result": (
        "What was promised stands first, then what it costs. Choose a box around the released node to see what "
        "another choice of levels would give. Change the requirement, search again, and compare."
    ),
    "compare": (
        "Every release that you made is a point here. Further to the right is more private, further up is more "
        "useful. Pick one and export it."
    ),
    "export": (
        "This is what you hand out, and the two lines that make the same without the studio. The tour ends here: "
        "open a table of your own on the first page."
    ),
}
"""What a newcomer is told at each step."""


def hint(project: Project, step: str, kind: str) -> str | None:
    """The hint of a step, as long as the project is guided, nobody has read it, and the plan is of the tour's kind."""
    notes = project.notes
    unread = notes.get("guided") and step not in notes.get("read", [])
    return HINTS.get(step) if unread and kind == "table" else None


def read(project: Project, step: str) -> None:
    """Somebody has read the hint of a step, or wants none of them."""
    seen = list(HINTS) if step == "all" else [step]
    project.remember(read=sorted({*project.notes.get("read", []), *seen} & {*HINTS}))
