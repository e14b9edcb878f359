"""``sfumato reproduce``: the tables and figures of the documents, measured again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import Json, say, say_json, table, watched
from sfumato.core.errors import PlanError

if TYPE_CHECKING:
    from sfumato.reports.papers import PaperFacts


def reproduce(
    paper: Annotated[
        str | None, typer.Argument(help="textbook, bottom-up, graded, thesis or models; --list says what they are.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help='One table or figure, by its name: --only "figure 3.5"')
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Every setting, as in the document; takes minutes.")] = False,
    every: Annotated[bool, typer.Option("--list", help="Name every table and figure, and what became of it.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page with plots; reproduced-PAPER.html by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    as_json: Json = False,
) -> None:
    """Run the experiments of a document: ours beside theirs, with plots."""
    if every:
        _list(paper, as_json=as_json)
        return
    if paper is None:
        raise PlanError("name a document: textbook, bottom-up, graded, thesis or models; --list says what each has")
    measured_page(paper, only or (), output, full=full, force=force, as_json=as_json)


def measured_page(
    paper: str, only: Sequence[str], output: Path | None, *, full: bool, force: bool, as_json: bool
) -> None:
    """Measure a document, or some of it, write the page and tell."""
    from sfumato.bundles.files import refuse_file
    from sfumato.papers.documents import as_json as facts_as_json
    from sfumato.papers.documents import chosen, document, measured, write

    which = document(paper)
    page = output or Path(f"reproduced-{which.key}.html")
    exhibits = chosen(which, only)
    if not exhibits:
        raise PlanError(f"{which.key}: nothing of it runs yet; sfumato reproduce {which.key} --list says why")
    refuse_file(page, force=force)
    with watched(quiet=as_json) as work:
        facts = measured(which, exhibits, full=full, work=work)
    write(facts, page)
    if as_json:
        say_json({**facts_as_json(facts), "page": str(page)})
        return
    _show(facts)
    say(f"{page} has the plots and every figure.")


def _list(paper: str | None, *, as_json: bool) -> None:
    from sfumato.papers.documents import DOCUMENTS, document

    wanted = DOCUMENTS if paper is None else (document(paper),)
    if as_json:
        say_json(
            {
                paper_document.key: {each.name: [str(each.state), each.where] for each in paper_document.exhibits}
                for paper_document in wanted
            }
        )
        return
    for paper_document in wanted:
        rows = [[each.name, each.title, str(each.state), each.where] for each in paper_document.exhibits]
        table(
            ["which", "what", "state", "where, or what is missing"],
            rows,
            title=f"{paper_document.key}: {paper_document.title}",
        )
    say("runs: this command measures it. tested: the tests recompute it. drawing: nothing to compute.")
    say("open: sfumato lacks the part that it needs.")


def _show(facts: PaperFacts) -> None:
    words = {True: "holds", False: "differs", None: ""}
    for exhibit in facts.shown:
        say(f"{exhibit.name}: {exhibit.title}. {exhibit.data}")
        rows = [[each.what, each.theirs, each.ours, words[each.holds]] for each in exhibit.beside]
        if rows:
            table(["what", "theirs", "ours", ""], rows)
        for each in exhibit.beside:
            if each.why:
                say(f"  {each.what}: {each.why}")
        for note in exhibit.notes:
            say(f"  {note}")
