"""The command line: one file per verb; each builds a plan and calls the pipeline."""
