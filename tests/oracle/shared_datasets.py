"""Datasets that several checks read: each is converted once, into a folder that the steps of a run share.

WAVESIEVE_SHARED_WORK names that folder. Without it a process has a folder of its own, which goes when it ends.
"""

import atexit
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

# Exit codes with which a dataset was written: done, and partial input.
WRITTEN = (0, 5)


class ConversionError(Exception):
    """The program wrote no dataset."""


@cache
def work():
    """The folder of the datasets."""
    if named := os.environ.get("WAVESIEVE_SHARED_WORK"):
        folder = Path(named).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    folder = Path(tempfile.mkdtemp(prefix="wavesieve-checks-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def dataset(binary, source, *options):
    """The dataset of an input that `convert` writes with these options. Who wants to change it takes a copy."""
    # Some answers name the files of an input as the input was named, so that its path stays as it is.
    binary, source = Path(binary).resolve(), Path(source)
    state = binary.stat()
    parts = (binary, state.st_mtime_ns, state.st_size, source, *options)
    key = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]
    path = work() / f"{source.name}-{key}"
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            command = [binary, "convert", source, "-o", path, "-q", *options]
            finished = subprocess.run([str(word) for word in command], capture_output=True, check=False)
            if finished.returncode not in WRITTEN:
                lines = finished.stderr.decode(errors="replace").strip().splitlines()
                raise ConversionError(f"exit {finished.returncode} from convert {source}: {lines[-1] if lines else 'no message'}")
    return path
