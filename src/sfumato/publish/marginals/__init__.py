"""Release by noisy marginals: rows drawn from a tree model, epsilon-differentially private."""

from sfumato.publish.marginals.algorithm import Marginals

__all__ = ["Marginals"]
