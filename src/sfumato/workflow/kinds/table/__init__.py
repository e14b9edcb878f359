"""Tables with quasi-identifiers, judged group by group."""

from sfumato.workflow.kinds.table.table_kind import TableKind

KIND = TableKind()
