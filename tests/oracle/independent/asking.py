"""Asks the program: all queries that share an input and options are answered in one start."""

import json
import subprocess
import tempfile
from pathlib import Path

from common import ANSWERED, BinaryError


def ask(binary, names, path, words, extra=()):
    """Records by query; a query that failed has the reason as text."""
    if len(names) == 1:
        return {names[0]: ask_one(binary, names[0], path, words, extra)}
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers"
        finished = run(binary, [*extra, "table", ",".join(names), path, *words, "-q", "-f", "json", "-o", answers])
        if finished.returncode not in ANSWERED:
            # One query that cannot have an option would hide all others.
            return {name: ask_one(binary, name, path, words, extra) for name in names}
        found = {}
        for name in names:
            file = answers / f"{name}.json"
            found[name] = json.loads(file.read_text()) if file.exists() else finished.stderr.decode(errors="replace").strip()
        return found


def ask_one(binary, name, path, words, extra=()):
    finished = run(binary, [*extra, "table", name, path, *words, "-q", "-f", "json"])
    if finished.returncode == 3:
        return []
    if finished.returncode not in ANSWERED:
        message = finished.stderr.decode(errors="replace").strip().splitlines()
        return f"exit {finished.returncode}: {message[-1] if message else 'no message'}"
    return json.loads(finished.stdout)


def run(binary, words):
    command = [str(Path(binary).resolve()), *map(str, words)]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=600)
    except OSError as error:
        raise BinaryError(str(error)) from error
