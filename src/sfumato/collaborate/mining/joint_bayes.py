"""Naive Bayes of all parties' records: its counts are sums over parties."""

from __future__ import annotations

import numpy as np

from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives import secure_sum
from sfumato.collaborate.summed_cuts import SummedNumbers
from sfumato.mine.counted_bayes import CountedBayes, Whole, bayes_counts
from sfumato.mine.records import Records

LEAKAGE = Leakage(
    protocol="naive Bayes",
    result=(Told(to="everybody", what="the records of each class, and of each value of each column by class"),),
    withstands=secure_sum.LEAKAGE.withstands,
    limits="small counts, which may be about one person: a joint result is not private by itself",
)


def joint_counts(sums: SummedNumbers, records: Records) -> list[Whole]:
    """The counts of naive Bayes over all parties, in one sum."""
    own = bayes_counts(records)
    whole = sums(np.concatenate([one.reshape(-1) for one in own]))
    ends = np.cumsum([one.size for one in own])[:-1]
    return [part.reshape(one.shape) for part, one in zip(np.split(whole, ends), own, strict=True)]


def joint_bayes(sums: SummedNumbers, records: Records) -> CountedBayes:
    """The model of all parties' records.

    Claim: equal to the model of the union of all records, and the same at every party.
    """
    return CountedBayes.of_counts(records.attributes, joint_counts(sums, records))
