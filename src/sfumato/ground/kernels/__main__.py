"""Make the machine code of all compiled loops ahead: ``python -m sfumato.ground.kernels``, once after installing.

Without it the first release of paths or sets takes some seconds more.
"""

from __future__ import annotations

import subprocess
import sys
from pkgutil import iter_modules

from sfumato.ground import kernels
from sfumato.ground.errors import EXIT_BAD_INPUT, MissingExtra
from sfumato.ground.extras import extra


def main() -> int:
    """Importing a module compiles it: each in a process of its own."""
    try:
        extra("numba", "compiling")
    except MissingExtra as missing:
        sys.stderr.write(f"sfumato: {missing}\n")
        return EXIT_BAD_INPUT
    found = [one.name for one in iter_modules(kernels.__path__, f"{kernels.__name__}.") if one.name.endswith("_kernel")]
    made = [subprocess.Popen([sys.executable, "-c", f"import {name}"]) for name in found]
    return max(one.wait() for one in made)


if __name__ == "__main__":
    sys.exit(main())
