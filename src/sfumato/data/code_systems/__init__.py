"""Systems of codes for diagnoses, procedures and medicines: the chapters of each, as ranges of its first characters."""
