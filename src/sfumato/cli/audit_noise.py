"""``sfumato audit-noise``: whether noise is as large as was promised, by what comes out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.show import Json, say, say_json, table, watched
from sfumato.ground.errors import EXIT_REFUTED, PlanError


def audit_noise(
    plan: Annotated[
        Path | None,
        typer.Argument(help="A plan for a private release: its algorithm, options and promise are audited."),
    ] = None,
    algorithm: Annotated[
        str | None, typer.Option("--algorithm", help="One private algorithm, instead of all and of the mechanisms.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="The promise that is audited; 1 by default.")] = None,
    together: Annotated[
        bool, typer.Option("--together", help="The mechanisms of two parties, as an outsider and as a party sees them.")
    ] = False,
    factor: Annotated[
        float, typer.Option("--factor", help="How many times too small noise must be to be found, with 95 %.")
    ] = 2.0,
    runs: Annotated[
        int | None, typer.Option("--runs", help="Runs on each input; without it, as many as the factor needs.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Audit the noise of every mechanism and every private algorithm on made-up neighbouring tables."""
    from sfumato.workflow.noise_auditing import Patience, audit_everything, audit_together
    from sfumato.workflow.plan.plan import Plan

    patience = Patience(runs="auto" if runs is None else runs, factor=factor)
    with watched(quiet=as_json) as work:
        if together:
            if plan is not None or algorithm is not None:
                raise PlanError("--together audits mechanisms; leave the plan and --algorithm out")
            found = list(audit_together(epsilon, patience=patience, work=work))
        else:
            loaded = None if plan is None else Plan.load(plan)
            every = audit_everything(loaded, algorithm=algorithm, epsilon=epsilon, patience=patience, work=work)
            found = list(every)
    refuted = [one for one in found if one.audit.refuted]
    if as_json:
        told = [{"what": one.what, **one.audit.to_json(), "factor": one.factor} for one in found]
        say_json({"audits": told, "refuted": len(refuted)})
    else:
        table(["what", "promised", "at least", "verdict", "runs", "would find"], [_row(one) for one in found])
        say(
            f"{len(refuted)} of {len(found)} promises are refuted. Those that are not are not proved: see docs/attacks."
        )
        say(
            "would find: how many times too small noise must be to be refuted with 95 %; in a release, that of a count."
        )
    if refuted:
        raise typer.Exit(EXIT_REFUTED)


def _row(one: Any) -> list[str]:
    audit = one.audit
    promised = f"{audit.declared:.3g}" + (f", delta {audit.delta:g}" if audit.delta else "")
    power = "nothing" if one.factor is None else f"{one.factor:.2f} times"
    verdict = "REFUTED" if audit.refuted else "not refuted"
    return [one.what, promised, f"{audit.epsilon_low:.2f}", verdict, f"{audit.runs:,}", power]
