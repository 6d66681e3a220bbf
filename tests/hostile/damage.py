"""Damages captures: each function takes a random generator and a file, and changes the file."""

import gzip
import json
import re
import shutil
import sqlite3

# Unexpected values for a column.
ODD = [None, "", "text", "12x", "-1", b"\x00\xff\xfe", b"{}", 1.5, -1, 0, 2**62, -(2**63), 2**63 - 1, 1e300, "nan", "9" * 40]
ODD_JSON = [
    "null", "true", '"text"', '""', "[]", "{}", "-1", "1e999", "1.5", "18446744073709551616", "9" * 40, "NaN", "-Infinity",
    '{"handle": 3}', '"\\ud800"', "[[[[[[]]]]]]", '{"handle": {"handle": {}}}',
]


def rewrite(path, change):
    content = bytearray(path.read_bytes())
    path.write_bytes(change(content))


def truncate(random, path):
    rewrite(path, lambda content: content[: random.randrange(len(content) + 1)])


def flip_bits(random, path):
    def change(content):
        for _ in range(random.choice([1, 2, 8, 64, 500])):
            content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        return content

    rewrite(path, change)


def overwrite(random, path):
    """A run of equal or random bytes over a stretch."""

    def change(content):
        start = random.randrange(len(content))
        length = min(random.choice([1, 4, 9, 64, 512, 4096]), len(content) - start)
        byte = random.choice([0x00, 0xFF, 0x81, 0x80, None])
        content[start : start + length] = random.randbytes(length) if byte is None else bytes([byte]) * length
        return content

    rewrite(path, change)


def cut_out(random, path):
    def change(content):
        start = random.randrange(len(content))
        del content[start : start + random.choice([1, 2, 5, 100, 3000])]
        return content

    rewrite(path, change)


def repeat_stretch(random, path):
    def change(content):
        start = random.randrange(len(content))
        stretch = content[start : start + random.choice([1, 10, 500, 5000])]
        at = random.randrange(len(content))
        return content[:at] + stretch + content[at:]

    rewrite(path, change)


def page_size(content):
    size = int.from_bytes(content[16:18], "big")
    return 65536 if size == 1 else max(size, 512)


