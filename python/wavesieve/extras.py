"""The optional libraries: what to install if one is missing."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from types import ModuleType


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Imports a library, or names the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        text = f"{purpose} needs {module.partition('.')[0]}; run `pip install 'wavesieve[{extra}]'`"
        raise ImportError(text, name=module) from error


def is_installed(library: str) -> bool:
    """Whether a library can be imported."""
    return find_spec(library) is not None
