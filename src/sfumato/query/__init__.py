"""Questions to a table whose answers are noisy: counts, sums, means, variances, quantiles and histograms.

Every answer is paid for from a ledger before the data is touched.
"""

from sfumato.query.answers import Answer
from sfumato.query.domains import Categories, Numbers
from sfumato.query.questions import Aggregate, Question
from sfumato.query.session import Session

__all__ = ["Aggregate", "Answer", "Categories", "Numbers", "Question", "Session"]
