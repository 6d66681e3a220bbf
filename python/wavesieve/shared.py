"""Results in memory that the program writes and Python reads in place: they pass no pipe and are not copied."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
from collections.abc import Sequence

from .errors import WavesieveError
from .program import Run


def run_shared(arguments: Sequence[str]) -> mmap.mmap | None:
    """Runs the program to its end; returns its result.

    None where the system has no such memory, or the result needs more than half of what is available: a pipe has to
    carry it.
    """
    if sys.platform != "linux" or not (most_bytes := _available_bytes() // 2):
        return None
    import resource

    try:
        memory = os.memfd_create("wavesieve", os.MFD_CLOEXEC)
    except OSError:
        return None
    try:
        running = Run(arguments, memory)
        with contextlib.suppress(OSError):
            resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        try:
            running.finish()
        except WavesieveError:
            if os.fstat(memory).st_size < most_bytes:
                raise
            # The result reached the limit.
            return None
        return mmap.mmap(memory, 0, prot=mmap.PROT_READ) if os.fstat(memory).st_size else None
    finally:
        os.close(memory)


def _available_bytes() -> int:
    """What the machine and the group of this process leave; 0 if that is unknown."""
    available = 0
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as lines:
        available = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
    with contextlib.suppress(OSError, ValueError):
        limit, used = (int(_text(f"/sys/fs/cgroup/memory.{name}")) for name in ("max", "current"))
        available = min(available, max(limit - used, 0))
    return available


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()