def zero_page(random, path):
    def change(content):
        size = page_size(content)
        for _ in range(random.choice([1, 1, 2, 10])):
            page = random.randrange(len(content) // size)
            content[page * size : (page + 1) * size] = bytes(size)
        return content

    rewrite(path, change)


def swap_pages(random, path):
    def change(content):
        size = page_size(content)
        one, other = (random.randrange(len(content) // size) * size for _ in range(2))
        content[one : one + size], content[other : other + size] = content[other : other + size], content[one : one + size]
        return content

    rewrite(path, change)


def break_page(random, path):
    """Bytes of the header, the cell pointers or the first varints of a page."""

    def change(content):
        size = page_size(content)
        page = random.randrange(len(content) // size) * size
        start = page + (100 if page == 0 else 0)
        for _ in range(random.choice([1, 3, 9])):
            where = random.choice([random.randrange(12), random.randrange(8, 80), random.randrange(size - 100)])
            content[start + where] = random.choice([0, 0xFF, 0x80, 0x7F, random.randrange(256)])
        return content

    rewrite(path, change)


def break_header(random, path):
    def change(content):
        content[random.randrange(16, 100)] = random.choice([0, 1, 2, 0xFF, random.randrange(256)])
        return content

    rewrite(path, change)


def link_pages(random, path):
    """Page numbers that point back or anywhere."""

    def change(content):
        size = page_size(content)
        page = random.randrange(1, max(len(content) // size, 2)) * size
        target = random.randrange(len(content) // size + 3)
        where = random.choice([8, random.randrange(8, 60), random.randrange(size - 4)])
        content[page + where : page + where + 4] = target.to_bytes(4, "big")
        return content[: len(content)]

    rewrite(path, change)


def with_sql(path, change):
    """Applies a change of content; the database stays well formed."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    try:
        change(connection)
    finally:
        connection.close()


def tables_of(connection):
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return sorted(name for (name,) in rows)


def drop_table(random, path):
    def change(connection):
        for _ in range(random.choice([1, 1, 2, 6])):
            connection.execute(f'DROP TABLE "{random.choice(tables_of(connection))}"')

    with_sql(path, change)


def rename_column(random, path):
    def change(connection):
        table = random.choice(tables_of(connection))
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{random.choice(columns)}" TO "{random.choice(["x", "odd", "id2"])}"')

    with_sql(path, change)


def odd_values(random, path):
    def change(connection):
        for _ in range(random.choice([1, 3, 10])):
            table = random.choice(tables_of(connection))
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            rows = [row for (row,) in connection.execute(f'SELECT rowid FROM "{table}"')]
            chosen = random.sample(rows, min(len(rows), random.choice([1, 3, 1000])))
            for row in chosen:
                update = f'UPDATE OR IGNORE "{table}" SET "{random.choice(columns)}" = ? WHERE rowid = ?'
                try:
                    connection.execute(update, (random.choice(ODD), row))
                except sqlite3.Error:
                    pass

    with_sql(path, change)


def empty_table(random, path):
    def change(connection):
        table = random.choice(tables_of(connection))
        connection.execute(f'DELETE FROM "{table}" WHERE rowid % {random.choice([1, 2, 3])} = 0')

    with_sql(path, change)


def break_schema(random, path):
    def change(connection):
        connection.execute("PRAGMA writable_schema = ON")
        table = random.choice(tables_of(connection))
        column, value = random.choice(
            [("rootpage", 0), ("rootpage", 1), ("rootpage", 3), ("rootpage", 999999), ("rootpage", -1), ("rootpage", "x"),
             ("sql", "CREATE TABLE"), ("sql", None), ("sql", f'CREATE TABLE "{table}" (a, b)'), ("type", "view"),
             ("name", "rocpd_string_0"), ("name", b"\xff\xfe"), ("tbl_name", None)]
        )  # fmt: skip
        connection.execute(f"UPDATE sqlite_master SET {column} = ? WHERE name = ?", (value, table))

    with_sql(path, change)


DATABASE = [
    truncate, flip_bits, overwrite, zero_page, zero_page, swap_pages, break_page, break_page, break_page, break_header,
    link_pages, drop_table, drop_table, rename_column, odd_values, odd_values, odd_values, empty_table, break_schema,
]  # fmt: skip


def odd_json_values(random, path):
    text = path.read_text()
    places = [match.span(1) for match in re.finditer(r':\s*("[^"]*"|-?\d+|\{\}|\[\]|null)', text)]
    for start, end in sorted(random.sample(places, min(len(places), random.choice([1, 5, 50]))), reverse=True):
        text = text[:start] + random.choice(ODD_JSON) + text[end:]
    path.write_text(text)


def drop_json_keys(random, path):
    document = json.loads(path.read_text())
    for _ in range(random.choice([1, 2, 10])):
        own = document
        for _ in range(random.randrange(1, 8)):
            members = [value for value in (own.values() if isinstance(own, dict) else own) if isinstance(value, (dict, list)) and value]
            if not members:
                break
            own = random.choice(members)
        if isinstance(own, dict) and own:
            del own[random.choice(sorted(own))]
        elif isinstance(own, list) and own:
            del own[random.randrange(len(own))]
    path.write_text(json.dumps(document))


def odd_characters(random, path):
    def change(content):
        for _ in range(random.choice([1, 2, 20])):
            at = random.randrange(len(content))
            junk = random.choice([b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\x00", b"\xff", b"nan", b"\xc3"])
            content[at : at + random.choice([0, 1])] = junk
        return content

    rewrite(path, change)


def compress_and_break(random, path):
    """A file that is compressed and then damaged keeps its name: content decides what it is."""
    path.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    random.choice([truncate, flip_bits, cut_out, overwrite])(random, path)


JSON = [
    truncate, truncate, flip_bits, overwrite, cut_out, cut_out, repeat_stretch, odd_characters, odd_characters,
    odd_json_values, odd_json_values, odd_json_values, drop_json_keys, drop_json_keys, compress_and_break,
]  # fmt: skip


PERFETTO = [
    truncate, truncate, flip_bits, flip_bits, overwrite, cut_out, cut_out, repeat_stretch, compress_and_break,
]  # fmt: skip


def lines_of(path):
    return path.read_text(errors="replace").splitlines(keepends=True)


def ragged_rows(random, path):
    lines = lines_of(path)
    for _ in range(random.choice([1, 5, 40])):
        at = random.randrange(len(lines))
        fields = lines[at].rstrip("\n").split(",")
        if random.random() < 0.5:
            del fields[random.randrange(len(fields))]
        else:
            fields.insert(random.randrange(len(fields) + 1), random.choice(["", "x", '"', "1"]))
        lines[at] = ",".join(fields) + "\n"
    path.write_text("".join(lines))


def shuffled_rows(random, path):
    lines = lines_of(path)
    head, rest = (lines[:1], lines[1:]) if random.random() < 0.7 else ([], lines)
    random.shuffle(rest)
    path.write_text("".join(head + rest))


def odd_fields(random, path):
    lines = lines_of(path)
    for _ in range(random.choice([1, 5, 100])):
        at = random.randrange(len(lines))
        fields = lines[at].rstrip("\n").split(",")
        values = ["", "x", '"', '"a""b"', "0x1f", "1e30", "nan", "-5", "9" * 30, "\x00", "é", "Agent 99999999999999999999", "GPU -1"]
        fields[random.randrange(len(fields))] = random.choice(values)
        lines[at] = ",".join(fields) + "\n"
    path.write_text("".join(lines))


def line_ends(random, path):
    end = random.choice(["\r\n", "\r", "\n\n", "\n\r"])
    path.write_text("".join(line.replace("\n", end) for line in lines_of(path)), newline="")


CSV = [
    truncate, flip_bits, overwrite, cut_out, repeat_stretch, odd_characters, odd_characters, ragged_rows, ragged_rows,
    shuffled_rows, odd_fields, odd_fields, line_ends, compress_and_break,
]  # fmt: skip


def remove(random, path):
    path.unlink()


def other_part(random, path):
    """Another part in the place of this one."""
    others = [other for other in sorted(path.parent.parent.glob("*/part-*.parquet")) if other != path]
    shutil.copy(random.choice(others), path)


def other_format(random, path):
    path.write_bytes(random.choice([b"", b"PAR1", b"process,rank\n1,1\n", b"\x1f\x8b\x08", b"{}"]))


DATASET = [
    truncate, truncate, flip_bits, flip_bits, overwrite, overwrite, cut_out, repeat_stretch, remove, other_part, other_part,
    other_format, compress_and_break,
]  # fmt: skip
