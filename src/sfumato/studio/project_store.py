"""Projects on disk: a plan, its data, and the runs that were made. Whatever is written appears whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.bundle.staging import write_whole
from sfumato.ground.errors import DataError, PlanError, SfumatoError
from sfumato.ground.limits import MOST_TOML
from sfumato.studio.confined_plan import refuse_outside, root_of
from sfumato.studio.plan_text import edited, revision, tree_of
from sfumato.studio.served_folder import HOME, ServedFolder
from sfumato.workflow.exploring.asked_kind import kind_asked
from sfumato.workflow.exploring.explored import problems

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
        found: dict[str, Any] = json.loads((self.folder / RESULT).read_text(encoding="utf-8"))
        return found

    @property
    def pictures(self) -> dict[str, Any]:
        """What is drawn of it, with the original's figures."""
        found: dict[str, Any] = json.loads((self.folder / PICTURES).read_text(encoding="utf-8"))
        return found

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
            found = json.loads((self.folder / NOTES).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def remember(self, **notes: Any) -> None:
        """Keep some notes."""
        write_whole(self.folder / NOTES, json.dumps({**self.notes, **notes}, ensure_ascii=False))

    @property
    def picked(self) -> Run | None:
        """The result that was picked, or the last one; None where there is none."""
        runs = self.runs
        chosen = [one for one in runs if one.number == self.notes.get("picked")]
        return next(iter(chosen or runs[-1:]), None)

    @property
    def runs(self) -> list[Run]:
        """What was made, oldest first."""
        place = self.folder / RUNS
        names = sorted(int(one.name) for one in place.iterdir() if one.name.isdigit()) if place.is_dir() else []
        return [
            Run(number=one, folder=place / f"{one:04d}") for one in names if (place / f"{one:04d}" / RESULT).is_file()
        ]

    def run(self, number: int) -> Run:
        """One of them."""
        for one in self.runs:
            if one.number == number:
                return one
        raise DataError(f"project {self.name} has no run {number}")

    def next_run(self) -> int:
        """The number of the next run."""
        return max((one.number for one in self.runs), default=0) + 1

    def clear(self) -> None:
        """Remove what a run that was stopped left behind."""
        for one in (self.folder / RUNS).glob(f"{BEGUN}*"):
            shutil.rmtree(one, ignore_errors=True)


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
        found = sorted(self.home.glob(f"*/{PLAN}")) if self.home.is_dir() else []
        return [Project(name=one.parent.name, folder=one.parent) for one in found if _NAME.fullmatch(one.parent.name)]

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
