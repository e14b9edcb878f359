"""What a method of release is: one record of what every stage does for it, and what attacks found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sfumato.attacks.finding import Finding, Outcome
from sfumato.attacks.subject import Subject
from sfumato.bundles.manifest.document import plain
from sfumato.bundles.manifest.sections import is_named
from sfumato.bundles.provenance import Check, Remark
from sfumato.core.claims import Claim
from sfumato.core.errors import BundleError, ClaimRefuted, PlanError, SfumatoError
from sfumato.core.run_context import Work
from sfumato.pipeline.apply import no_rule
from sfumato.pipeline.artifacts import ROWS, Artifact
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.supports import Supports
from sfumato.reports.language import count, share, translated
from sfumato.reports.pages import ABOUT, Opening
from sfumato.reports.svg import Drawn
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.pipeline.apply import Applied, Outside
    from sfumato.pipeline.frontier.axes import Comparison
    from sfumato.pipeline.plan.evaluation import AttackPlan
    from sfumato.pipeline.plan.plan import Plan
    from sfumato.pipeline.profile.profile import Profile


# What attacks found, all together.


_HIDDEN = "made, and refutes no claim; its figures depend on exact values that the release does not show"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit:
    """What all attacks found, and which could not be made."""

    findings: tuple[Finding, ...] = ()
    """One for each attack that was made."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """The others, with the reason."""

    def __post_init__(self) -> None:
        """Tell figures to four digits: they are sums over the people behind a release, and it may be published."""
        object.__setattr__(self, "findings", tuple(finding.rounded() for finding in self.findings))

    def __repr__(self) -> str:
        worst = max((finding.risk for finding in self.findings), default=0.0)
        text = f"{len(self.findings)} attacks, gain at most {worst:.3g}, {len(self.refuted)} claims refuted"
        return f"Audit({text}, {len(self.skipped)} not made)"

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """Findings that refute a claim of the release or of the plan."""
        return tuple(
            finding for finding in self.findings if finding.limit is not None and finding.outcome is Outcome.REFUTED
        )

    def above(self, max_risk: float) -> tuple[Finding, ...]:
        """Findings whose excess over guessing is surely above a limit; not of who knows more than others may know."""
        return tuple(finding for finding in self.findings if not finding.beyond and finding.risk_interval[0] > max_risk)

    def to_json(self) -> list[dict[str, Any]]:
        """All findings, for programs."""
        return _plain(self.findings)

    def stated(self) -> dict[str, Any]:
        """What a manifest states: figures that depend on values the release hides are left to the steward's report.

        A claim that was refuted is stated all the same: the plan has accepted that, and readers must know.
        """
        hidden = {finding.attack: _HIDDEN for finding in self.findings if finding.exact and finding not in self.refuted}
        public_findings = [finding for finding in self.findings if finding.attack not in hidden]
        return {"attacks": _plain(public_findings), "attacks_not_made": {**self.skipped, **hidden}}

    def refuse(self, max_risk: float | None, accept: Sequence[str] = ()) -> None:
        """Refuse what gives away too much, or breaks a claim; the named attacks may refute one."""
        broken = [finding for finding in self.refuted if not any(is_named(finding.attack, name) for name in accept)]
        if broken:
            raise ClaimRefuted(_refutation_message(broken))
        if max_risk is not None and (high_risk := self.above(max_risk)):
            worst = max(high_risk, key=lambda finding: finding.risk)
            low, high = worst.risk_interval
            raise ClaimRefuted(
                f"attack.max_risk = {max_risk:g}: attack {worst.attack} gains {worst.risk:.1%} over guessing "
                f"({low:.1%} to {high:.1%}); ask for a stronger model, fewer quasi-identifiers, or allow more. "
                "Nothing was written"
            )


def _plain(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = plain([finding.to_json() for finding in findings])
    return records


def over(work: Work, seconds: float) -> str:
    """Why no further attack begins; empty while there is time. ``seconds`` is what the plan gives to attacks."""
    if not work.expired:
        return ""
    if work.seconds != seconds:
        return "the time was over"
    return f"the time for attacks was over: [attack] seconds = {seconds:g}"


def _refutation_message(broken: Sequence[Finding]) -> str:
    """Which attack refutes which claim, and the ways out."""
    worst, others = broken[0], [finding.attack for finding in broken[1:]]
    limit = f"the {worst.limit.why}, which allows {worst.limit.value:.1%}" if worst.limit else "a claim"
    more = f" (so do {', '.join(others)})" if others else ""
    return (
        f"attack {worst.attack} refutes {limit}: it works in {worst.rate.value:.1%} of {worst.rate.trials} trials "
        f"(at least {worst.rate.low:.1%}){more}; nothing was written. Ask for a stronger parameter or another "
        "algorithm; or, if the claim is to be read without this adversary, name the attack under [attack] accept, and "
        "the report will say that the claim was refuted"
    )


# The first paragraph of a report, from its manifest alone: done, holds, remains possible, next.


Manifest = Mapping[str, Any]


def opening_of(kind: Method, manifest: Manifest) -> Opening:
    """How the report of a bundle begins."""
    about = manifest.get("plan", {}).get("about", {})
    promises = list(kind.promises(manifest))
    meanings, limits = (list(dict.fromkeys(promise[part] for promise in promises if promise[part])) for part in (0, 1))
    return Opening(
        about={key: about[key] for key in ABOUT if key in about},
        done=kind.done(manifest),
        holds=" ".join(meanings) or translated("Nothing is promised about the people in the data."),
        possible=" ".join(sentence for sentence in (*limits, _attacked(manifest), _always()) if sentence),
        next=_next(manifest),
    )


def claims_explained(manifest: Manifest) -> list[tuple[str, str]]:
    """What each claim means and what it leaves open, in the words of the catalog."""
    people = manifest.get("plan", {}).get("input", {}).get("unit") is not None
    claims = [Claim.from_json(claim) for claim in manifest["claims"]]
    return [catalog().explained(claim.model, claim.parameters, people=people) for claim in claims]


def _attacked(manifest: Manifest) -> str:
    """What the attack that gains most can do; nothing where no attack was made."""
    findings = [Finding.from_json(attack) for attack in manifest.get("attacks", ())]
    tried = [finding for finding in findings if finding.outcome is not Outcome.NOT_TRIED]
    if not tried:
        return ""
    best = max(tried, key=lambda finding: finding.risk)
    if best.risk <= 0:
        return translated("Of {n} attacks, none did better than it would without the release.", n=count(len(tried)))
    return translated(
        "Of {n} attacks, {attack} gained most: it works in {rate} of trials, and in {base} without the release.",
        n=count(len(tried)),
        attack=best.attack,
        rate=share(best.rate.value),
        base=share(best.baseline.value),
    )


def _always() -> str:
    return translated(
        "Whoever knows more about a person, or has another release about the same people, may learn more."
    )


def _next(manifest: Manifest) -> str:
    """What a reader should do, most urgent first."""
    steps = []
    if manifest.get("marks"):
        steps.append(translated("Read the warnings above."))
    if any(_is_refuted(attack) for attack in manifest.get("attacks", ())):
        steps.append(
            translated("An attack refutes a promise: do not hand this release out before you have read which.")
        )
    steps.append(translated("Check the bundle with: sfumato verify FOLDER."))
    if _undecided(manifest.get("plan", {}).get("about", {})):
        steps.append(translated("Say in [about] of the plan who answers for the release, and for what purpose."))
    return " ".join(steps)


def _is_refuted(attack: Mapping[str, Any]) -> bool:
    return bool(attack["outcome"] == "refuted" and attack["limit"] is not None)


def _undecided(about: Mapping[str, Any]) -> bool:
    return not {"responsible", "purpose"} <= set(about)


# What every table under a plan can be asked; each kind of release answers what it can.


class Counted:
    """A table under a plan of a kind that has no forms of its own."""

    def __init__(self, plan: Plan) -> None:
        """Nothing is counted yet."""
        self.plan = plan

    def reached(self) -> list[dict[str, Any]]:
        """How far the raw table is from each model that the plan asks for."""
        return []

    def offered(self) -> list[dict[str, Any]]:
        """What the raw table reaches of models that the plan does not ask for."""
        return []

    def unreachable(self) -> str | None:
        """Why no release can be made, where that shows without a search."""
        return None

    def fitting(self) -> dict[str, Any]:
        """Which algorithms can be asked, and what `auto` stands for."""
        return {"algorithms": [], "auto": self.plan.algorithm.name, "why": "The plan names it."}

    def around(self, levels: Mapping[str, int]) -> dict[str, Any]:
        """A node of the lattice with its neighbours."""
        raise PlanError("algorithm: a release of this kind has no lattice of levels")


# What a kind of release is: one record of what every stage does for it.
#
# ``pipeline.release`` calls the stages; whoever has a release, a plan or a manifest asks the record, never which kind
# it is.


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A plan that was looked at: everything that can be refused before a byte is read was not refused."""

    plan: Plan
    """The plan."""
    keys: Mapping[str, Any]
    """The keys of pseudonymized columns."""
    like: object = None
    """The frame that came in."""
    population: object = None
    """The population's frame, if one came in."""
    charge: Any = None
    """What was reserved in a ledger, if anything."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchResult:
    """What a search was given, and what it found."""

    prepared: Any
    """The table, described and counted."""
    outcome: Any
    """What the search found."""
    algorithm: str
    """Which algorithm."""
    why: str
    """Why that one."""
    beside: tuple[Any, ...] = ()
    """What other searches on the same table would lose, where some were made; the steward's to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was made, for a person at a terminal."""

    lines: tuple[str, ...]
    """What comes first."""
    heads: tuple[str, ...] = ()
    """The heads of a table."""
    cells: tuple[tuple[object, ...], ...] = ()
    """Its rows."""
    after: tuple[str, ...] = ()
    """What comes after the table."""
    changes: tuple[tuple[str, object, object], ...] = ()
    """What is counted before and after: rows, smallest groups, different values; no value of the original."""


