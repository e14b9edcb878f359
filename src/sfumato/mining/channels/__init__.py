"""Inference channels: small groups whose size follows from published counts."""
