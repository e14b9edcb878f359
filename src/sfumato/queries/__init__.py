"""Questions to a table whose answers are noisy: counts, sums, means, variances, quantiles and histograms.

Every answer is paid for from a ledger before the data is touched. ``queries.exact`` answers without noise, under audit.
"""

from sfumato.queries.answers import Answer
from sfumato.queries.questions import Aggregate, Question
from sfumato.queries.session import Session
from sfumato.tables.schema import Categories, Numbers

__all__ = ["Aggregate", "Answer", "Categories", "Numbers", "Question", "Session"]
