"""Differentially private releases: noisy rows over declared domains."""

from sfumato.workflow.kinds.private.private_kind import PrivateKind

KIND = PrivateKind()
