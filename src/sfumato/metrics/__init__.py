"""What a release loses: metrics with direction, range and bounds that a search can prune by."""
