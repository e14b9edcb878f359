"""Full-domain generalization: one level per column, searched in the lattice of levels."""
