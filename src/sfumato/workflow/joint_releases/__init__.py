"""Releases that several parties make together: the plan they agree on, each party's part, and the bundle."""
