"""What every room stands on: errors, argument checks, exact shares, chance, progress."""
