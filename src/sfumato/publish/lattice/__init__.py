"""Full-domain generalization: one level per column, searched in the lattice of all combinations of levels."""
