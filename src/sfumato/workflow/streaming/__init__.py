"""Streams: from a plan and a source of lines to batches, each of which is a bundle."""