def warned(marks: Iterable[str]) -> tuple[str, ...]:
    """Each warning as a sentence."""
    return tuple(f"Beware: {mark.rstrip('.')}." for mark in marks)


def refused(text: str, error: type[SfumatoError] = PlanError) -> Callable[..., NoReturn]:
    """What a method does in place of something that it does not support."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise error(text)

    return refuse


def refused_bundle(text: str) -> Callable[..., NoReturn]:
    """What a method does in place of something that its bundles cannot be asked; the first argument is the folder."""

    def refuse(folder: object, *_: object, **__: object) -> NoReturn:
        raise BundleError(f"{folder}: {text}")

    return refuse


def refuse_records(manifest: Manifest, *_: object) -> NoReturn:
    """Refuse new records: what a value reads as depends on the rows that it was released with."""
    raise no_rule(str(manifest["recoding"]["algorithm"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One kind of release. A release is made, then asked; ``Any`` stands for what only the kind itself looks into."""

    name: str
    """As the catalog's parts and the manifest name it."""
    solved_as: str | None = None
    """The kind whose algorithms make it, where that is another one."""
    attacks: str | None = None
    """The method whose attacks of the catalog are made on its releases, mostly itself; None: there are none."""
    planned: bool = True
    """Whether a plan makes it; its manifest then states the plan."""
    runs: Mapping[str, Any] = field(default_factory=dict)
    """Algorithms that it brings, by name."""
    adversaries: Mapping[str, Any] = field(default_factory=dict)
    """Attacks that it brings, by name."""
    options: tuple[str, ...] = ()
    """The keys of [algorithm] that every plan of this kind may have, beside those of every plan."""
    needs: tuple[tuple[str, str], ...] = ()
    """Modules of extras without which no release can be made, each with what needs it."""
    artifact: Artifact = ROWS
    """What it publishes."""
    supports: Supports
    """What a plan may ask of it."""
    check: Callable[[Plan], None] = lambda plan: None
    """Refuse what else a plan cannot say, as far as that needs no table and no file."""
    begin: Callable[[Request], Request] = lambda request: request
    """Refuse what can be refused before the table is read, and pay for what must be paid before."""
    read: Callable[[Request], Any]
    """The table, from a frame or from the file that the plan names."""
    counted: Callable[[Plan, Table], Counted] | None = None
    """A table under a plan, for pages that look at it before anything is released; None: there is nothing to see."""
    prepare: Callable[[Request, Any], Any]
    """Describe the columns, and count."""
    notes: Callable[[Any], Iterable[str]] = lambda prepared: ()
    """What a steward should know about the table before anything is searched."""
    search: Callable[[Request, Any, Work], SearchResult]
    """Find what the columns are to read as."""
    recode: Callable[[Request, SearchResult], Any]
    """The rows as they are to be published."""
    judge: Callable[[Method, Request, SearchResult, Any], Any]
    """What the rows meet and what they lost; a claim that does not hold is a fault of the search and is refused."""
    attack: Callable[[Any, Work], Audit]
    """What adversaries can do with a release; more than the plan allows is refused."""
    manifest: Callable[[Any, Mapping[str, str]], dict[str, Any]]
    """What a manifest states beside what those of all methods state; the data files come with their digests."""
    checks: Callable[[Path, Manifest, Mapping[str, Table]], Iterable[Check | Remark]]
    """What is looked at when a bundle is verified: given its folder, its manifest and its tables."""
    again: Callable[[Path, Manifest, Plan, object, Work], Iterable[Check]] | None = None
    """What the steward finds who makes a bundle again: given folder, manifest, plan and original; None: that a release
    with the same plan has the same rows and states the same."""
    subject: Callable[..., Subject] = refused_bundle(
        "such rows are attacked when they are released, where it is known whose row is whose; the figures stand in its "
        "report"
    )
    """A bundle as an attacker finds it: given folder, manifest, original, and by name control and plan."""
    alone: Callable[[Path, Manifest, AttackPlan, Work], Audit] | None = None
    """What adversaries can do with a bundle, where its own bytes are enough to know; None: the original is needed."""
    beside: Callable[..., Audit] | None = None
    """Attacks of its own on a bundle, beside its original: given folder, manifest and original, and by name control,
    earlier, attack_plan, work and chance; None: those that ``subject`` is made for."""
    parts: Callable[..., Audit] | None = None
    """Attacks on a bundle of many files: given folder, manifest, original and attack plan, and by name control, plan,
    seed and work; None: there are no such bundles."""
    apply: Callable[[Manifest, object, Outside], Applied] = refuse_records
    """New records under the recoding that a manifest states."""
    public_page: Callable[[Manifest, Mapping[str, Table], Work], str]
    """The report of a bundle as one HTML page, made from its manifest and its tables and from nothing else."""
    done: Callable[[Manifest], str]
    """What was done to the data, in a sentence or two of the report's first paragraph."""
    promises: Callable[[Manifest], Iterable[tuple[str, str]]] = claims_explained
    """In words: what each promise means, and what it leaves open."""
    inside_page: Callable[[Any, Work], str] | None = None
    """The steward's own report, with the original's figures; None where a release has none."""
    summary: Callable[[Any], Summary]
    """What was made, for people."""
    drawn: Callable[[Any], Drawn] = lambda release: Drawn()
    """Its pictures, for pages beside the report; none where a release has no more than its report."""
    figures: Callable[[Any], dict[str, Any]]
    """What was made, for programs."""
    draft: Callable[[Profile], list[str]] | None = None
    """The [privacy] and [algorithm] of a drafted plan, line by line; None: no plan is drafted for this kind."""
    comparison: Callable[[Plan], Comparison] = refused(
        "columns: a frontier compares tables; make releases of paths and sets one by one with `sfumato release`, whose "
        "reports tell what each of them loses"
    )
    """How releases of this kind are compared by a frontier."""
    dimensions: Callable[..., Any] = refused(
        "columns: the analysis is about tables with quasi-identifiers and models that judge groups of rows"
    )
    """What every further quasi-identifier costs."""

    def refuse(self, plan: Plan) -> None:
        """Refuse what a plan for this method cannot say, as far as that needs no table and no file."""
        self.supports.refuse(plan, self.name)
        if self.attacks is not None:
            catalog().refuse_attacks(plan.attack.attacks, self.attacks)
            catalog().refuse_attacks(plan.attack.accept, self.attacks, key="accept")
        self.check(plan)

    @property
    def solves(self) -> str:
        """What algorithms of the catalog must solve to make it."""
        return self.solved_as or self.name

    def __repr__(self) -> str:
        return f"Method({self.name})"
