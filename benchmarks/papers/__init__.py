"""Experiments of the papers, each by one command: our figures beside theirs."""
