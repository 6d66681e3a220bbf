"""Runs the program: `python -m wavesieve info traces/`."""

from __future__ import annotations

import os
import subprocess
import sys

from .errors import ProgramNotFoundError
from .program import find_program


def main() -> int:
    """Replaces this process by the program, or runs it where a process cannot be replaced."""
    try:
        program = find_program()
    except ProgramNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    arguments = [program, *sys.argv[1:]]
    if sys.platform == "win32":
        return subprocess.call(arguments)
    os.execv(program, arguments)


if __name__ == "__main__":
    sys.exit(main())
