"""Streams without plans: lines, records, condensed groups, and the sealed state to go on from."""
