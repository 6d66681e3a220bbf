"""The optional libraries: which one decodes a result, and what to install if one is missing."""

from __future__ import annotations

import importlib
import io
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from .ipc import is_file

if TYPE_CHECKING:
    import polars

# Readers of Arrow streams, in the order in which they are tried.
READERS = ("pyarrow", "polars", "nanoarrow", "arro3.io")


class ArrowStream(Protocol):
    """An object of the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an Arrow C stream."""


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Imports a library, or names the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        text = f"{purpose} needs {module.partition('.')[0]}; run `pip install 'wavesieve[{extra}]'`"
        raise ImportError(text, name=module) from error


def reader() -> str:
    """The library that reads Arrow streams: one that is loaded already, otherwise the first that is installed."""
    for name in READERS:
        if name in sys.modules:
            return name
    for name in READERS:
        if find_spec(name.partition(".")[0]) is not None and _is_there(name):
            return name
    raise ImportError(
        "reading Arrow data needs pyarrow, polars, nanoarrow or arro3-io; run `pip install 'wavesieve[pyarrow]'` or "
        "`pip install 'wavesieve[polars]'`"
    )


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def polars_frame(data: bytes) -> polars.DataFrame:
    """An IPC file or stream as a data frame of polars, which reads files with fewer copies."""
    pl = require("polars", "polars", "to_polars()")
    read = pl.read_ipc if is_file(data) else pl.read_ipc_stream
    frame: polars.DataFrame = read(io.BytesIO(data))
    return frame


def arrow_object(stream: memoryview) -> ArrowStream:
    """An IPC stream in memory as an object with `__arrow_c_stream__`."""
    name = reader()
    if name == "pyarrow":
        ipc = importlib.import_module("pyarrow.ipc")
        return cast(ArrowStream, ipc.open_stream(importlib.import_module("pyarrow").py_buffer(stream)))
    if name == "polars":
        return cast(ArrowStream, importlib.import_module("polars").read_ipc_stream(io.BytesIO(stream)))
    if name == "nanoarrow":
        ipc = importlib.import_module("nanoarrow.ipc")
        return cast(ArrowStream, ipc.InputStream.from_readable(io.BytesIO(stream)))
    return cast(ArrowStream, importlib.import_module("arro3.io").read_ipc_stream(io.BytesIO(stream)))
