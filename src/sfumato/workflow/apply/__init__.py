"""A recoding that was found on one table, applied to records that were not there."""
