"""The page of reproduced experiments."""
