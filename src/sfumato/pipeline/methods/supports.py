"""What a method supports of a plan, as data: whatever it does not support is refused by its key."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.core.errors import PlanError, listed
from sfumato.pipeline.plan.columns import refuse_base, refuse_guarded
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.schema import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Supports:
    """What a plan may ask of a method; a method may refuse more where what is supported depends on other keys."""

    title: str
    """What a plan of the method makes, as messages call it."""
    models: tuple[str, ...] | None = None
    """The keys of [privacy] that it knows; None: the method reads the section itself."""
    weights: bool = False
    """Whether rows may have sampling weights."""
    unit: bool = False
    """Whether people may have several rows."""
    population: bool = False
    """Whether it reads a population."""
    suppression: bool = False
    """Whether it may suppress rows."""
    incomplete: bool = True
    """Whether rows with missing values can be left out before."""
    itemized: bool = False
    """Whether columns may be paths or sets."""
    guarded: bool = False
    """Whether a quasi-identifier may be sensitive too."""
    base: bool = False
    """Whether columns may be counted from a level of their hierarchy."""
    parts: bool = False
    """Whether it writes many files."""
    control: bool = False
    """Whether its attacks have a control run."""
    earlier: bool = False
    """Whether earlier bundles can be laid over it."""
    group: bool = True
    """Whether its attacks know households."""

    def refuse(self, plan: Plan, name: str) -> None:
        """Refuse the first key of a plan that the method of this name does not support."""
        if plan.format == "parts" and not self.parts:
            raise PlanError(f'output.format = "parts" is for releases of tables by groups; this one is {name}')
        if plan.input.weight is not None:
            self._refuse_weight(plan, name)
        if not self.base:
            refuse_base(plan.columns, name)
        if not self.guarded:
            refuse_guarded(plan.columns, self.title)
        if self.models is not None:
            self._refuse_models(plan, self.models)
        if plan.itemized and not self.itemized:
            raise PlanError(
                f"columns.{plan.itemized[0]}.type: {self.title} takes no paths and sets; drop the column, or use text"
            )
        self._refuse_rows(plan)
        for key in ("control", "earlier", "group"):
            if getattr(plan.attack, key) and not getattr(self, key):
                raise PlanError(f"attack.{key}: attacks on {self.title} do not support it; remove the key")

    def _refuse_weight(self, plan: Plan, name: str) -> None:
        if not self.weights:
            raise PlanError(f"input.weight is for releases of tables by groups; this one is {name}")
        column = plan.columns.get(str(plan.input.weight))
        if column is not None and column.role not in (Role.KEEP, Role.DROP):
            raise PlanError(
                f"input.weight: {plan.input.weight!r} has role = '{column.role}'; weights are published as they are "
                "('keep') or not at all ('drop')"
            )

    def _refuse_models(self, plan: Plan, known: tuple[str, ...]) -> None:
        others = [key for key in plan.privacy if key not in known]
        if others and known:
            raise PlanError(f"privacy.{others[0]}: {self.title} meets no model beside {listed(known)}; remove the key")
        if others:
            hint = "leave [privacy] out, or use another algorithm"
            raise PlanError(f"privacy.{others[0]}: {self.title} meets no privacy model; {hint}")

    def _refuse_rows(self, plan: Plan) -> None:
        algorithm = plan.algorithm
        suppresses = algorithm.max_suppressed or algorithm.suppressed != "remove" or algorithm.exempt_suppressed
        if suppresses and not self.suppression:
            raise PlanError(f"algorithm.max_suppressed: {self.title} leaves no row out; remove the key")
        for key in ("unit", "population"):
            if getattr(plan.input, key) is not None and not getattr(self, key):
                raise PlanError(f"input.{key}: {self.title} does not support a {key}; remove the key")
        if plan.input.on_missing == "drop" and not self.incomplete:
            raise PlanError(f"input.on_missing: {self.title} leaves no row out; a missing value stays missing")
