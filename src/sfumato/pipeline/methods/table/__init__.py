"""Tables with quasi-identifiers, judged by equivalence classes."""
