"""Runs tests and examples in the directory of the project, where the fixtures are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(autouse=True)
def _in_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    for name in ("WAVESIEVE_UNIT", "WAVESIEVE_CACHE"):
        monkeypatch.delenv(name, raising=False)
