"""How a plan asks for condensed groups, and what the claim about them is called."""

from __future__ import annotations

KEY = "indistinguishable_groups"
"""The key of [privacy]: the fewest records of a group."""
MODEL = "indistinguishable-groups"
"""The claim."""
EPOCH = 719163
"""The day number of 1970-01-01, from which typed columns count days."""
