"""Make the machine code of all compiled loops ahead: ``python -m sfumato.core.kernels``, once after installing.

Without it the first release of paths or sets takes some seconds more.
"""

from __future__ import annotations

import subprocess
import sys
from pkgutil import iter_modules

from sfumato.core import kernels
from sfumato.core.errors import EXIT_BAD_INPUT, MissingExtra
from sfumato.core.extras import extra


def main() -> int:
    """Importing a module compiles it: each in a process of its own."""
    try:
        extra("numba", "compiling")
    except MissingExtra as missing:
        sys.stderr.write(f"sfumato: {missing}\n")
        return EXIT_BAD_INPUT
    modules = [module.name for module in iter_modules(kernels.__path__) if module.name not in ("__main__", "compiler")]
    compilers = [subprocess.Popen([sys.executable, "-c", f"import {kernels.__name__}.{name}"]) for name in modules]
    return max(compiler.wait() for compiler in compilers)


if __name__ == "__main__":
    sys.exit(main())
