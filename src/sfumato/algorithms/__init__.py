"""The algorithms: each takes a problem and returns a recoding that still has to be verified."""
