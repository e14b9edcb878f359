"""The process that keeps a table and its counts in memory, and answers questions about them one by one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from sfumato.ground.errors import SfumatoError
from sfumato.ground.work import Work
from sfumato.studio.confined_plan import confined_plan, described_plan, refuse_outside, root_of
from sfumato.studio.worker import end_with_parent
from sfumato.workflow.plan.plan import Plan

Texts = Mapping[str, Any]


def table_process(pipe: Connection) -> None:
    """Answer questions until the studio asks no more."""
    end_with_parent()
    desk = _Desk()
    while True:
        try:
            verb, given = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(("answer", getattr(desk, verb)(**given)))
        except SfumatoError as error:
            pipe.send(("refused", str(error)))
        except Exception as error:
            pipe.send(("refused", f"a fault of sfumato: {error!r}"))


class _Desk:
    """What the table process can be asked."""

    def __init__(self) -> None:
        self._table: tuple[Any, Any] = (None, None)
        self._counted: tuple[Any, Any] = (None, None)
        self._profiled: tuple[Any, Any] = (None, None)

    def _explored(self, plan: Plan) -> Any:
        """The table that the plan names, read once as long as neither file nor reading changes."""
        from sfumato.workflow.exploring.explored import Explored

        path = plan.folder / str(plan.input.path)
        key = (plan.input, path.stat().st_mtime_ns if path.is_file() else None)
        if self._table[0] != key:
            self._table = (key, Explored.of(plan))
        return self._table[1]

    def _under(self, folder: str, text: str) -> Any:
        """The table counted under the plan, as long as the text is the same."""
        if self._counted[0] != (folder, text):
            plan = confined_plan(Path(folder), text)
            self._counted = ((folder, text), self._explored(plan).under(plan))
        return self._counted[1]

    def rows(self, folder: str, text: str, first: int, many: int) -> Any:
        """Some rows of the table."""
        return self._explored(described_plan(Path(folder), text)).rows(first, many)

    def profile(self, path: str, reading: dict[str, Any]) -> Any:
        """What the table looks like, and a draft plan; looked at once as long as the file is the same."""
        from sfumato.workflow.profile.draft import draft
        from sfumato.workflow.profile.profiling import profile

        key = (path, repr(reading), os.stat(path).st_mtime_ns if os.path.exists(path) else None)
        if self._profiled[0] != key:
            found = profile(path, reading=reading)
            told = {**found.to_json(), "draft": draft(found, path=os.path.basename(path), reading=reading)}
            self._profiled = (key, told)
        return self._profiled[1]

    def levels(self, folder: str, text: str, column: str, tree: dict[str, Any], key: str) -> Any:
        """The levels that a hierarchy gives a column."""
        plan = self._confined(folder, text, tree)
        return self._explored(plan).levels(plan, column, tree, key)

    def leaves(self, folder: str, text: str, column: str, tree: dict[str, Any], key: str) -> Any:
        """A hierarchy as lines of a file."""
        plan = self._confined(folder, text, tree)
        return self._explored(plan).leaves(plan, column, tree, key)

    def nested(self, folder: str, text: str, column: str, tree: dict[str, Any], key: str) -> Any:
        """A hierarchy as a tree of groups, whatever made it."""
        from sfumato.workflow.exploring.hierarchy_levels import nested_tree

        return nested_tree(self.leaves(folder, text, column, tree, key))

    def spread(self, folder: str, text: str, column: str, key: str) -> Any:
        """How the numbers of a column lie."""
        plan = described_plan(Path(folder), text)
        return self._explored(plan).spread(plan, column, key)

    def declared(self, folder: str, text: str, column: str, said: dict[str, Any]) -> Any:
        """What a declared domain means for the rows of a column."""
        plan = self._confined(folder, text, said)
        return self._explored(plan).declared(plan, column, said)

    def _confined(self, folder: str, text: str, more: dict[str, Any]) -> Plan:
        """The plan; what is said beside it leads nowhere outside either."""
        refuse_outside(more, Path(folder), root_of(Path(folder)))
        return described_plan(Path(folder), text)

    def fitting(self, folder: str, text: str) -> Any:
        """Which algorithms can be asked to meet the requirement, and what `auto` stands for."""
        return self._under(folder, text).fitting()

    def reached(self, folder: str, text: str) -> Any:
        """What the raw table reaches of every model."""
        counted = self._under(folder, text)
        return {"claims": counted.reached(), "beside": counted.offered(), "unreachable": counted.unreachable()}

    def around(self, folder: str, text: str, levels: dict[str, int]) -> Any:
        """A node of the lattice with its neighbours."""
        return self._under(folder, text).around(levels)

    def sample(self, folder: str, many: int) -> Any:
        """The first rows of a bundle, without reading the others."""
        from sfumato.bundle.manifest import load
        from sfumato.bundle.staging import MANIFEST
        from sfumato.workflow.exploring.first_rows import first_rows

        return first_rows(Path(folder), load(Path(folder) / MANIFEST), many)

    def verify(self, folder: str) -> Any:
        """Whether a bundle is what it says, in the sentences of the command line."""
        from sfumato.verification.told_checks import sentences
        from sfumato.workflow.checking import verify

        found = verify(folder)
        return {"holds": found.holds, "checks": len(found.checks), "sentences": sentences(found.checks)}

    def attack(self, folder: str, original: str, plan: str | None) -> Any:
        """What adversaries can do with a bundle."""
        from sfumato.report.base.findings import verdicts
        from sfumato.workflow.attacking import attack

        loaded = None if plan is None else confined_plan(Path(plan).parent, Path(plan).read_text(encoding="utf-8"))
        found = attack(folder, original, plan=loaded, attacks=("all",), trials=1000, work=Work())
        told = [{"attack": one.attack, "threat": one.threat, "who": one.who, "verdict": one.verdict,
                 "chip": one.chip, "broken": one.broken} for one in verdicts(found.findings)]  # fmt: skip
        return {"findings": told, "skipped": dict(found.skipped)}

    def budget(self, folder: str, text: str) -> Any:
        """What everybody may spend and has spent, and which columns can be asked about."""
        from sfumato.workflow.exploring.asking import budget

        return budget(Path(folder), confined_plan(Path(folder), text))

    def grant(self, folder: str, text: str, limit: str, analyst: str | None) -> Any:
        """Set what somebody may spend."""
        from sfumato.workflow.exploring.asking import grant

        return grant(Path(folder), confined_plan(Path(folder), text), limit, analyst)

    def ask(self, folder: str, text: str, sql: str, epsilon: str, analyst: str | None) -> Any:
        """A noisy answer, and what is left to who paid."""
        from sfumato.workflow.exploring.asking import ask

        return ask(Path(folder), confined_plan(Path(folder), text), sql, epsilon, analyst)
