"""Slow, literal definitions, written from the papers and not from the code, to hold the fast ones against."""
