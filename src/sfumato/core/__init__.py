"""What every package uses: errors, exact fractions, randomness, progress and limits, files, compiled kernels."""
