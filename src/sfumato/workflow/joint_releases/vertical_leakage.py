"""What a vertical release tells whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.releases import common_order
from sfumato.ground.errors import listed

if TYPE_CHECKING:
    from sfumato.workflow.joint_releases.vertical_release import VerticalAsked


def vertical_leakage(asked: VerticalAsked, names: Sequence[str]) -> Leakage:
    """The release; who is common; which labels of the release each of one's own people has."""
    people = common_order.leakage_of(names)
    told = [
        Told(to="everybody", what=f"the {name} of every common person, from {names[asked.owner(name)]}")
        for name in asked.told
    ]
    return Leakage(
        protocol="vertical-release",
        result=(
            Told(to="everybody", what="the release: the common people with the columns of all parties, generalized"),
            *people.result,
        ),
        beyond=(
            *people.beyond,
            Told(
                to="everybody",
                what="for each of its own common people, the labels that the release shows of the other parties' "
                "quasi-identifiers: no finer than the release, but linked to the person",
            ),
            *told,
            *(
                Told(to="everybody", what=f"whether all parties have the same {name} of every common person")
                for name in asked.shared
            ),
            Told(to="everybody", what="in which order labels were taken, and whose each of them was"),
        ),
        withstands="any parties that work together, for what the others' values are below the labels of the release",
        limits="what the labels tell about a known person, which the models do not bound: they bound whoever sees the "
        f"release alone; {people.limits}"
        + (f"; {listed(asked.shared, most=20)} must be known to every party beforehand" if asked.shared else ""),
    )
