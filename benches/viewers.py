#!/usr/bin/env python3
"""Time lines for viewers: `convert --to pftrace`, `otf2`, `chrome-json`, and databases by `trim` and `merge`, beside what people do today.

Peers: the protobuf library of PyPI's `perfetto` writing a slice for each kernel and call of a database of a tenth, and SQLite's
`ATTACH` with `INSERT … SELECT` of every table.
"""
import argparse
import json
import pathlib
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

SLICES = 'SELECT s.display_name, k.start, k."end", k.queue_id FROM "{kernels}" k JOIN "{symbols}" s ON s.id = k.kernel_id ORDER BY k.start'
CALLS = 'SELECT s.string, r.start, r."end", r.tid FROM "{regions}" r JOIN "{strings}" s ON s.id = r.name_id ORDER BY r.start'


def tables(database):
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    find = lambda prefix: next(name for name in names if name.startswith(prefix))
    return {"kernels": find("rocpd_kernel_dispatch"), "symbols": find("rocpd_info_kernel_symbol"),
            "regions": find("rocpd_region"), "strings": find("rocpd_string")}


def with_protobuf(path, output):
    """A slice for each kernel and call, by the messages of Perfetto."""
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    known = tables(database)
    count = 0
    with open(output, "wb") as file:
        def write(packet):
            data = packet.SerializeToString()
            length, head = len(data), bytearray(b"\n")
            while length >= 128:
                head.append(length & 127 | 128)
                length >>= 7
            head.append(length)
            file.write(head)
            file.write(data)

        described = set()
        for offset, sql in ((1, SLICES), (1 << 32, CALLS)):
            for name, start, end, track in database.execute(sql.format(**known)):
                uuid = offset + track
                if uuid not in described:
                    described.add(uuid)
                    packet = TracePacket()
                    packet.track_descriptor.uuid = uuid
                    packet.track_descriptor.name = str(track)
                    write(packet)
                for kind, at in ((1, start), (2, end)):
                    packet = TracePacket()
                    packet.timestamp = at
                    packet.trusted_packet_sequence_id = 1
                    packet.track_event.type = kind
                    packet.track_event.track_uuid = uuid
                    if kind == 1:
                        packet.track_event.name = name
                    write(packet)
                count += 1
    print(count)


def with_attach(paths, output):
    """Every table of every database copied as it is."""
    target = sqlite3.connect(output, isolation_level=None)
    target.execute("PRAGMA journal_mode = OFF")
    target.execute("PRAGMA synchronous = OFF")
    rows = 0
    for path in paths:
        target.execute("ATTACH ? AS source", (str(path),))
        target.execute("BEGIN")
        for name, sql in target.execute("SELECT name, sql FROM source.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall():
            target.execute(sql)
            rows += target.execute(f'INSERT INTO main."{name}" SELECT * FROM source."{name}"').rowcount
        target.execute("COMMIT")
        target.execute("DETACH source")
    print(rows)


def measured(command):
    """Seconds, MB at most, and what was printed."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = process.communicate()
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(f"{command} ended with {process.returncode}: {err}")
    return seconds, out + err


def peak_mb(command):
    timed = subprocess.run(["/usr/bin/time", "-f", "%M", *command], capture_output=True, text=True)
    return int(timed.stderr.strip().splitlines()[-1]) / 1024


def number(text, before):
    words = text.replace(",", "").split()
    return int(words[words.index(before) - 1])


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "peer-protobuf":
        return with_protobuf(sys.argv[2], sys.argv[3])
    if len(sys.argv) > 1 and sys.argv[1] == "peer-attach":
        return with_attach(sys.argv[3:], sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--large", type=pathlib.Path, required=True, help="a folder with one large database")
    parser.add_argument("--dataset", type=pathlib.Path, help="what convert makes of the large database")
    parser.add_argument("--tenth", type=pathlib.Path, required=True, help="a folder with one database of a tenth of it")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    one = lambda folder: next(iter(sorted(folder.rglob("*.db"))))
    large, tenth = one(arguments.large), one(arguments.tenth)
    place = pathlib.Path(tempfile.mkdtemp())
    convert = lambda *words: [arguments.binary, "convert", str(large), *words]
    cases = {
        "pftrace, recorded": (convert("--to", "pftrace", "--tracks", "recorded", "-o"), "slices"),
        "pftrace, analyzed": (convert("--to", "pftrace", "--tracks", "analyzed", "-o"), "slices"),
        "pftrace, recorded, no arguments": (convert("--to", "pftrace", "--tracks", "recorded", "--args", "none", "-o"), "slices"),
        "otf2, recorded": (convert("--to", "otf2", "--tracks", "recorded", "-o"), "slices"),
        "chrome-json, recorded": (convert("--to", "chrome-json", "--tracks", "recorded", "-o"), "slices"),
        "protobuf library, a tenth": ([arguments.python, __file__, "peer-protobuf", str(tenth)], None),
        "trim, half": ([arguments.binary, "trim", str(large), "--window", "25%:75%", "-o"], None),
        "merge": ([arguments.binary, "merge", str(large), str(tenth), "-o"], None),
        "ATTACH + INSERT … SELECT": ([arguments.python, __file__, "peer-attach"], None),
    }
    if arguments.dataset:
        dataset = [arguments.binary, "convert", str(arguments.dataset), "--to", "pftrace", "--tracks", "recorded", "-o"]
        cases = {"pftrace, recorded, from a dataset": (dataset, "slices"), **cases}
    times, facts = {name: [] for name in cases}, {}
    for run in range(arguments.runs):
        for name, (command, unit) in cases.items():
            output = place / "out"
            command = [*command, str(output)]
            if name.startswith("ATTACH"):
                command = [*command, str(large), str(tenth)]
            seconds, text = measured(command)
            times[name].append(seconds)
            size = sum(file.stat().st_size for file in output.rglob("*")) if output.is_dir() else output.stat().st_size
            facts[name] = {"bytes": size, "slices": number(text, "slices") if unit else int(text.split()[0]) if text.split() and text.split()[0].isdigit() else None}
            shutil.rmtree(output) if output.is_dir() else output.unlink()
            if run == 0:
                facts_mb = peak_mb(command)
                shutil.rmtree(output) if output.is_dir() else output.unlink()
                facts[name]["peak_mb"] = facts_mb
                first = facts[name]
            else:
                facts[name]["peak_mb"] = first_mb[name]
        first_mb = {name: facts[name]["peak_mb"] for name in facts}
    lines = [f"# Time lines and databases\n", f"{platform.machine()}, {arguments.runs} interleaved runs, median.\n",
             "| what | seconds | M slices or rows/s | MB/s | peak MB |", "| --- | ---: | ---: | ---: | ---: |"]
    result = {}
    for name in cases:
        seconds = statistics.median(times[name])
        fact = facts[name]
        rate = fact["slices"] / seconds / 1e6 if fact["slices"] else None
        result[name] = {"seconds": seconds, "times": times[name], **fact}
        shown = f"{rate:.2f}" if rate else ""
        lines.append(f"| {name} | {seconds:.2f} | {shown} | {fact['bytes'] / seconds / 1e6:.0f} | {fact['peak_mb']:.0f} |")
    text = "\n".join(lines) + "\n"
    print(text)
    arguments.output.with_suffix(".md").write_text(text)
    arguments.output.with_suffix(".json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
