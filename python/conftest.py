"""Runs tests and examples in the directory of the project, where the fixtures are."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))


def _shared_datasets() -> ModuleType:
    """What converts inputs once for all checks."""
    path = PROJECT / "tests" / "oracle" / "shared_datasets.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _in_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    kept = ("WAVESIEVE_BINARY", "WAVESIEVE_SHARED_WORK")
    for name in [name for name in os.environ if name.startswith("WAVESIEVE_") and name not in kept]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def converted() -> Callable[[str], Path]:
    """The dataset of a fixture with all derived tables, made by the program without this package."""
    from wavesieve import find_program

    # A test may name another program.
    program, shared = str(Path(find_program()).absolute()), _shared_datasets()
    # By the name that tests give it, which is in the table of its health.
    return lambda name: shared.dataset(program, Path("fixtures") / name, "--with", "all")
