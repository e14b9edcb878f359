"""A private release of three or more parties with the same attributes about different people.

Claim: all parties return the same release. It is epsilon-differentially private, neighbours being one record more or
    less at any party: for outsiders, and for any ``colluding`` parties together, who see the noisy sums and know their
    own noise. `coalitions` says what holds against more of them.
How: the algorithm runs at every party on its own records. It looks at them through noisy counts only, which are summed
    over all parties (`SummedNoise`); every choice follows from such counts, so all parties choose alike.
Source: document 003, section 7.5, does this for two parties; for more, Goryczka and Xiong 2015 (noise in sums).
"""

from __future__ import annotations

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.noisy.coalitions import with_coalitions
from sfumato.collaborate.noisy.summed_noise import Draw, SummedNoise
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError
from sfumato.ground.work import Work
from sfumato.noise import laplace_share
from sfumato.publish.diffgen import noisy_specializer
from sfumato.publish.diffgen.noisy_specializer import DiffGen
from sfumato.publish.marginals import noisy_marginals
from sfumato.publish.marginals.noisy_marginals import Marginals
from sfumato.publish.noisy_table import NoisyTable, PrivateTable

LEAST = 3
"""With fewer parties a sum tells each the other's noisy counts one by one; two choose in a circuit."""


def run_many(
    conversation: Conversation,
    asked: DiffGen | Marginals,
    own: PrivateTable,
    *,
    colluding: int = 1,
    draw: Draw = laplace_share,
) -> NoisyTable:
    """The release of all parties' records; each calls this with its own, over the same declared domains."""
    refuse_scores(asked)
    seat = conversation.seat
    noise = SummedNoise(conversation, colluding=colluding, draw=draw)
    work = Work(chance=Chance(seed=int.from_bytes(seat.session, "big")))
    if isinstance(asked, DiffGen):
        made = noisy_specializer.published(asked, own, work, noise.mechanisms)
    else:
        made = noisy_marginals.published(asked, own, work, noise.mechanisms)
    return with_coalitions(made, seat.count, colluding)


def refuse_scores(asked: DiffGen | Marginals) -> None:
    """Refuse what needs a choice by the scores of all parties' records, or noise that has no shares."""
    if asked.rho is not None:
        raise ParameterError("several parties spend an epsilon, not a rho: their noise is Laplace noise")
    wanted = "counts" if isinstance(asked, DiffGen) else "declared"
    if asked.choosing != wanted:
        raise ParameterError(
            f'choosing must be "{wanted}" where three or more parties work together, not "{asked.choosing}": scores of '
            "the parties' records do not add up to scores of all records"
        )
