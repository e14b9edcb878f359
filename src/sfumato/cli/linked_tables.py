"""``sfumato release`` for a plan of linked tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.cli.show import say, say_json, table, watched

if TYPE_CHECKING:
    from sfumato.bundle.claims import Claim
    from sfumato.workflow.linked.linked_release import LinkedRelease


def released_linked(
    plan: Path, output: Path, *, sign: Path | None, force: bool, as_json: bool, beside: Mapping[str, object]
) -> None:
    """Release all tables of a plan, verified, and show what was made."""
    from sfumato.bundle.signatures import Signer
    from sfumato.bundle.staging import refuse_existing
    from sfumato.ground.errors import PlanError
    from sfumato.workflow.linked.linked_plan import LinkedPlan
    from sfumato.workflow.linked.linked_release import release_linked

    odd = [name for name, said in beside.items() if said is not None]
    if odd:
        raise PlanError(f"{odd[0]} is for the plan of one table; {plan} names several: change their own plans")
    loaded, signer = LinkedPlan.load(plan), None if sign is None else Signer.load(sign)
    refuse_existing(output, force=force)
    with watched(quiet=as_json) as work:
        made = release_linked(loaded, work=work)
        checked = made.write(output, force=force, signer=signer, work=work)
    if as_json:
        say_json({"bundle": str(output), **figures(made), "verified": checked.holds})
        return
    table(
        ["table", "rows", "claims"],
        [[name, f"{one.height:,}", _claims(one.claims)] for name, one in made.tables.items()],
    )
    for name, many in made.orphans.items():
        say(f"{many:,} rows of {name} named no row of the table above, and were left out.")
    say(f"{made.people:,} people are in all tables; {made.suppressed:,} were left out of all of them.")
    say(f"{output} is written and verified, every claim also on the join. Next: sfumato verify {output}")


def _claims(claims: Iterable[Claim]) -> str:
    from sfumato.bundle.claims import titled

    return ", ".join(titled(one.model, one.parameters) for one in claims)


def figures(made: LinkedRelease) -> dict[str, object]:
    """What was made, for programs."""
    tables = {name: {"rows": one.height, "utility": dict(one.utility)} for name, one in made.tables.items()}
    return {"people": made.people, "suppressed": made.suppressed, "orphans": dict(made.orphans), "tables": tables}
