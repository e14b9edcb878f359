"""Learning somebody's sensitive value from the rows that fit."""
