"""``sfumato demo``: the tour."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.show import Json, say, say_json, table, watched


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to put the tour's files.")] = Path(
        "sfumato-demo"
    ),
    as_json: Json = False,
) -> None:
    """Take the tour on bundled data: release, verify, attack, report."""
    from sfumato.workflow.tour import tour

    with watched(quiet=as_json) as work:
        found = tour(output, work)
    if as_json:
        say_json(found.to_json())
        return
    say(f"1  {output / 'patients.csv'} holds {found.rows:,} patients who do not exist: names, birth dates, diagnoses.")
    say(f"2  {output / 'plan.toml'} asks for: {', '.join(found.promised)}.")
    say(f"3  {output / 'release'} is the release; {found.checks} checks of the written file hold.")
    table(
        ["4  an adversary with a register of names, birth dates, postal codes and sex", "original", "release"],
        [
            ["patients found with certainty", f"{found.found_before:,}", f"{found.found_after:,}"],
            ["best chance for any one patient", f"{found.chance_before:.0%}", f"{found.chance_after:.0%}"],
        ],
    )
    say(f"   Knowing all of that they tell a diagnosis in {found.told:.0%} of cases; by guessing {found.guessed:.0%}.")
    say(f"5  open {output / 'release' / 'report.html'} in a browser: what was promised, reached and lost.")
    say(f"   {output / 'inside.html'} is for the steward only: it shows the original's figures.")
    say("")
    say("next:")
    say(f"   sfumato verify {output / 'release'}")
    say(f"   sfumato attack {output / 'release'} --original {output / 'patients.csv'} --plan {output / 'plan.toml'}")
    say(f"   sfumato release {output / 'plan.toml'} --set privacy.k_anonymity=20 -o {output / 'stricter'}")
    say("   sfumato studio --demo     the same patients in a browser, with a hint at every step")
    say("   sfumato profile YOUR.csv -o plan.toml     then     sfumato release plan.toml")
