"""Compiled templates are kept beside their sources, as Python keeps compiled modules."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket, FileSystemBytecodeCache


class TemplateCache(BytecodeCache):
    """Compiled templates in ``__pycache__`` of a folder; where nothing can be written, they are compiled every time.

    A template that changed is compiled anew: its compiled form has the digest of its source.
    """

    def __init__(self, folder: Path) -> None:
        """Keep them under a folder of templates."""
        self.files = FileSystemBytecodeCache(str(folder / "__pycache__"))

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is there."""
        with suppress(OSError):
            self.files.load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it, where that can be done and Python is not told to write no compiled files."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.files.directory).mkdir(exist_ok=True)
                self.files.dump_bytecode(bucket)
