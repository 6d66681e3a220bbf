"""The examples of the page for users."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent


def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fixtures").symlink_to(PACKAGE.parent / "fixtures")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
    assert len(examples) > 4
    for example in examples:
        exec(compile(example, "README.md", "exec"), names)


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)", (PACKAGE / "README.md").read_text()):
        assert (PACKAGE / target).exists(), target
