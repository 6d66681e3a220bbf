"""Zeroes the pages of every table of a database, one at a time: what changes an answer is reported with exit code 5.

A page that was never written, or whose sectors were lost, is zeros. `check` must report each of them, `info` those of the b-trees; an
answer of `table` is the same as before, or the file is named and the exit code is 5.
"""

import concurrent.futures
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

LEAF, INTERIOR = 13, 5
QUERIES = [
    "kernel_summary", "kernel_details", "api_summary", "copy_summary", "time_breakdown", "rank_summary", "kernel_by_category", "queue_depth",
    "memory_high_water", "idle_by_cause", "launch_trace", "overlap",
]  # fmt: skip


def varint(content, at):
    number = 0
    for place in range(9):
        byte = content[at + place]
        if place == 8:
            return number << 8 | byte, at + 9
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + place + 1
    raise AssertionError


def chain(content, size, page):
    """The pages on which a long record continues."""
    while page:
        yield page
        page = int.from_bytes(content[(page - 1) * size : (page - 1) * size + 4], "big")


def pages_of(content, root):
    """All pages of the table whose root is given, with those of its long records, and whether each is one of these."""
    size = int.from_bytes(content[16:18], "big")
    start = (root - 1) * size
    cells = int.from_bytes(content[start + 3 : start + 5], "big")
    interior = content[start] == INTERIOR
    pointers = start + (12 if interior else 8)
    yield root, False
    for cell in range(cells):
        at = start + int.from_bytes(content[pointers + 2 * cell : pointers + 2 * cell + 2], "big")
        if interior:
            yield from pages_of(content, int.from_bytes(content[at : at + 4], "big"))
            continue
        total, at = varint(content, at)
        _, at = varint(content, at)
        most = size - 35
        if total > most:
            least = (size - 12) * 32 // 255 - 23
            local = least + (total - least) % (size - 4)
            local = local if local <= most else least
            for page in chain(content, size, int.from_bytes(content[at + local : at + local + 4], "big")):
                yield page, True
    if interior:
        yield from pages_of(content, int.from_bytes(content[start + 8 : start + 12], "big"))


def tables_of(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    roots = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_%'").fetchall()
    filled = [(name, root) for name, root in roots if connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()]
    connection.close()
    return filled


def run(binary, arguments):
    return subprocess.run([binary, *map(str, arguments)], capture_output=True, timeout=60, check=False)


def answers(binary, inputs, output):
    """The answers of many queries, and how the run ended."""
    finished = run(binary, ["table", ",".join(QUERIES), inputs, "-f", "csv", "-o", output])
    found = {path.name: path.read_bytes() for path in sorted(output.iterdir())} if output.is_dir() else {}
    return finished, found


def two_ranks(base, folder):
    """Copies a good rank and one that is to be damaged, whose file is returned."""
    for rank in ["rank0", "rank1"]:
        shutil.copytree(base / rank, folder / rank)
    return next((folder / "rank1").iterdir())


def problem(binary, base, work, before, table, page, is_of_record):
    """What is wrong with runs over a database whose page is zeroed, if anything."""
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        inputs, output = pathlib.Path(scratch, "inputs"), pathlib.Path(scratch, "output")
        path = two_ranks(base, inputs)
        content = bytearray(path.read_bytes())
        size = int.from_bytes(content[16:18], "big")
        content[(page - 1) * size : page * size] = bytes(size)
        path.write_bytes(content)
        for verb in ["check"] if is_of_record else ["info", "check"]:
            finished = run(binary, [verb, inputs, "-q"])
            if finished.returncode not in (4, 5) or path.name not in finished.stderr.decode():
                return f"{verb} of {table}, page {page}: exit {finished.returncode}: {finished.stderr.decode()[-300:]}"
        finished, after = answers(binary, inputs, output)
        is_told = finished.returncode == 5 and path.name in finished.stderr.decode()
        if not is_told and (finished.returncode != 0 or after != before):
            differ = [name for name in before if after.get(name) != before[name]]
            return f"table over {table}, page {page}: exit {finished.returncode}, {differ}: {finished.stderr.decode()[-300:]}"
    return None


def problems(binary, base, form, work):
    """All that is wrong with runs over the databases in the folders of ranks below `base`, and how many there were."""
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        inputs, output = pathlib.Path(scratch, "inputs"), pathlib.Path(scratch, "output")
        path = two_ranks(base, inputs)
        finished, before = answers(binary, inputs, output)
        assert finished.returncode == 0 and len(before) >= len(QUERIES), finished.stderr.decode()
        content = path.read_bytes()
        cases = [(table, *page) for table, root in tables_of(path) for page in pages_of(content, root)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda case: problem(binary, base, work, before, *case), cases))
    return [([f"{form} zeroed"], text) for text in found if text], len(cases)
