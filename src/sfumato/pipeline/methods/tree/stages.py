"""A release of trees, and its stages: begin, read, prepare, search, recode, judge."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.bundles.checks.private import DIFFERENTIAL, neighbours
from sfumato.bundles.checks.trees import DECLARED, DOCUMENT, MOST_PAIRS, SPREAD, TOGETHER, observed_mark
from sfumato.bundles.files import MANIFEST
from sfumato.bundles.manifest.document import plain
from sfumato.bundles.verify import untouched
from sfumato.core.claims import Claim
from sfumato.core.errors import ClaimRefuted, DataError, Infeasible, ParameterError, PlanError, unknown_column
from sfumato.core.input_files import read_text
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.classes import told_apart
from sfumato.dp.chain import Head
from sfumato.dp.ledger import Ledger
from sfumato.mining.document_json import read_tree, write_tree
from sfumato.mining.leaf_privacy import TreeRequirement
from sfumato.mining.prediction import leaves_of
from sfumato.mining.records import Records, read_like, read_records
from sfumato.mining.rule_document import rules_of, write_rules
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_publishing import Forest, GrownTrees, NoisyTree, Reached, complete_structure, judged_together
from sfumato.models.model import Verdict
from sfumato.pipeline.inputs import bounded, load_table, rows_or_none
from sfumato.pipeline.methods.method import Method, Request, SearchResult
from sfumato.pipeline.methods.tree.plan import (
    ATP,
    algorithm_of,
    attributes_of,
    domains_of,
    is_noisy,
    requirement,
    single,
    target_of,
    tree_of,
)
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import Release
from sfumato.tables.table import Table

# A release of trees.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TreeRelease(Release):
    """Trees with what they claim; the rows are their documents, one in each."""

    prepared: TreePrepared
    """The records that they were learnt from, or counted with."""
    found: Forest | NoisyTree
    """What the algorithm gave."""
    shown: tuple[TreeDocument, ...]
    """The trees as they are published."""
    earlier: tuple[TreeDocument, ...] = ()
    """Trees about the same people that are public already."""
    advice: tuple[str, ...] = ()
    """What the steward should know of another algorithm."""
    charge: tuple[Ledger, int] | None = None
    """The ledger that paid for noisy counts and the number of the charge, if one did."""

    @property
    def paid(self) -> Head | None:
        """The event of the ledger that paid for it."""
        return None if self.charge is None else self.charge[0].receipt(self.charge[1])

    @property
    def described(self) -> dict[str, Any]:
        """One document a line."""
        return {"rows": self.rows.height, "columns": [{"name": DOCUMENT, "role": "keep", "type": "text"}]}

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        l_diversity = self.plan.privacy.get("l_diversity", {})
        observed = [attribute.name for attribute in self.shown[0].attributes if not attribute.declared]
        warnings = [SPREAD] if l_diversity.get("basis") == "hits" else []
        warnings += [observed_mark(observed)] if observed else []
        return [*warnings, *([DECLARED] if isinstance(self.found, NoisyTree) else []), *super().marks]

    def about_to_appear(self, folder: Path) -> None:
        """The ledger must hold what a bundle cites that is replaced here; and it notes where this one lies."""
        if self.charge is not None:
            from sfumato.pipeline.payment import refuse_rolled_back

            ledger, charge = self.charge
            refuse_rolled_back(ledger, [folder] if (folder / MANIFEST).exists() else [])
            ledger.note_bundle(folder, charge)


# The stages of a release of trees: begin, read, prepare, search, recode, judge.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TreePrepared(Brief):
    """Records over their domains."""

    records: Records
    """The records."""
    structure: TreeDocument | None = None
    """Of noisy counts: the declared splits."""
    frame: pl.DataFrame | None = None
    """The rows that they are, with all columns: earlier trees may ask for others."""
    earlier: tuple[TreeDocument, ...] = ()
    """Trees about the same people that are public already."""
    left_out: int = 0
    """Rows with missing values."""
    further: int = 0
    """Further rows of people who have one already."""


def begin(request: Request) -> Request:
    """Refuse files that are not there; reserve what noisy counts cost before the data is touched."""
    plan = request.plan
    plan.attack.refuse_files(plan.folder)
    if not is_noisy(plan):
        return request
    from sfumato.core.extras import require
    from sfumato.pipeline.methods.private.stages import begin as reserved

    require("opendp", "a tree with noisy counts")
    structure_of(plan)
    return reserved(request)


def read(request: Request) -> Table:
    """The table; with noisy counts it may have no rows, and each person has few."""
    plan = request.plan
    if not is_noisy(plan):
        return load_table(plan, request.like, plan.input.path)
    table = rows_or_none(plan, request.like)
    if request.charge is not None:
        ledger, reserved = request.charge
        ledger.refuse_other(table, reserved)
    return bounded(table, plan)


def structure_of(plan: Plan) -> TreeDocument:
    """The splits that the plan declares, without any count."""
    named, options = tree_of(plan).structure, algorithm_of(plan)[1]
    domains, attributes = domains_of(plan), attributes_of(plan)
    if named is not None:
        place = plan.folder / named
        try:
            tree = read_tree(read_text(place))
        except (OSError, UnicodeDecodeError, DataError) as fault:
            raise PlanError(f"tree.structure: {place} cannot be read: {fault}") from None
        strange = [attribute.name for attribute in tree.attributes if attribute.name not in attributes]
        if strange or tree.target != target_of(plan):
            what = f"asks for {strange[0]!r}" if strange else f"names the class {tree.target!r}"
            raise PlanError(f"tree.structure: {place} {what}, which the plan does not")
        return replace(tree, attributes=tuple(replace(attribute, declared=True) for attribute in tree.attributes))
    from sfumato.mining.attributes import Attribute

    whole = [Attribute(name=name, domain=domains[name], declared=True) for name in attributes]
    classes: Any = domains[target_of(plan)]
    try:
        return complete_structure(whole, target_of(plan), classes.values, options.split_by, options.parts)
    except ParameterError as error:
        raise PlanError(f"algorithm.{error}") from None


def prepare(request: Request, table: Table) -> TreePrepared:
    """The records over declared domains, or over those that the table has."""
    plan, names = request.plan, [*attributes_of(request.plan), target_of(request.plan)]
    for name in plan.columns:
        if name not in table.names:
            raise unknown_column(name, table.names, where=f"columns.{name}")
    if plan.input.unit is not None and plan.input.unit not in table.names:
        raise unknown_column(plan.input.unit, table.names, where="input.unit")
    if is_noisy(plan):
        tree = structure_of(plan)
        table_records = read_like(table.frame, attributes=tree.attributes, target=tree.target, classes=tree.classes)
        return TreePrepared(records=table_records, structure=tree)
    kept = table
    if plan.input.on_missing == "drop":
        gap = np.logical_or.reduce([table.is_missing(name).to_numpy() for name in names])
        kept = replace(table, frame=table.frame.filter(~gap))
    complete = kept
    kept = first_rows(complete, plan.input.unit)
    try:
        records = read_records(
            kept.frame,
            target=names[-1],
            columns=names[:-1],
            domains=domains_of(plan),
            kinds={name: plan.columns[name].type for name in names[:-1]},  # type: ignore[misc]
            missing=table.missing,
        )
    except ParameterError as error:
        raise PlanError(f"columns: {error}") from None
    except DataError as error:
        hint = '; [input] on_missing = "drop" leaves such rows out' if "have no value" in str(error) else ""
        raise DataError(f"{error}{hint}") from None
    earlier = tuple(tree for name in plan.attack.earlier for tree in trees_in(plan.folder / name))
    return TreePrepared(
        records=records,
        frame=kept.frame,
        earlier=earlier,
        left_out=table.rows - complete.rows,
        further=complete.rows - kept.rows,
    )


def first_rows(table: Table, unit: str | None) -> Table:
    """The first row of each person, where the plan tells people apart: then leaves count people.

    Which row it is depends on the table alone, so that the steward can count every leaf again.
    """
    if unit is None:
        return table
    table.require(unit, where="input.unit")
    persons, _ = told_apart(replace(table, frame=table.frame.select(unit)).column(unit, "text"))
    first = np.sort(np.unique(persons, return_index=True)[1])
    return replace(table, frame=table.frame[first])


def trees_in(folder: Path) -> tuple[TreeDocument, ...]:
    """The trees of a bundle whose seal holds; rules are no trees."""
    from sfumato.pipeline.shared_models import models_in

    models = models_in(folder, untouched(folder))
    return tuple(model for model in models if isinstance(model, TreeDocument))


def search(request: Request, ready: TreePrepared, work: Work) -> SearchResult:
    """Learn and prune, or count with noise; what was paid for is settled."""
    plan = request.plan
    name, run, why = algorithm_of(plan)
    if ready.structure is None:
        chance = Chance(seed=plan.algorithm.seed)
        outcome: Any = run(ready.records, requirement(plan), chance, reached(ready))
    else:
        outcome = _paid(request, run(ready.structure, ready.records))
    return SearchResult(
        prepared=ready, outcome=outcome, algorithm=name, why=why, beside=_grown_instead(request, ready, name, outcome)
    )


def _grown_instead(request: Request, ready: TreePrepared, name: str, forest: Any) -> tuple[str, ...]:
    """What ldm finds where atp ends with a single leaf: merging siblings can undo every split, growing cannot."""
    if name != ATP or any(tree.nodes > 1 for tree in forest.trees):
        return ()
    try:
        grown = GrownTrees()(ready.records, requirement(request.plan), Chance(seed=0), reached(ready))
    except (Infeasible, DataError):
        return ()
    leaves = max(len(tree.leaves) for tree in grown.trees)
    if leaves < 2:
        return ()
    return (f"atp merged everything into a single leaf; algorithm.name = 'ldm' finds a tree with {leaves:,} leaves.",)


def reached(ready: TreePrepared) -> list[Reached]:
    """Where the records lead in earlier trees."""
    return [(leaves_of(tree, ready.frame), tree.nodes) for tree in ready.earlier if not tree.empty]


def _paid(request: Request, noisy_tree: NoisyTree) -> NoisyTree:
    """Noisy counts with all that they cost a person; settled in the ledger."""
    from sfumato.dp.events import Grouped
    from sfumato.pipeline.methods.private.plan import promise_of

    rows, event = request.plan.input.rows_per_unit, noisy_tree.event
    if rows > 1:
        event = Grouped(part=event, rows=rows, what="all rows of one person")
    if not promise_of(request.plan).kept_by(event):
        raise ClaimRefuted("the counts cost something else than was promised; nothing was written")
    if request.charge is not None:
        ledger, reserved = request.charge
        ledger.settle(reserved, event)
    return replace(noisy_tree, event=event)


def recode(request: Request, result: SearchResult) -> pl.DataFrame:
    """The documents, a row each."""
    leaf_content, form = tree_of(request.plan).told, tree_of(request.plan).form
    trees = shown_trees(result.outcome, leaf_content)
    most = max(len(tree.leaves) for tree in trees)
    if form == "rules" and most * (most - 1) // 2 > MOST_PAIRS:
        raise PlanError(f"tree.form: {most:,} rules are too many to compare each with each; publish a tree")
    texts = [write_tree(tree) if form == "tree" else write_rules(rules_of(tree)) for tree in trees]
    return pl.DataFrame({DOCUMENT: texts}, schema={DOCUMENT: pl.String})


def shown_trees(outcome: Forest | NoisyTree, leaf_content: str) -> tuple[TreeDocument, ...]:
    """The trees as they are told: with the counts of every class, or hit and miss alone."""
    trees = (outcome.tree,) if isinstance(outcome, NoisyTree) else outcome.trees
    return trees if leaf_content == "counts" else tuple(tree.without_counts() for tree in trees)


def judge(kind: Method, request: Request, result: SearchResult, rows: pl.DataFrame) -> TreeRelease:
    """Every leaf as it is told is judged, and the meetings of leaves where there are several trees."""
    ready: TreePrepared = result.prepared
    trees = shown_trees(result.outcome, tree_of(request.plan).told)
    claims = _promised(request.plan) if ready.structure is not None else _judged(request.plan, ready, trees)
    broken = next((claim for claim in claims if not claim.holds), None)
    if broken is not None:
        raise ClaimRefuted(f"{broken.model} does not hold {broken.note}; nothing was written")
    return TreeRelease(
        kind=kind,
        plan=request.plan,
        prepared=ready,
        found=result.outcome,
        shown=trees,
        earlier=ready.earlier,
        charge=request.charge,
        rows=rows,
        claims=claims,
        utility={},
        algorithm=result.algorithm,
        why=result.why,
        advice=result.beside,
        like=request.like,
    )


def _judged(plan: Plan, ready: TreePrepared, trees: tuple[TreeDocument, ...]) -> tuple[Claim, ...]:
    parts, every = single(requirement(plan)), len(trees) + len(plan.attack.earlier)
    figures = [tree.leaf_figures() for tree in trees]
    alone = [_worst(part, [part.check(tree_figures) for tree_figures in figures]) for part in parts]
    if every < 2:
        return tuple(alone)
    verdicts = [judged_together(trees, ready.records, part, reached(ready)) for part in parts]
    joint = [
        _claim(part, verdict, "where leaves of all trees meet", {TOGETHER: every})
        for part, verdict in zip(parts, verdicts, strict=True)
    ]
    return (*alone, *joint)


def _worst(part: TreeRequirement, verdicts: list[Verdict]) -> Claim:
    pick = max if verdicts[0].sense in ("at most", "below") else min
    reached = pick(verdict.reached for verdict in verdicts)
    failing = np.concatenate([verdict.failing for verdict in verdicts])
    whole = replace(verdicts[0], reached=reached, failing=failing, holds=not len(failing))
    return _claim(part, whole, "of every leaf", {})


def _claim(part: TreeRequirement, verdict: Verdict, note: str, more: dict[str, Any]) -> Claim:
    parameters: dict[str, Any] = plain(asdict(part))  # type: ignore[call-overload]
    return Claim(
        model=part.name,
        parameters={**parameters, **more},
        holds=verdict.holds,
        sense=verdict.sense,
        limit=verdict.limit,
        reading="value",
        as_value=verdict.reached,
        as_wildcard=verdict.reached,
        classes_failing=len(verdict.failing),
        note=note,
    )


def _promised(plan: Plan) -> tuple[Claim, ...]:
    """What was accounted for; counts are not looked at."""
    from sfumato.pipeline.methods.private.plan import promise_of

    promise = promise_of(plan)
    value = float(promise.epsilon or promise.amount())
    return (
        Claim(
            model=DIFFERENTIAL,
            parameters={**promise.to_json(), "neighbours": neighbours(plan.public()["input"])},
            holds=True,
            sense="at most",
            limit=value,
            reading="value",
            as_value=value,
            as_wildcard=value,
            classes_failing=0,
            note="accounted for exactly",
        ),
    )
