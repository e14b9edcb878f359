"""From a plan to a verified release; the catalog of everything that a plan can name."""
