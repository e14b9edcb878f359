"""Finding somebody's row: linkage, registers with errors, singling out, risk figures."""
