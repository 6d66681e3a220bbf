"""Copies rocpd databases and gives every name in them a tail that harms pages that do not escape it: hostile_names.py FROM TO"""

import shutil
import sqlite3
import sys
from pathlib import Path

TAILS = [
    '</script><script>window.harmed = 1</script>',
    '<img src=x onerror="window.harmed = 1">',
    '"><svg onload=window.harmed=1>',
    "' onmouseover='window.harmed=1",
    '<!-- &lt;script&gt; --> &amp; &#60;b&#62;',
    '{{ 7 * 7 }} {% include "page.html" %} ${7*7}',
    '\u2028\u2029\u202egnp.exe\u202c \u200b\ufeff',
    '\x01\x08\x1b[31m\t\n end',
    '</style></title></textarea><base href=//example.invalid>',
    'größe<矩阵, ' + 'very::long::' * 40 + '>',
]


def rename(path):
    database = sqlite3.connect(path)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {"rocpd_info_kernel_symbol": ("kernel_name", "display_name"), "rocpd_info_node": ("hostname",), "rocpd_string": ("string",)}
    for table in tables:
        for prefix, names in columns.items():
            if not table.startswith(prefix):
                continue
            for name in names:
                rows = database.execute(f"SELECT id, {name} FROM {table} WHERE {name} IS NOT NULL").fetchall()
                for place, (row, text) in enumerate(rows):
                    # Texts that distinguish kinds of rows must stay; calls and markers have other names.
                    if prefix == "rocpd_string" and (text.isupper() or text.startswith(("hip", "roctx", "{"))):
                        continue
                    database.execute(f"UPDATE {table} SET {name} = ? WHERE id = ?", (text + TAILS[place % len(TAILS)], row))
    database.commit()
    database.close()


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    for path in sorted(source.rglob("*.db")):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(0o644)
        rename(copy)


if __name__ == "__main__":
    main()
