"""Publishing patterns with ``sfumato rules --publish``: what is needed, written and said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli.show import say
from sfumato.ground.errors import BundleError

if TYPE_CHECKING:
    from sfumato.ground.work import Work
    from sfumato.mine.association_rules import Rules
    from sfumato.mine.channels.channel_repair import Repaired


def refuse_publishing(publish: Path | None, k: int | None, repair: str, data: Path, *, force: bool) -> None:
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


def published(found: Rules, place: Path, k: int, repair: str, work: Work) -> tuple[Rules, dict[str, Any]]:
    """Write the document; gives the rules that it tells, and what the steward hears."""
    from sfumato.bundle.staging import write_whole
    from sfumato.mine.channels.pattern_document import PatternDocument, write_patterns
    from sfumato.workflow.pattern_publishing import publishable, published_rules

    repaired = publishable(found, k, repair=repair, work=work)
    document = PatternDocument(told=repaired.told, k=k, withheld=repaired.withheld, added=repaired.added)
    write_whole(place, write_patterns(document))
    return published_rules(repaired, found.min_confidence), _told(repaired, place, k)


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


def say_published(told: dict[str, Any]) -> None:
    """Tell the steward what the document says and what it took."""
    many = told["channels_before"]
    say(f"{told['file']}: {told['sets']:,} sets. All frequent ones would tell of {many:,} groups of 1 to "
        f"{told['k'] - 1} people; none is left.")  # fmt: skip
    if told["added_records"]:
        say(f"Supports are raised by {told['added_records']:,} records that nobody is, and the document says so.")
    elif told["withheld"]:
        proven = "fewer would not do" if told["proven"] else f"at least {told['fewest_that_would_do']:,} must be"
        say(f"{told['withheld']:,} sets are withheld; {proven}.")
    say(f"{told['looked_at'].capitalize()}. Check it with `sfumato channels {told['file']}`.")
