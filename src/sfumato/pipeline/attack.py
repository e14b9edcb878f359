"""Attacks on a release or on a bundle: every one that fits, run before anyone else runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from math import inf
from pathlib import Path
from typing import Any

from sfumato.attacks.candidates import different
from sfumato.attacks.definetti import DeFinetti
from sfumato.attacks.finding import Limit
from sfumato.attacks.foreground import Foreground
from sfumato.attacks.guarantees import limit_to_find, limit_to_tell
from sfumato.attacks.homogeneity import Homogeneity
from sfumato.attacks.linkage import Households
from sfumato.attacks.similarity import Divergence
from sfumato.attacks.subject import Subject, guarded_view
from sfumato.bundles.manifest.document import FAULTS, stated_form
from sfumato.bundles.verify import untouched
from sfumato.core.errors import BundleError, PlanError, SfumatoError, listed
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.catalog.parts import Attack, AttackPart
from sfumato.pipeline.methods import method_stated
from sfumato.pipeline.methods.method import Audit, over
from sfumato.pipeline.plan.evaluation import TRIALS, AttackPlan, refuse_no_bundle
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.table import Table


def attacked(
    subject: Subject,
    attack_plan: AttackPlan,
    work: Work,
    chance: Chance,
    before: Callable[[Work], Audit] | None = None,
    *,
    kind: str = "table",
) -> Audit:
    """Run the attacks that are asked for, or all that fit; when the time is over, the rest is reported as not made.

    ``before`` is what else is to be done within the same time, such as laying earlier bundles over this one. ``kind``
    says whose attacks they are.
    """
    inner = work.within(attack_plan.seconds)
    more = Audit() if before is None else before(inner)
    findings, skipped = [], dict(more.skipped)
    chosen = catalog().chosen_attacks(attack_plan.attacks, kind)
    if subject.together is not None:
        chosen |= catalog().chosen_attacks((Households.name,))
    if subject.synthetic and not attack_plan.attacks:
        chosen |= catalog().chosen_attacks(("nearest-neighbour",), kind)
    if any(promise.far is not None for promise in subject.promises):
        chosen |= catalog().chosen_attacks((Divergence.name,))
    if subject.shifts is not None:
        chosen |= catalog().chosen_attacks(("date-shift",))
    for place, (name, part) in enumerate(chosen.items()):
        work.advance("attack", place, len(chosen))
        base_attack = part.make(attack_plan.trials)
        forms = [*_forms(name, base_attack, subject), *_by_knowledge(name, base_attack, subject)]
        seen = [(*form, subject) for form in forms]
        for title, attack, column, subject_view in (*seen, *_by_others(name, base_attack, subject)):
            why = over(inner, attack_plan.seconds) or attack.fits(subject_view) or _unread(part, subject_view)
            if why:
                skipped[title] = why
                continue
            finding = attack.run(subject_view, chance, limit_of(attack, subject_view, column))
            findings.append(replace(finding, attack=title))
    work.advance("attack", 1, 1)
    return Audit(findings=(*findings, *more.findings), skipped=skipped)


def limit_of(attack: Attack, subject: Subject, column: str | None) -> Limit | None:
    """The tightest promise about what an attack does, if any claim makes one; an attack may know it itself (``limit``).

    k-anonymity bounds the chance to find a row, by 1/k; LKC-privacy does so for whoever knows at most L values. Shares
    that are bounded in every group bound whoever reads the group by itself. Whoever reasons about it is bounded only by
    claims which say that nobody infers a value more surely: (alpha, k)-anonymity, simple l-diversity, confidence
    bounding, LKC-privacy, personalized privacy. Diversity that counts values bounds no confidence. Where minimality
    looks at few columns, or by closeness, it takes its limit from the bets that it makes. No model of
    quasi-identifiers promises anything about whoever looks at the other published columns too.
    """
    if getattr(attack, "about", "quasi") == "all" and subject.beside:
        return None
    if hasattr(attack, "limit"):
        own: Limit | None = attack.limit(subject, column)
        return own
    if attack.threat == "re-identification":
        return limit_to_find(subject.promises, getattr(attack, "l", None))
    values: tuple[str, ...] = getattr(attack, "values", ())
    every = len(subject.quasi)
    if attack.name == Homogeneity.name:
        return limit_to_tell(subject.promises, column, different=max(different(subject, column), 2), known=every)
    if attack.name in (DeFinetti.name, Foreground.name):
        return limit_to_tell(subject.promises, column, values=values, known=every, inferred=True)
    return None


def _unread(part: AttackPart, subject: Subject) -> str:
    """Why an attack that reads classes cannot be made where means are shown."""
    if not subject.means or part.by_distance:
        return ""
    return f"{listed(sorted(subject.means), most=3)} shows means of groups, which say nothing about whom they cover"


def _forms(name: str, attack: Any, subject: Subject) -> list[tuple[str, Attack, str | None]]:
    """The attack for each sensitive column, in the forms that the claims need."""
    attack_forms = []
    for title, column_attack, column in _by_column(name, attack, subject):
        forms = column_attack.variants(subject) if hasattr(column_attack, "variants") else [("", column_attack)]
        attack_forms += [(f"{title}{form}", variant, column) for form, variant in forms]
    return attack_forms


def _by_column(name: str, attack: Any, subject: Subject) -> list[tuple[str, Attack, str | None]]:
    """The attack for each sensitive column, where it asks for one and there are several."""
    field = next(
        (attack_field.name for attack_field in fields(attack) if attack_field.name in ("column", "secret")), None
    )
    first = subject.sensitive[0] if subject.sensitive else None
    if field is None or len(subject.sensitive) < 2:
        return [(name, attack, first)]
    chosen = [(column, replace(attack, **{field: column})) for column in subject.sensitive]
    return [(f"{name} of {column}", column_attack, column) for column, column_attack in chosen]


def _by_knowledge(name: str, attack: Any, subject: Subject) -> list[tuple[str, Attack, str | None]]:
    """The attack on all published columns beside the one on quasi-identifiers, or the other way round."""
    about = getattr(attack, "about", None)
    if about is None or not subject.beside:
        return []
    other, title = ("quasi", "quasi-identifiers") if about == "all" else ("all", "all published columns")
    return [(f"{name} by {title}", replace(attack, about=other), None)]


def _by_others(name: str, attack: Any, subject: Subject) -> list[tuple[str, Attack, str | None, Subject]]:
    """The attack on quasi-identifiers that are sensitive too, by who knows all the others."""
    if name != Homogeneity.name:
        return []
    return [
        (f"{name} of {column} by the others", replace(attack, column=column), column, guarded_view(subject, column))
        for column in subject.guarded
    ]


def attack(
    folder: str | Path,
    original: object = None,
    *,
    known: object = None,
    control: object = None,
    plan: Plan | None = None,
    attacks: Iterable[str] = (),
    trials: int = TRIALS,
    seconds: float | None = None,
    earlier: Iterable[str | Path] = (),
    seed: int | None = None,
    work: Work | None = None,
) -> Audit:
    """Attack a bundle, given the table it was made from; ``original`` and ``control`` are files or frames.

    A bundle of collected answers has no original and is attacked from its bytes.
    ``earlier`` are bundles about the same people that are laid over it. Without ``seconds`` there is no time limit.
    """
    from sfumato.pipeline.background import known_table, registered

    place, work = Path(folder), work or Work()
    others = [refuse_no_bundle(Path(path), "--earlier") for path in earlier]
    manifest = untouched(place)
    theirs = None if control is None else known_table(control, plan, manifest)
    attack_plan = AttackPlan(attacks=tuple(attacks), trials=trials, seconds=seconds or inf)
    kind, chance = method_stated(manifest), Chance(seed=seed)
    if kind.alone is not None:
        _refuse_beside(place, {"original": original, "known": known, "control": control, "earlier": others})
        with _bundle_at_fault(place):
            return kind.alone(place, manifest, attack_plan, work)
    if kind.parts is not None and "parts" in manifest["data"]:
        _refuse_rows_elsewhere({"known": known, "earlier": others})
        with _bundle_at_fault(place), stated_form(place):
            return kind.parts(place, manifest, original, attack_plan, control=theirs, plan=plan, seed=seed, work=work)
    if original is None:
        raise PlanError(f"--original is missing; {folder} is attacked beside the table that it was made from")
    table = known_table(original, plan, manifest)
    if kind.beside is not None:
        _refuse_beside(place, {"known": known})
        given = {"control": theirs, "earlier": others, "attack_plan": attack_plan, "work": work}
        with _bundle_at_fault(place):
            return kind.beside(place, manifest, table, chance=chance, **given)
    with stated_form(place):
        subject = kind.subject(place, manifest, table, control=theirs, plan=plan)
    before = _laid_over(subject, manifest, others, table, plan, attack_plan, chance) if others else None
    with _bundle_at_fault(place):
        audit = attacked(subject, attack_plan, work, chance, before, kind=kind.attacks or "table")
    if known is None:
        return audit
    from sfumato.attacks.fellegi_sunter import FellegiSunter

    register, linkage = known_table(known, plan, manifest), FellegiSunter(trials=trials)
    linked = registered(linkage, subject, register, Chance(seed=seed), limit_of(linkage, subject, None))
    return replace(audit, findings=(linked, *audit.findings))


def _refuse_rows_elsewhere(given: Mapping[str, object]) -> None:
    """Refuse what is laid over all rows, where they stay in files and some groups are attacked."""
    for name, value in given.items():
        if value is not None and not (isinstance(value, list) and not value):
            raise PlanError(f'--{name} needs all rows at once; make the release with output.format = "parquet" for it')


def _refuse_beside(folder: Path, given: Mapping[str, object]) -> None:
    """Refuse what a bundle that is attacked from its own bytes has no use for."""
    for name, value in given.items():
        if value is not None and not (isinstance(value, list) and not value):
            raise PlanError(
                f"--{name}: {folder} is attacked from its own rows, which stand in random order; leave the option out. "
                "A study hands true answers to the release ([collection] truth)"
            )


@contextmanager
def _bundle_at_fault(folder: Path) -> Iterator[None]:
    """While a bundle is attacked: what goes wrong is blamed on the bundle only if it does not verify."""
    try:
        yield
    except SfumatoError:
        raise
    except FAULTS as error:
        from sfumato.pipeline.verification import verify

        if verify(folder).holds:
            raise
        message = (
            f"{folder}: the bundle is not of the form that this version writes, and cannot be attacked ({error!r})"
        )
        raise BundleError(f"{message}; `sfumato verify` tells more") from error


def _laid_over(
    subject: Subject,
    manifest: Mapping[str, Any],
    others: list[Path],
    table: Table,
    plan: Plan | None,
    attack_plan: AttackPlan,
    chance: Chance,
) -> Callable[[Work], Audit]:
    from sfumato.pipeline.background import composed
    from sfumato.pipeline.methods.table.subject import behind

    made_from = behind(manifest, table)
    return lambda work: composed(
        subject,
        others,
        made_from,
        plan,
        trials=attack_plan.trials,
        seconds=attack_plan.seconds,
        work=work,
        chance=chance,
    )
