"""One table of a trace as an Arrow stream."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from io import FileIO
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, cast

from .answer import Answer
from .arrow import ArrowStream, arrays_of, stream_of
from .columns import Columns
from .errors import WavesieveError
from .extras import is_installed, require
from .frames import pandas_frame
from .program import Run, run
from .shared import run_shared

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


# From so many bytes on, memory is taken from Arrow.
_LARGE_BYTES = 1 << 16
# Ends a stream.
_END = b"\xff\xff\xff\xff\0\0\0\0"


class TableStream:
    """A table of a trace, which is read each time it is used.

    Where there is pyarrow, the table is taken when it is complete, from memory that the program and Python share.
    `batches` and `frames` give it part by part while the program writes it.

    >>> import polars, wavesieve
    >>> kernels = wavesieve.open("fixtures/two_nodes")["kernels"]
    >>> kernels.columns["duration_ns"].unit
    'ns'
    >>> polars.DataFrame(kernels).height
    288
    """

    def __init__(self, name: str, arguments: list[str], columns: Callable[[], Columns]) -> None:
        self.name = name
        self._arguments = arguments
        self._columns = columns

    @property
    def columns(self) -> Columns:
        """The columns with types, units and meanings."""
        return self._columns()

    def read(self) -> Answer:
        """The whole table in memory."""
        data, _ = run(self._arguments)
        return Answer(data, f"SELECT * FROM {self.name}", described=dict(self.columns))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow C stream."""
        if is_installed("pyarrow"):
            return cast(ArrowStream, self._complete()).__arrow_c_stream__(requested_schema)
        schema, *arrays = _schema_and_arrays(self._arguments)
        return stream_of(schema, arrays).__arrow_c_stream__()

    def _complete(self) -> pyarrow.RecordBatchReader:
        """The table in shared memory; by its batches where that is not possible."""
        shared = run_shared(self._arguments)
        if shared is None:
            return self.batches()
        pa = importlib.import_module("pyarrow")
        source = importlib.import_module("pyarrow.ipc").open_stream(pa.py_buffer(shared))
        return cast("pyarrow.RecordBatchReader", source)

    def batches(self) -> pyarrow.RecordBatchReader:
        """The table as a reader of pyarrow, while the program writes it."""
        pa = importlib.import_module("pyarrow")
        running = Run(self._arguments)
        try:
            source = importlib.import_module("pyarrow.ipc").open_stream(_Pipe(running))
        except Exception:
            # The report of the program is clearer than what Arrow misses.
            running.read()
            running.finish()
            raise
        reader = pa.RecordBatchReader.from_batches(source.schema, _until_end(source, running))
        return cast("pyarrow.RecordBatchReader", reader)

    def frames(self) -> Iterator[polars.DataFrame]:
        """The table as data frames of polars, one after another while the program writes them; at least one.

        >>> import wavesieve
        >>> kernels = wavesieve.open("fixtures/two_nodes")["kernels"]
        >>> sum(frame["duration_ns"].sum() for frame in kernels.frames())
        34047216
        """
        return read_frames(self._arguments)

    def to_polars(self) -> polars.DataFrame:
        """The table as a data frame of polars."""
        pl = require("polars", "polars", "to_polars()")
        return cast("polars.DataFrame", pl.concat(list(self.frames()), rechunk=False))

    def to_arrow(self) -> pyarrow.Table:
        """The table as a table of pyarrow."""
        require("pyarrow", "pyarrow", "to_arrow()")
        return self._complete().read_all()

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame of pandas; whole numbers stay whole where some are missing, in `Int64` columns."""
        require("pandas", "pandas", "to_pandas()")
        require("pyarrow", "pandas", "to_pandas()")
        return pandas_frame(self.to_arrow())

    def __repr__(self) -> str:
        return f"table {self.name}\n{self.columns!r}"


def read_frames(arguments: list[str]) -> Iterator[polars.DataFrame]:
    """The result of a command in Arrow as data frames of polars, while the program writes it; at least one."""
    pl = require("polars", "polars", "this")
    with closing(_schema_and_arrays(arguments)) as parts:
        schema, *first = islice(parts, 2)
        if not first:
            yield pl.DataFrame(stream_of(schema, []))
        for array in chain(first, parts):
            yield pl.DataFrame(array)


def _schema_and_arrays(arguments: list[str]) -> Generator[Any, None, None]:
    """The schema of a result, and its batches while the program writes them."""
    running = Run(arguments)
    source = _Source(running)
    try:
        reason = "the stream breaks off"
        try:
            arrays = arrays_of(source)
            yield arrays.get_schema()
            yield from arrays
        except RuntimeError as error:
            reason = str(error)
        if source.interruption is not None:
            raise source.interruption
        # If the program failed, its report is clearer.
        running.read()
        running.finish()
        if not source.is_complete:
            raise WavesieveError(f"the result of wavesieve is incomplete: {reason}")
    finally:
        running.stop()


class _Source:
    """The output of the program as nanoarrow reads it: in whole pieces, and without exceptions, which it drops."""

    def __init__(self, running: Run) -> None:
        self._output = running.output
        self._last = b""
        # What interrupted a read, as Ctrl-C does.
        self.interruption: BaseException | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the mark at the end of a stream was read."""
        return self._last == _END

    def readinto(self, buffer: Any) -> int:
        """So many bytes, fewer at the end only."""
        try:
            view = memoryview(buffer)
            filled = _fill(self._output, view)
            self._last = bytes(memoryview(buffer)[: filled]) if filled <= len(_END) else b""
            return filled
        except BaseException as error:
            self.interruption = error
            return 0


def _until_end(source: Any, running: Run) -> Iterator[Any]:
    """The batches; afterwards what the program reported."""
    try:
        yield from source
        running.read()
        running.finish()
    except (importlib.import_module("pyarrow").ArrowInvalid, OSError):
        # The program ended early; its report is clearer.
        running.read()
        running.finish()
        raise
    finally:
        running.stop()


class _Pipe:
    """The output of the program as a file for pyarrow."""

    def __init__(self, running: Run) -> None:
        self._output = running.output
        self._allocate = importlib.import_module("pyarrow").allocate_buffer
        self.closed = False

    def read(self, size: int = -1) -> Any:
        """So many bytes, fewer at the end only."""
        if size < 0:
            return self._output.readall()
        # Python would write zeros to all of its own memory first.
        memory = self._allocate(size) if size >= _LARGE_BYTES else bytearray(size)
        filled = _fill(self._output, memoryview(memory))
        return memory if filled == size else memoryview(memory)[:filled].tobytes()

    def readable(self) -> bool:
        """It is."""
        return True

    def close(self) -> None:
        """Nothing is closed here: the program is waited for elsewhere."""
        self.closed = True


def _fill(output: FileIO, view: memoryview) -> int:
    """Reads until the view is full or nothing is left; returns how many bytes were read."""
    filled = 0
    with view:
        while filled < len(view):
            count = output.readinto(view[filled:])
            if not count:
                break
            filled += count
    return filled
