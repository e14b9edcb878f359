"""``sfumato rules``: what records that have some items also have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.show import Json, say, say_json, table, watched
from sfumato.ground.errors import BundleError

if TYPE_CHECKING:
    from sfumato.ground.work import Work
    from sfumato.mine.association_rules import Rules
    from sfumato.mine.channels.channel_repair import Repaired

Sets = Annotated[list[str] | None, typer.Option("--sets", help="A column whose cells are sets; may be given again.")]
Columns = Annotated[list[str] | None, typer.Option("--column", help="An ordinary column; its items are column=value.")]
Separator = Annotated[
    str | None, typer.Option("--separator", help="What splits the items of a set: | or, with --lines, a blank.")
]
Names = Annotated[
    str | None, typer.Option("--names", help="The columns' names, split by commas, of a file without a header.")
]

Publish = Annotated[
    Path | None,
    typer.Option("--publish", help="Write sets that tell of no group of fewer than --k people here: .json."),
]
LeastGroup = Annotated[
    int | None, typer.Option("--k", help="With --publish: from how many people on a group may follow.")
]
How = Annotated[
    str, typer.Option("--repair", help="With --publish: withhold sets, or raise supports by records that nobody is.")
]


def rules(
    data: Annotated[Path, typer.Argument(help="The data file.")],
    sets: Sets = None,
    columns: Columns = None,
    lines: Annotated[bool, typer.Option("--lines", help="The file has one set a line and no header.")] = False,
    separator: Separator = None,
    min_support: Annotated[
        float, typer.Option("--min-support", help="The least share of the records that have a set.")
    ] = 0.01,
    min_confidence: Annotated[float, typer.Option("--min-confidence", help="The least confidence of a rule.")] = 0.5,
    longest: Annotated[int, typer.Option("--longest", help="The most items of a set.")] = 8,
    missing: Annotated[list[str] | None, typer.Option("--missing", help="A text that means a missing value.")] = None,
    delimiter: Annotated[str | None, typer.Option("--delimiter", help="The separator of a text file.")] = None,
    names: Names = None,
    top: Annotated[int, typer.Option("--top", help="How many rules are shown.")] = 20,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write all rules here: .csv or .parquet.")
    ] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="Draw all rules here: .svg.")] = None,
    publish: Publish = None,
    k: LeastGroup = None,
    repair: How = "withhold",
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    as_json: Json = False,
) -> None:
    """Mine frequent sets and association rules from sets and from ordinary columns; publish those that may be.

    With --publish all that is shown and written is what the published sets tell.
    """
    from sfumato.ground.arguments import at_least
    from sfumato.workflow.rule_mining import rules as mine

    at_least("--top", top, 0)
    _refuse(output, picture, data, force=force)
    _refuse_publishing(publish, k, repair, data, force=force)
    reading: dict[str, Any] = {"missing": tuple(missing or ())}
    if delimiter is not None:
        reading["delimiter"] = delimiter
    if names is not None:
        reading |= {"names": [name.strip() for name in names.split(",")], "header": False}
    with watched(quiet=as_json) as work:
        found = mine(
            data,
            sets=sets or (),
            columns=columns or (),
            min_support=min_support,
            min_confidence=min_confidence,
            longest=longest,
            separator=separator or (" " if lines else "|"),
            lines=lines,
            reading=reading,
            work=work,
        )
        repaired = None if publish is None or k is None else _publishable(found, k, repair, work)
    if repaired is None or publish is None or k is None:
        _show(found, data, top, output=output, picture=picture, as_json=as_json)
        return
    from sfumato.workflow.pattern_publishing import published_rules

    _write_patterns(repaired, publish, k)
    told = _told(repaired, publish, k)
    found = published_rules(repaired, min_confidence)
    _show(found, data, top, output=output, picture=picture, as_json=as_json, published=told)
    if not as_json:
        _say_published(told)


def _refuse(output: Path | None, picture: Path | None, data: Path, *, force: bool) -> None:
    """Refuse names that cannot be written, before anything is read."""
    from sfumato.bundle.bundle_files import refuse_file

    if output is not None and output.suffix not in (".csv", ".parquet"):
        raise BundleError(f"-o {output}: must end in .csv or .parquet")
    if picture is not None and picture.suffix != ".svg":
        raise BundleError(f"--picture {picture}: must end in .svg")
    for path in (output, picture):
        if path is not None:
            refuse_file(path, force=force, sources=(data,))


def _refuse_publishing(publish: Path | None, k: int | None, repair: str, data: Path, *, force: bool) -> None:
    """Refuse half of what publishing needs, before anything is read."""
    from sfumato.bundle.bundle_files import refuse_file
    from sfumato.ground.arguments import at_least, one_of

    if publish is None:
        if k is not None or repair != "withhold":
            raise BundleError("--k and --repair go with --publish FILE.json, which names the document to write")
        return
    if k is None:
        raise BundleError("--publish needs --k: from how many people on the number of a group may follow")
    at_least("--k", k, 2)
    one_of("--repair", repair, ("withhold", "raise"))
    if publish.suffix != ".json":
        raise BundleError(f"--publish {publish}: must end in .json")
    refuse_file(publish, force=force, sources=(data,))


def _publishable(found: Rules, k: int, repair: str, work: Work) -> Repaired:
    from sfumato.workflow.pattern_publishing import publishable

    return publishable(found, k, repair=repair, work=work)


def _write_patterns(repaired: Repaired, place: Path, k: int) -> None:
    from sfumato.bundle.staging import write_whole
    from sfumato.mine.channels.pattern_document import PatternDocument, write_patterns

    document = PatternDocument(told=repaired.told, k=k, withheld=repaired.withheld, added=repaired.added)
    write_whole(place, write_patterns(document))


def _told(repaired: Repaired, place: Path, k: int) -> dict[str, Any]:
    """What the steward hears about a publication; only the document itself is public."""
    from sfumato.mine.channels.channel_finding import REACHES

    return {
        "file": str(place),
        "k": k,
        "sets": repaired.told.count,
        "channels_before": repaired.before.many,
        "withheld": repaired.withheld,
        "added_records": repaired.added,
        "fewest_that_would_do": repaired.least,
        "proven": repaired.proven,
        "looked_at": REACHES[repaired.reach],
    }


def _say_published(told: dict[str, Any]) -> None:
    many = told["channels_before"]
    say(f"{told['file']}: {told['sets']:,} sets. All frequent ones would tell of {many:,} groups of 1 to "
        f"{told['k'] - 1} people; none is left.")  # fmt: skip
    if told["added_records"]:
        say(f"Supports are raised by {told['added_records']:,} records that nobody is, and the document says so.")
    elif told["withheld"]:
        proven = "fewer would not do" if told["proven"] else f"at least {told['fewest_that_would_do']:,} must be"
        say(f"{told['withheld']:,} sets are withheld; {proven}.")
    say(f"{told['looked_at'].capitalize()}. Check it with `sfumato channels {told['file']}`.")


def _show(
    found: Rules,
    data: Path,
    top: int,
    *,
    output: Path | None,
    picture: Path | None,
    as_json: bool,
    published: dict[str, Any] | None = None,
) -> None:
    from sfumato.bundle.staging import write_whole
    from sfumato.data.files import rendered
    from sfumato.report.rules.rules_picture import rules_picture, standing_alone
    from sfumato.workflow.rule_mining import as_texts

    frame, sets = found.frame(), found.itemsets
    if output is not None:
        whole = as_texts(frame) if output.suffix == ".csv" else frame
        write_whole(output, rendered(whole, output.name))
    if picture is not None:
        points = list(frame.select("support", "confidence", "lift").iter_rows())
        write_whole(picture, standing_alone(rules_picture(points)))
    if as_json:
        told = {"records": sets.rows, "min_rows": sets.support, "frequent_sets": sets.count, "rules": found.count}
        files: dict[str, Any] = {
            "output": None if output is None else str(output),
            "picture": None if picture is None else str(picture),
        }
        if published is not None:
            told = {"records": sets.rows, "rules": found.count}
            files = {**files, "published": published}
        say_json({**told, "strongest": frame.head(top).to_dicts(), **files})
        return
    if published is None:
        say(f"{data.name}: {sets.rows:,} records, {sets.count:,} sets that at least {sets.support:,} of them have.")
    shown = as_texts(frame.head(top)).iter_rows()
    rows = [[x, y, f"{n:,}", f"{s:.2%}", f"{c:.1%}", f"{lift:.3g}"] for x, y, n, s, c, lift in shown]
    if rows:
        table(["if", "then", "records", "support", "confidence", "lift"], rows)
    more = f" The first {top} are shown." if found.count > top else ""
    say(f"{found.count:,} rules with a confidence of at least {found.min_confidence:.1%}.{more}")
    if published is None:
        say("They tell about the original: what must not be told is hidden by a plan with privacy.hidden_rules.")
