"""From a plan to a verified release, and everything else that a plan starts."""
