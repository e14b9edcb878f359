"""Sessions that find clusters of all parties' records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.joint_protocols import JointProtocol, JointResult
from sfumato.collaborate.mining.asked_columns import read_domains, refuse_strange
from sfumato.collaborate.mining.joint_means import LEAKAGE, UNIT, Whole, joint_means, units
from sfumato.collaborate.summed_cuts import SummedNumbers
from sfumato.data.table import Table
from sfumato.describe.domains import Numbers
from sfumato.ground.arguments import at_least
from sfumato.ground.errors import ParameterError
from sfumato.mine.edge_labels import Attribute
from sfumato.mine.records import read_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """How many clusters of which columns."""

    columns: Mapping[str, Numbers]
    """Numbers with their declared ranges."""
    clusters: int
    """How many clusters."""
    starts: int
    """From how many starts; the best is kept."""
    most: int
    """How many steps one start may take."""
    seed: int
    """Where the starts are drawn from; it is public."""


def read_clustering(tree: Mapping[str, Any], names: Sequence[str]) -> Clustering:
    """What the session file asks for."""
    refuse_strange(tree, ("columns", "clusters", "starts", "steps", "seed"))
    columns = {}
    for name, domain in read_domains(tree).items():
        if not isinstance(domain, Numbers):
            raise ParameterError(f"parameters.columns.{name} must be a range: clusters are of numbers")
        columns[name] = domain
    asked = {"clusters": tree.get("clusters"), "starts": 8, "steps": 100, **tree}
    for key in ("clusters", "starts", "steps"):
        at_least(f"parameters.{key}", asked[key], 1)
    seed = tree.get("seed", 1)
    at_least("parameters.seed", seed, 0)
    return Clustering(
        columns=columns, clusters=asked["clusters"], starts=asked["starts"], most=asked["steps"], seed=seed
    )


def own_points(asked: Clustering, table: Table) -> Whole:
    """A party's own records in millionths of the declared ranges."""
    attributes = [Attribute(name=name, domain=domain, declared=True) for name, domain in asked.columns.items()]
    return units(read_columns(table.frame, attributes), tuple(asked.columns.values()))


def run_clustering(conversation: Conversation, asked: Clustering, own: Whole) -> JointResult:
    """The clusters of all parties' records."""
    found = joint_means(
        SummedNumbers(conversation, each=UNIT * len(asked.columns)),
        own,
        tuple(asked.columns.values()),
        clusters=asked.clusters,
        starts=asked.starts,
        most=asked.most,
        seed=asked.seed,
    )
    rows = [[*(float(x) for x in centre), int(size)] for centre, size in zip(found.centres, found.sizes, strict=True)]
    columns = (*asked.columns, "records")
    document = {"columns": list(columns), "clusters": rows, "squared distances": found.apart}
    return JointResult(document=document, columns=columns, rows=rows)


MEANS = JointProtocol(
    name="k-means",
    about="Clusters of all parties' records: centres and sizes.",
    least=3,
    read=read_clustering,
    leakage=lambda asked, names: LEAKAGE,
    prepare=own_points,
    given=lambda asked, own: f"sums of {len(own):,} rows in {len(asked.columns)} columns",
    run=run_clustering,
)
