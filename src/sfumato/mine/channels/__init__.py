"""Inference channels: groups of few people whose number follows from published counts, and publications without any."""
