"""The inputs of the check: committed fixtures, and copies of them with rows that no fixture has."""

import shutil
import sqlite3
from pathlib import Path

from common import REPOSITORY
from sampled import sampled

FIXTURES = REPOSITORY / "fixtures"

# Names of inputs made from a fixture: the fixture, and functions that each add rows to one database of it, the `number`-th.
MADE = {}
# Names of inputs that a function writes into a folder.
WRITTEN = {"sampled": sampled}


def made(name, fixture):
    """Marks a function `add(connection, number)` that adds rows to the copy `name` of a fixture."""

    def mark(add):
        MADE.setdefault(name, (fixture, []))[1].append(add)
        return add

    return mark


def table(connection, base):
    """The table of a base name in a database of one process."""
    pattern = f"rocpd_{base}_0%"
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ?", (pattern,))
    return next(name for (name,) in found)


def columns(connection, base):
    return [row[1] for row in connection.execute(f'PRAGMA table_info("{table(connection, base)}")')]


def insert(connection, base, **values):
    """Adds a row, with the guid, node and process of the others; gives its id."""
    name, known = table(connection, base), columns(connection, base)
    process = table(connection, "info_process")
    guid, node, pid = connection.execute(f'SELECT guid, nid, pid FROM "{process}"').fetchone()
    shared = {"guid": guid, "nid": node, "pid": pid, "extdata": "{}"}
    row = {column: value for column, value in shared.items() if column in known} | values
    row.setdefault("id", (connection.execute(f'SELECT MAX(id) FROM "{name}"').fetchone()[0] or 0) + 1)
    fields = ", ".join(f'"{column}"' for column in row)
    connection.execute(f'INSERT INTO "{name}" ({fields}) VALUES ({", ".join("?" * len(row))})', tuple(row.values()))
    return row["id"]


def text(connection, value):
    """The id of a string, added where there is none."""
    name = table(connection, "string")
    found = connection.execute(f'SELECT id FROM "{name}" WHERE string = ?', (value,)).fetchone()
    return found[0] if found else insert(connection, "string", string=value)


def rows(connection, base):
    """Rows of a base table as dictionaries, by id."""
    cursor = connection.execute(f'SELECT * FROM "{table(connection, base)}" ORDER BY id')
    fields = [column[0] for column in cursor.description]
    return [dict(zip(fields, row)) for row in cursor]


def path_of(name, work):
    """The folder of an input; what is made of a fixture is made below `work` when it is first asked for."""
    folder = Path(work) / name
    if name in WRITTEN and not folder.exists():
        folder.mkdir()
        WRITTEN[name](folder)
    if name in WRITTEN:
        return folder
    if name not in MADE:
        return FIXTURES / name
    if not folder.exists():
        fixture, additions = MADE[name]
        import_fixture(FIXTURES / fixture, folder, Path(work))
        for number, path in enumerate(sorted(folder.rglob("*.db"))):
            connection = sqlite3.connect(path)
            for add in additions:
                add(connection, number)
            connection.commit()
            connection.close()
    return folder


def import_fixture(fixture, folder, work):
    from .source import database_files

    for file in database_files(fixture, work):
        base = fixture if file.is_relative_to(fixture) else work / "unpacked" / fixture.name
        target = folder / file.relative_to(base)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
