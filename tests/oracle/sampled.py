"""A database with telemetry, which no fixture has."""

import sqlite3
from contextlib import closing
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def sampled(folder):
    """A database with telemetry, named matrix products, steps of a server, fills, events of the driver and calls of MPI: no fixture has them."""
    suffix = "_00000135_fbe0_7be0_9db7_25c2efbbca00"
    words = {"{suffix}": suffix, "{guid}": suffix.strip("_").replace("_", "-"), "{version}": "3.0.0"}
    path = Path(folder) / "sampled_results.db"
    scripts = ["examples/generate_trace/schema.sql", "tests/cli/dialects/base.sql"]
    parts = ("clocks", "driver", "fills", "gemms", "counters", "inference", "links", "memory", "mpi", "power")
    scripts += [f"tests/cli/quality/{name}.sql" for name in parts]
    with closing(sqlite3.connect(path)) as connection:
        for script in scripts:
            sql = (REPOSITORY / script).read_text()
            for word, text in words.items():
                sql = sql.replace(word, text)
            connection.executescript(sql)
    return path
