"""Release by noisy marginals: rows drawn from a tree model, epsilon-differentially private."""

from sfumato.algorithms.marginals.noisy_marginals import Marginals

__all__ = ["Marginals"]
