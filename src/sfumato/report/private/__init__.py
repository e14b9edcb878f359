"""The report of a differentially private release."""
