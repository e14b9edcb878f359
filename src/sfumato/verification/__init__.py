"""Re-checking a release from its written bytes and its manifest, trusting nothing else."""
