"""Paths, sets and mixed records, judged by what somebody may know of them."""

from sfumato.workflow.kinds.items.item_kind import ItemKind

KIND = ItemKind()
