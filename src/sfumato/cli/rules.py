"""`sfumato rules` and `channels`: association rules, their publication, inference channels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import Json, say, say_json, table, watched
from sfumato.core.errors import EXIT_REFUTED, BundleError

if TYPE_CHECKING:
    from sfumato.core.run_context import Work
    from sfumato.mining.association_rules import Rules
    from sfumato.mining.channels.repair import Repaired
    from sfumato.pipeline.rules import Looked


# ``sfumato channels``: groups of few people whose number follows from published documents.


def channels(
    documents: Annotated[
        list[Path],
        typer.Argument(help="Documents of patterns, trees or rules, or bundles of trees; all about the same people."),
    ],
    k: Annotated[
        int | None,
        typer.Option("--k", help="The fewest people of a group that may follow; by default as the patterns claim."),
    ] = None,
    classes: Annotated[
        bool, typer.Option("--classes", help="Of trees and rules: look for people of one class too.")
    ] = False,
    top: Annotated[int, typer.Option("--top", help="How many groups are shown.")] = 20,
    as_json: Json = False,
) -> None:
    """Find groups of fewer than k people whose number follows from published counts; exit code 1 if there are any."""
    from dataclasses import asdict

    from sfumato.core.arguments import at_least
    from sfumato.pipeline.rules import channels as look

    at_least("--top", top, 0)
    if k is not None:
        at_least("--k", k, 2)
    result = look(documents, k, classes=classes)
    if as_json:
        say_json({**asdict(result), "groups": [asdict(group) for group in result.groups[:top]]})
    else:
        say_looked(result, top=top)
    if result.many:
        raise typer.Exit(EXIT_REFUTED)


def say_looked(result: Looked, *, top: int) -> None:
    """Tell which groups of few people follow, and what was looked at."""
    if result.groups:
        table(["people", "who"], [[f"{group.people:,}", group.group] for group in result.groups[:top]])
    more = f" The first {top} are shown." if len(result.groups) > top else ""
    what = "1 document" if result.documents == 1 else f"{result.documents} documents together"
    groups = "No group" if not result.many else "1 group" if result.many == 1 else f"{result.many:,} groups"
    say(f"{groups} of 1 to {result.k - 1} people can be told from {what}.{more}")
    say(f"{result.reach[0].upper()}{result.reach[1:]}.")


# Publishing patterns with ``sfumato rules --publish``: what is needed, written and said.


def refuse_publishing(publish: Path | None, k: int | None, repair: str, data: Path, *, force: bool) -> None:
    """Refuse half of what publishing needs, before anything is read."""
    from sfumato.bundles.files import refuse_file
    from sfumato.core.arguments import at_least, one_of

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


def published(rule_set: Rules, place: Path, k: int, repair: str, work: Work) -> tuple[Rules, dict[str, Any]]:
    """Write the document; gives the rules that it tells, and what the steward hears."""
    from sfumato.core.staging import write_whole
    from sfumato.mining.channels.published_sets import PatternDocument, write_patterns
    from sfumato.pipeline.rules import publishable, published_rules

    repaired = publishable(rule_set, k, repair=repair, work=work)
    document = PatternDocument(told=repaired.told, k=k, withheld=repaired.withheld, added=repaired.added)
    write_whole(place, write_patterns(document))
    return published_rules(repaired, rule_set.min_confidence), _told(repaired, place, k)


def _told(repaired: Repaired, place: Path, k: int) -> dict[str, Any]:
    """What the steward hears about a publication; only the document itself is public."""
    from sfumato.mining.channels.detection import REACHES

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


def say_published(summary: dict[str, Any]) -> None:
    """Tell the steward what the document says and what it took."""
    many = summary["channels_before"]
    say(f"{summary['file']}: {summary['sets']:,} sets. All frequent ones would tell of {many:,} groups of 1 to "
        f"{summary['k'] - 1} people; none is left.")  # fmt: skip
    if summary["added_records"]:
        say(f"Supports are raised by {summary['added_records']:,} records that nobody is, and the document says so.")
    elif summary["withheld"]:
        proven = "fewer would not do" if summary["proven"] else f"at least {summary['fewest_that_would_do']:,} must be"
        say(f"{summary['withheld']:,} sets are withheld; {proven}.")
    say(f"{summary['looked_at'].capitalize()}. Check it with `sfumato channels {summary['file']}`.")


# ``sfumato rules``: what records that have some items also have.


Sets = Annotated[list[str] | None, typer.Option("--sets", help="A column whose cells are sets; may be given again.")]
Columns = Annotated[list[str] | None, typer.Option("--column", help="An ordinary column; its items are column=value.")]
Separator = Annotated[
    str | None, typer.Option("--separator", help="What splits the items of a set: | or, with --lines, a blank.")
]
Names = Annotated[
    str | None, typer.Option("--names", help="The columns' names, separated by commas, of a file without a header.")
]
Support = Annotated[float, typer.Option("--min-support", help="The least share of the records that have a set.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="Write all rules here: .csv or .parquet.")]
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
    min_support: Support = 0.01,
    min_confidence: Annotated[float, typer.Option("--min-confidence", help="The least confidence of a rule.")] = 0.5,
    longest: Annotated[int, typer.Option("--longest", help="The most items of a set.")] = 8,
    missing: Annotated[list[str] | None, typer.Option("--missing", help="A text that means a missing value.")] = None,
    delimiter: Annotated[str | None, typer.Option("--delimiter", help="The separator of a text file.")] = None,
    names: Names = None,
    top: Annotated[int, typer.Option("--top", help="How many rules are shown.")] = 20,
    output: Output = None,
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
    from sfumato.core.arguments import at_least
    from sfumato.pipeline.rules import rules as mine

    at_least("--top", top, 0)
    _refuse(output, picture, data, force=force)
    refuse_publishing(publish, k, repair, data, force=force)
    with watched(quiet=as_json) as work:
        rule_set = mine(
            data,
            sets=sets or (),
            columns=columns or (),
            min_support=min_support,
            min_confidence=min_confidence,
            longest=longest,
            separator=separator or (" " if lines else "|"),
            lines=lines,
            reading=_reading(missing, delimiter, names),
            work=work,
        )
        summary = None
        if publish is not None and k is not None:
            rule_set, summary = published(rule_set, publish, k, repair, work)
    _show(rule_set, data, top, output=output, picture=picture, as_json=as_json, published=summary)


def _reading(missing: list[str] | None, delimiter: str | None, names: str | None) -> dict[str, Any]:
    """How the file is read, as far as it was said."""
    reading: dict[str, Any] = {"missing": tuple(missing or ())}
    if delimiter is not None:
        reading["delimiter"] = delimiter
    if names is not None:
        reading |= {"names": [name.strip() for name in names.split(",")], "header": False}
    return reading


def _refuse(output: Path | None, picture: Path | None, data: Path, *, force: bool) -> None:
    """Refuse names that cannot be written, before anything is read."""
    from sfumato.bundles.files import refuse_file

    if output is not None and output.suffix not in (".csv", ".parquet"):
        raise BundleError(f"-o {output}: must end in .csv or .parquet")
    if picture is not None and picture.suffix != ".svg":
        raise BundleError(f"--picture {picture}: must end in .svg")
    for path in (output, picture):
        if path is not None:
            refuse_file(path, force=force, sources=(data,))


def _show(
    rule_set: Rules,
    data: Path,
    top: int,
    *,
    output: Path | None,
    picture: Path | None,
    as_json: bool,
    published: dict[str, Any] | None,
) -> None:
    from sfumato.core.staging import write_whole
    from sfumato.pipeline.rules import as_texts
    from sfumato.reports.rules import rules_picture, standing_alone
    from sfumato.tables.files import rendered

    frame, sets = rule_set.frame(), rule_set.itemsets
    if output is not None:
        whole = as_texts(frame) if output.suffix == ".csv" else frame
        write_whole(output, rendered(whole, output.name), private=True)
    if picture is not None:
        points = list(frame.select("support", "confidence", "lift").iter_rows())
        write_whole(picture, standing_alone(rules_picture(points)), private=True)
    if as_json:
        content = {"records": sets.rows, "min_rows": sets.support, "frequent_sets": sets.count, "rules": rule_set.count}
        files: dict[str, Any] = {
            "output": None if output is None else str(output),
            "picture": None if picture is None else str(picture),
        }
        if published is not None:
            content = {"records": sets.rows, "rules": rule_set.count}
            files = {**files, "published": published}
        say_json({**content, "strongest": frame.head(top).to_dicts(), **files})
        return
    if published is None:
        say(f"{data.name}: {sets.rows:,} records, {sets.count:,} sets that at least {sets.support:,} of them have.")
    texts = as_texts(frame.head(top)).iter_rows()
    rows = [[x, y, f"{n:,}", f"{s:.2%}", f"{c:.1%}", f"{lift:.3g}"] for x, y, n, s, c, lift in texts]
    if rows:
        table(["if", "then", "records", "support", "confidence", "lift"], rows)
    more = f" The first {top} are shown." if rule_set.count > top else ""
    say(f"{rule_set.count:,} rules with a confidence of at least {rule_set.min_confidence:.1%}.{more}")
    if published is None:
        say("They tell about the original: what must not be told is hidden by a plan with privacy.hidden_rules.")
    else:
        say_published(published)
