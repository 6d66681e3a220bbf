"""Runs tests and examples in the directory of the project, where the fixtures are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(autouse=True)
def _in_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    for name in [name for name in os.environ if name.startswith("WAVESIEVE_") and name != "WAVESIEVE_BINARY"]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The dataset of a fixture with all derived tables, made by the program without this package."""
    folder = tmp_path_factory.mktemp("datasets")

    def convert(name: str) -> Path:
        path = folder / name
        if not path.exists():
            from wavesieve import find_program

            command = [find_program(), "-q", "convert", f"fixtures/{name}", "-o", str(path), "--with", "all"]
            subprocess.run(command, check=True, cwd=PROJECT)
        return path

    return convert
