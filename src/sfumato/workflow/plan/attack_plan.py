"""The plan's [attack]: which attacks a release must stand before it is written, and how much it may give away."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sfumato.bundle.manifest import load
from sfumato.bundle.staging import MANIFEST
from sfumato.ground.errors import BundleError, PlanError
from sfumato.workflow.plan.plan_table import Keys

TRIALS = 1000
"""How many people are attacked where nothing is said."""
SECONDS = 60.0
"""How long all attacks together may take where nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackPlan:
    """How a release is attacked before anyone else can."""

    run: bool = True
    """Whether it is attacked at all."""
    attacks: tuple[str, ...] = ()
    """The attacks by name; the quick ones where none is named."""
    trials: int = TRIALS
    """How many people are attacked."""
    max_risk: float | None = None
    """The largest excess over guessing that any attack may show; a release that shows more is not written."""
    control: str | None = None
    """A file with people of the same kind who are not in the table."""
    seconds: float = SECONDS
    """No attack begins when so much time has passed; those that are left are told as not made."""
    accept: tuple[str, ...] = ()
    """Attacks that may refute a claim: the release is written all the same, and says so."""
    group: str | None = None
    """A column that tells who belongs together, such as a household: whoever knows all of them looks for one."""
    earlier: tuple[str, ...] = ()
    """Bundles about the same people that are public already: each is laid over this release."""

    def refuse_files(self, folder: Path) -> None:
        """Refuse a control file or an earlier bundle that is not there, before any work is done."""
        if self.control is not None and not (folder / self.control).is_file():
            raise PlanError(f"attack.control: {folder / self.control} does not exist")
        for name in self.earlier:
            refuse_no_bundle(folder / name, "attack.earlier")

    @classmethod
    def of(cls, keys: Keys) -> AttackPlan:
        """Read the section."""
        keys.only("run", "attacks", "trials", "max_risk", "control", "seconds", "accept", "earlier", "group")
        risk = keys.number("max_risk")
        if risk is not None and not 0 <= risk <= 1:
            raise PlanError(f"{keys.at('max_risk')} must be a share between 0 and 1, not {risk}")
        trials = keys.whole("trials", TRIALS) or 0
        if trials < 20:
            raise PlanError(f"{keys.at('trials')} must be at least 20, not {trials}; fewer show nothing")
        run = keys.flag("run", default=True)
        if risk is not None and not run:
            raise PlanError(f"{keys.at('max_risk')}: without attacks nothing can be said about it; set run = true")
        seconds = keys.number("seconds", SECONDS) or 0.0
        if not 0 < seconds < float("inf"):
            raise PlanError(f"{keys.at('seconds')} must be above 0, not {seconds:g}; set run = false for no attack")
        return cls(
            run=run,
            attacks=keys.texts("attacks"),
            trials=trials,
            max_risk=risk,
            control=keys.text("control"),
            seconds=seconds,
            accept=keys.texts("accept"),
            earlier=keys.texts("earlier"),
            group=keys.text("group"),
        )


def refuse_no_bundle(folder: Path, key: str) -> Path:
    """The folder of a bundle; refused where it is none."""
    try:
        load(folder / MANIFEST)
    except BundleError as error:
        raise PlanError(f"{key}: {folder} is no bundle, whose folder would hold {MANIFEST}: {error}") from error
    return folder
