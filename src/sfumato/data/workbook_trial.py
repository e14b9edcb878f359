"""A program of its own that opens one old workbook (.xls) from standard input, under a limit of memory.

Such a file is not compressed, but a few bytes can put a cell into a far row and column, and its reader makes room for
all cells up to there, or ends the process where it cannot. Here it ends this program alone. It is started by its path,
so it imports nothing of the package.
"""

from __future__ import annotations

import sys
from contextlib import suppress


def main(most_memory: int) -> None:
    """Open the workbook, and end with an error where that takes more memory or fails."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory))
    import fastexcel

    fastexcel.read_excel(sys.stdin.buffer.read())


if __name__ == "__main__":
    main(int(sys.argv[1]))
