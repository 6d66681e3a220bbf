"""Runs the Python code of the README and the guide in a folder with a dataset."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def programs(page):
    """The fenced blocks of Python of a page."""
    found, lines = [], None
    for line in page.read_text().splitlines():
        if lines is None:
            lines = [] if line == "```python" else None
        elif line == "```":
            found.append("\n".join(lines))
            lines = None
        else:
            lines.append(line)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    binary = parser.parse_args().binary.resolve()
    pages = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
    code = [(page.name, program) for page in pages for program in programs(page)]
    if not code:
        sys.exit("guide_python: no page shows Python; the test would check nothing")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        convert = [binary, "convert", ROOT / "fixtures/two_nodes", "-o", "dataset", "--quiet"]
        subprocess.run(convert, cwd=folder, env={**os.environ, "XDG_CONFIG_HOME": folder}, check=True)
        for name, program in code:
            run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
            if run.returncode:
                failed += 1
                print(f"guide_python: {name}:\n{program}\n{run.stderr}")
    print(f"guide_python: {len(code)} programs, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
