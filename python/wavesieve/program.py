"""Finds the program and runs it: no shell, arguments as a list, results through a pipe."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Sequence
from io import FileIO
from pathlib import Path
from typing import cast

from .errors import ProgramNotFoundError
from .messages import check

NAME = "wavesieve.exe" if sys.platform == "win32" else "wavesieve"
VARIABLE = "WAVESIEVE_BINARY"
# Large results need fewer switches between the processes. The system may refuse it.
_PIPE_BYTES = 1 << 20
_SECONDS_TO_CLEAN_UP = 5.0


def find_program() -> str:
    """The path of the program.

    It is looked for in this package (`wavesieve/bin`), in the variable `WAVESIEVE_BINARY`, among the scripts of this
    Python environment, and on PATH, in this order.
    """
    bundled = Path(__file__).parent / "bin" / NAME
    if _is_program(bundled):
        return str(bundled)
    if named := os.environ.get(VARIABLE):
        if _is_program(Path(named)):
            return named
        raise ProgramNotFoundError(f"{VARIABLE} names {named}, which is not a program; correct or unset it")
    script = Path(sysconfig.get_path("scripts")) / NAME
    if _is_program(script):
        return str(script)
    if found := shutil.which(NAME):
        return found
    raise ProgramNotFoundError(
        f"the program {NAME} is not installed; run `pip install wavesieve`, or set {VARIABLE} to its path"
    )


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


class Run:
    """A running program. `output` is its standard output; `finish` waits for its end and raises what went wrong.

    With `file`, its standard output is that open file, and `output` is empty.
    """

    def __init__(self, arguments: Sequence[str], file: int | None = None) -> None:
        self._process = subprocess.Popen(
            [find_program(), "--color=never", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if file is None else file,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.pid = self._process.pid
        if file is None:
            self.output = cast(FileIO, self._process.stdout)
            _enlarge(self.output)
        else:
            self.output = open(os.devnull, "rb", buffering=0)  # noqa: SIM115
        self._messages = _Messages(cast(FileIO, self._process.stderr))

    def read(self) -> bytes:
        """All that is left of the result; stops the program if this is interrupted."""
        try:
            return self.output.readall()
        except BaseException:
            self.stop()
            raise

    def finish(self, accepted: tuple[int, ...] = ()) -> int:
        """Waits for the end, warns and raises; returns the exit code."""
        try:
            code = self._process.wait()
            text = self._messages.wait()
        except BaseException:
            self.stop()
            raise
        self._close()
        check(code, text, accepted)
        return code

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Ends the program, which removes its temporary files first."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_SECONDS_TO_CLEAN_UP)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._messages.wait(_SECONDS_TO_CLEAN_UP)
        self._close()

    def _close(self) -> None:
        self.output.close()

    def __del__(self) -> None:
        # The program would wait forever for a caller that does not read a result to its end.
        with contextlib.suppress(Exception):
            self.stop()


class _Messages:
    """Standard error, read beside the result: a full pipe would stop the program."""

    def __init__(self, pipe: FileIO) -> None:
        self._text = b""
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def _read(self, pipe: FileIO) -> None:
        with pipe, contextlib.suppress(ValueError, OSError):
            self._text = pipe.readall()

    def wait(self, seconds: float | None = None) -> str:
        """All of it."""
        self._thread.join(seconds)
        return self._text.decode("utf-8", "replace")


def run(arguments: Sequence[str], accepted: tuple[int, ...] = ()) -> tuple[bytes, int]:
    """Runs the program to its end; returns its result and its exit code. Codes in `accepted` are no errors."""
    running = Run(arguments)
    result = running.read()
    return result, running.finish(accepted)


def _enlarge(pipe: FileIO) -> None:
    try:
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        pass
