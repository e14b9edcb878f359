"""Attacks by whoever knows how the release was made, or holds another one."""
