"""Artifacts on disk, their manifest, signatures, and verification from the written bytes."""
