"""Measures the tables and figures of a document again, and writes them down."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from sfumato.bundle.staging import write_whole
from sfumato.ground.errors import Interrupted, PlanError, SfumatoError, nearest
from sfumato.ground.work import Work
from sfumato.papers.exhibit import Document, Exhibit, State
from sfumato.report.papers.paper_facts import PaperFacts, Shown
from sfumato.report.papers.paper_page import render
from sfumato.version import __version__


def chosen(document: Document, names: Sequence[str]) -> list[Exhibit]:
    """The exhibits that are measured: those that are named, or all that can be."""
    able = {one.name: one for one in document.exhibits if one.state is State.RUNS}
    for name in names:
        if name not in able:
            known = {one.name: one for one in document.exhibits}
            if name in known:
                one = known[name]
                raise PlanError(f"{document.key}: {name} does not run ({one.state}{': ' * bool(one.where)}{one.where})")
            raise PlanError(f"{document.key}: there is no {name!r}{nearest(name, able)} What runs: {', '.join(able)}")
    return [able[name] for name in names] if names else list(able.values())


def measured(document: Document, exhibits: Sequence[Exhibit], *, full: bool, work: Work) -> PaperFacts:
    """Run the experiments, one after the other."""
    shown: list[Shown] = []
    for number, one in enumerate(exhibits):
        work.advance(document.key, number, len(exhibits))
        began = time.process_time()
        found = _found(one, full=full, work=work)
        shown.append(replace(found, name=one.name, title=one.title, seconds=time.process_time() - began))
    work.advance(document.key, len(exhibits), len(exhibits))
    ran = {one.name for one in exhibits}
    others = [one for one in document.exhibits if one.name not in ran]
    return PaperFacts(
        title=document.title,
        size="in full, as in the document" if full else "quick: fewer settings; --full measures all",
        made=date.today().isoformat(),
        version=__version__,
        shown=shown,
        others=[
            (one.name, str(one.state), "run it by name" if one.state is State.RUNS else one.where) for one in others
        ],
    )


def _found(one: Exhibit, *, full: bool, work: Work) -> Shown:
    """What an experiment shows; where it is refused, why, so that the others are not lost."""
    try:
        return one.experiment()(full=full, work=work)
    except Interrupted:
        raise
    except SfumatoError as error:
        return Shown(data="Not measured.", notes=[f"It could not be measured: {error}"])


def write(facts: PaperFacts, path: Path) -> None:
    """The page, whole or not at all."""
    write_whole(path, render(facts))


def as_json(facts: PaperFacts) -> Mapping[str, Any]:
    """Everything measured, for programs."""
    told = asdict(facts)
    for one in told["shown"]:
        one.pop("panels")
    return told
