"""The examples of the pages for users. Their links are checks of tests/documents/site_check.py and tests/cli/pages.rs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [PROJECT / "README.md", PROJECT / "python" / "README.md", *sorted((PROJECT / "docs" / "guide").glob("*.md"))]


def examples(page: Path) -> list[str]:
    """The fenced blocks of Python of a page."""
    return re.findall(r"^```py(?:thon)?\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def test_pages_have_examples() -> None:
    counts = {page.relative_to(PROJECT).as_posix(): len(examples(page)) for page in PAGES}
    assert counts["python/README.md"] > 4 and counts["docs/guide/python.md"] > 4 and counts["docs/guide/datasets.md"]


# Examples may leave it to Python to close a file.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_examples_run(
    page: Path, converted: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fixtures").symlink_to(PROJECT / "fixtures")
    # The guide about datasets reads the one that it converts before.
    if "dataset" in page.stem:
        (tmp_path / "dataset").symlink_to(converted("two_nodes").absolute())
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in examples(page):
        exec(compile(example, page.name, "exec"), names)
