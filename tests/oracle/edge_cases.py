"""Makes captures with hard cases out of those of fixtures/two_nodes."""

import shutil
import sqlite3
from pathlib import Path

from common import REPOSITORY, database_files

FIXTURE = REPOSITORY / "fixtures" / "two_nodes"


def table_named(connection, base):
    pattern = f"{base}_0%"
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ?", (pattern,))
    return next(name for (name,) in found)


def set_durations(connection, durations):
    """Gives the dispatches these durations, in turn."""
    table = table_named(connection, "rocpd_kernel_dispatch")
    rows = [row for (row,) in connection.execute(f'SELECT id FROM "{table}" ORDER BY id')]
    for number, row in enumerate(rows):
        duration = durations[number % len(durations)]
        connection.execute(f'UPDATE "{table}" SET "end" = "start" + ? WHERE id = ?', (duration, row))


def forget_process_times(connection):
    """Without them no time is too far away to be valid."""
    table = table_named(connection, "rocpd_info_process")
    connection.execute(f'UPDATE "{table}" SET init = NULL, fini = NULL, start = NULL, "end" = NULL')


def delete(connection, *bases):
    for base in bases:
        connection.execute(f'DELETE FROM "{table_named(connection, base)}"')


def powers_of_two(connection, number):
    """Durations at, before and after powers of two, up to the greatest whose sum can be counted."""
    forget_process_times(connection)
    exponents = [range(1, 19), range(19, 37), range(37, 55), range(40, 58)][number]
    set_durations(connection, [2**exponent + step for exponent in exponents for step in (-1, 0, 1)] + [0] * 18)


def enormous(connection, number):
    forget_process_times(connection)
    set_durations(connection, [2**60 - 1 + number, *[1] * 71])


def equal(connection, _):
    set_durations(connection, [5_000])


def on_the_edges(connection, number):
    """Durations that are exact multiples of the width of a bin, and those a nanosecond beside them."""
    first = 72 * number
    set_durations(connection, [560 + 33 * (place // 3) + place % 3 - 1 for place in range(first, first + 72)])


def one_rank_without_work(connection, number):
    if number == 2:
        delete(connection, "rocpd_kernel_dispatch", "rocpd_memory_copy")


def copies_alone(connection, _):
    delete(connection, "rocpd_kernel_dispatch")


def no_work(connection, _):
    delete(connection, "rocpd_kernel_dispatch", "rocpd_memory_copy")


def copies_without_sizes(connection, number):
    """Every second copy has no size, runs longer, and begins while another one runs; of the last capture all have none."""
    table = table_named(connection, "rocpd_memory_copy")
    rows = list(connection.execute(f'SELECT id, "start", "end" FROM "{table}" ORDER BY name_id, "start"'))
    for place, (row, start, end) in enumerate(rows):
        if place % 2 == 1 or number == 3:
            earlier = rows[place - 1][1] if place > 0 else start
            values = (-1 - place, min(start, earlier + 7), end + 3 * (end - start), row)
            connection.execute(f'UPDATE "{table}" SET size = ?, "start" = ?, "end" = ? WHERE id = ?', values)


CASES = (powers_of_two, enormous, equal, on_the_edges, one_rank_without_work, copies_alone, no_work, copies_without_sizes)


def make(work):
    """The folders with the cases, made below `work`."""
    folders = []
    for case in CASES:
        folder = Path(work) / case.__name__
        shutil.copytree(FIXTURE, folder)
        for number, path in enumerate(database_files(folder)):
            connection = sqlite3.connect(path)
            case(connection, number)
            connection.commit()
            connection.close()
        folders.append(folder)
    return folders
