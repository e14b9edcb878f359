"""`sfumato attack` and `audit-noise`: risk of a bundle, and the size of noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import Json, say, say_json, table, watched
from sfumato.core.errors import EXIT_REFUTED, PlanError

if TYPE_CHECKING:
    from sfumato.pipeline.methods.method import Audit


# ``sfumato attack``: what an adversary with stated knowledge can do with a bundle.


Original = Annotated[
    Path | None, typer.Option("--original", help="The table it was made from; collected answers have none.")
]
Names = Annotated[str | None, typer.Option("--attacks", help="Names, separated by commas; all by default.")]


def attack(
    bundle: Annotated[Path, typer.Argument(help="The bundle to attack.")],
    original: Original = None,
    known: Annotated[
        Path | None, typer.Option("--known", help="What others know: a register, row by row about the same people.")
    ] = None,
    control: Annotated[
        Path | None, typer.Option("--control", help="People of the same kind who are not in the table.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="The plan, for its hierarchies and how files are read.")
    ] = None,
    attacks: Names = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option("--earlier", help="A bundle about the same people that is public already; may be repeated."),
    ] = None,
    trials: Annotated[int, typer.Option("--trials", help="How many people are attacked.")] = 2000,
    seed: Annotated[int | None, typer.Option("--seed", help="To repeat the same trials.")] = None,
    as_json: Json = False,
) -> None:
    """Attack a bundle, given the table it was made from; exit code 1 if a claim is refuted."""
    from sfumato.core.errors import EXIT_REFUTED, PlanError
    from sfumato.pipeline.attack import attack as run
    from sfumato.pipeline.plan.plan import Plan

    if trials < 20:
        raise PlanError(f"--trials must be at least 20, not {trials}; fewer show nothing")
    if seed is not None and seed < 0:
        raise PlanError(f"--seed must not be negative, not {seed}")
    loaded = None if plan is None else Plan.load(plan)
    names = tuple(name.strip() for name in (attacks or "").split(",") if name.strip())
    with watched(quiet=as_json) as work:
        audit = run(
            bundle,
            original,
            known=known,
            control=control,
            plan=loaded,
            attacks=names or ("all",),
            trials=trials,
            earlier=earlier or (),
            seed=seed,
            work=work,
        )
    if as_json:
        document = {"bundle": str(bundle), "attacks": audit.to_json(), "not_made": dict(audit.skipped)}
        say_json({**document, "refuted": [finding.attack for finding in audit.refuted]})
    else:
        show(audit)
    if audit.refuted:
        raise typer.Exit(EXIT_REFUTED)


def show(audit: Audit) -> None:
    """What was found, for people."""
    from sfumato.reports.attacks import merged, verdicts, works_in
    from sfumato.reports.language import share

    chips = {verdict.attack: verdict.chip for verdict in verdicts(audit.findings)}
    rows = []
    for finding in merged(audit.findings):
        low, high = finding.risk_interval
        gain = f"{share(finding.risk)} ({share(low)} to {share(high)})" if finding.rate.carried_out else ""
        limit = "" if finding.limit is None else share(finding.limit.value)
        rows.append(
            [finding.attack, works_in(finding.rate), share(finding.baseline.value), gain, limit, chips[finding.attack]]
        )
    table(["attack", "works in", "without the release", "gain", "allowed", "outcome"], rows)
    for verdict in verdicts(audit.findings):
        note = f" Note: {verdict.note}." if verdict.note else ""
        say(f"{verdict.attack}: {verdict.who} {verdict.verdict}{note}")
    for name, why in audit.skipped.items():
        say(f"not made: {name} ({why})")


# ``sfumato audit-noise``: whether noise is as large as was promised, by what comes out.


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
    from sfumato.pipeline.noise_audit import Patience, audit_everything, audit_together
    from sfumato.pipeline.plan.plan import Plan

    patience = Patience(runs="auto" if runs is None else runs, factor=factor)
    with watched(quiet=as_json) as work:
        if together:
            if plan is not None or algorithm is not None:
                raise PlanError("--together audits mechanisms; leave the plan and --algorithm out")
            cases = list(audit_together(epsilon, patience=patience, work=work))
        else:
            loaded = None if plan is None else Plan.load(plan)
            every = audit_everything(loaded, algorithm=algorithm, epsilon=epsilon, patience=patience, work=work)
            cases = list(every)
    refuted = [case for case in cases if case.audit.refuted]
    if as_json:
        records = [{"what": case.what, **case.audit.to_json(), "factor": case.factor} for case in cases]
        say_json({"audits": records, "refuted": len(refuted)})
    else:
        table(["what", "promised", "at least", "verdict", "runs", "would find"], [_row(case) for case in cases])
        say(
            f"{len(refuted)} of {len(cases)} promises are refuted. Those that are not are not proved: see docs/attacks."
        )
        say(
            "would find: how many times too small noise must be to be refuted with 95 %; in a release, that of a count."
        )
    if refuted:
        raise typer.Exit(EXIT_REFUTED)


def _row(case: Any) -> list[str]:
    audit = case.audit
    promised = f"{audit.declared:.3g}" + (f", delta {audit.delta:g}" if audit.delta else "")
    power = "nothing" if case.factor is None else f"{case.factor:.2f} times"
    verdict = "REFUTED" if audit.refuted else "not refuted"
    return [case.what, promised, f"{audit.epsilon_low:.2f}", verdict, f"{audit.runs:,}", power]
