"""Releases that several parties make together."""
