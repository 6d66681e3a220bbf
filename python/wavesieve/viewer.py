"""The time line in a browser or a notebook: the program serves it on this machine."""

from __future__ import annotations

import html
from collections.abc import Sequence
from types import TracebackType
from typing import cast

from .errors import WavesieveError
from .program import Run


class View:
    """A running `wavesieve view`. Notebooks show it in a frame; `url` opens it in a browser. `close` ends it.

    It also ends with this object, and with the block of a `with` statement.
    """

    def __init__(self, arguments: Sequence[str], height: int) -> None:
        self.height = height
        self._run = Run(arguments)
        try:
            line = self._line()
        except BaseException:
            self._run.stop()
            raise
        if not line:
            # The program ended, and says why.
            self._run.finish()
            raise WavesieveError("the program ended without an address", None)
        #: Address with its token, which only this machine reaches.
        self.url = line

    def _line(self) -> str:
        line = b""
        while not line.endswith(b"\n"):
            byte = cast(bytes, self._run.output.read(1))
            if not byte:
                break
            line += byte
        return line.decode().strip()

    @property
    def is_open(self) -> bool:
        """Whether the program still runs."""
        return self._run.is_running

    def close(self) -> None:
        """Ends the program."""
        self._run.stop()

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<wavesieve view at {self.url}>" if self.is_open else "<wavesieve view, closed>"

    def _repr_html_(self) -> str:
        if not self.is_open:
            return "<p>The view is closed; run the cell again.</p>"
        address = html.escape(self.url, quote=True)
        return (
            f'<iframe src="{address}" title="wavesieve view" width="100%" height="{int(self.height)}" '
            'style="border:1px solid #8884;border-radius:6px" allow="clipboard-write"></iframe>'
            f'<p><a href="{address}" target="_blank" rel="noreferrer">Open in a window</a></p>'
        )
