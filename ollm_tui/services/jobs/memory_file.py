"""Files without a name, in memory where the system has that, by which jobs get their code."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def memory_file(name: str, content: bytes = b"") -> int:
    """A descriptor of a nameless file with this content, positioned at its start."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    else:  # macOS: on disk, readable by the user alone, and gone with its last descriptor
        descriptor, path = tempfile.mkstemp(prefix=f"{name}-")
        Path(path).unlink()
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
