#!/usr/bin/env python3
"""States of threads and the idle time in each, worked out from the bytes of Perfetto traces of the generator.

A decoder of its own reads the scheduler events (single ones and those in columns). Of every moment at which anything changes, the state of
a thread is that of its last event. Idle time is taken from `idle_gaps`, which independent_check.py compares.
"""

import argparse
import itertools
import json
import sys
import tempfile
from pathlib import Path

from common import Tally, read_table, run_binary

IDLE = ("host_bound", "sync", "launch_delay", "no_record")
NAMES = {0: "runnable", 1: "sleeping", 2: "disk_sleep"}


def number(data, place):
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place


def fields(data):
    place = 0
    while place < len(data):
        key, place = number(data, place)
        if key & 7 == 0:
            value, place = number(data, place)
        else:
            assert key & 7 == 2, "the generator writes no other kind"
            length, place = number(data, place)
            value, place = data[place : place + length], place + length
        yield key >> 3, value


def packed(data):
    place = 0
    while place < len(data):
        value, place = number(data, place)
        yield value


def message(data):
    found = {}
    for field, value in fields(data):
        found.setdefault(field, []).append(value)
    return found


def changes(path):
    """(time, thread, state, CPU) of all scheduler events, and the threads of the process."""
    found, threads = [], set()
    running = {}
    for field, packet in fields(path.read_bytes()):
        packet = message(packet)
        for track in packet.get(60, []):
            threads |= {message(thread)[2][0] for thread in message(track).get(4, [])}
        for bundle in map(message, packet.get(1, [])):
            cpu, events = bundle.get(1, [0])[0], []
            for event in map(message, bundle.get(2, [])):
                time = event[1][0]
                for switch in map(message, event.get(4, [])):
                    events.append((time, 1, switch.get(2, [0])[0], switch.get(4, [0])[0], switch.get(6, [0])[0]))
                for waking in map(message, event.get(20, [])):
                    events.append((time, 0, waking[2][0], None, None))
            for compact in map(message, bundle.get(4, [])):
                columns = [list(packed(compact.get(column, [b""])[0])) for column in (1, 2, 3, 7, 8)]
                times = itertools.accumulate(columns[0])
                events += [(time, 1, None, state, to) for time, state, to in zip(times, columns[1], columns[2])]
                events += [(time, 0, thread, None, None) for time, thread in zip(itertools.accumulate(columns[3]), columns[4])]
            for time, is_switch, thread, state, to in sorted(events, key=lambda event: event[:2]):
                if is_switch:
                    thread = running.get(cpu) if thread is None else thread
                    found.append((time, thread, NAMES[state & 3], None))
                    found.append((time, to, "running", cpu))
                    running[cpu] = to
                else:
                    found.append((time, thread, "woken", None))
    return found, threads


def states(found, threads):
    """(thread, state, start, end, CPU) of each interval."""
    last = max(time for time, *_ in found)
    rows = []
    for thread in sorted(threads):
        own, kept = [change for change in found if change[1] == thread], []
        for time, _, state, cpu in own:
            if state == "woken":
                if kept and kept[-1][1] in ("running", "runnable"):
                    continue
                state = "runnable"
            kept.append((time, state, cpu))
        ends = [time for time, *_ in kept[1:]] + [last]
        rows += [(thread, state, time, end, cpu) for (time, state, cpu), end in zip(kept, ends) if time < end]
    return rows


def idle_by_state(gaps, rows):
    """Idle time by cause and state of the launching thread."""
    sums = {}
    for gap in gaps:
        if gap["cause"] not in IDLE:
            continue
        left = gap["end_ns"] - gap["start_ns"]
        for thread, state, start, end, _ in rows:
            shared = min(end, gap["end_ns"]) - max(start, gap["start_ns"]) if thread == gap["tid"] else 0
            if shared > 0:
                sums[gap["cause"], state] = sums.get((gap["cause"], state), 0) + shared
                left -= shared
        if left:
            sums[gap["cause"], None] = sums.get((gap["cause"], None), 0) + left
    return sums


def compare(tally, binary, generator, plant, seed):
    with tempfile.TemporaryDirectory() as folder:
        words = ["--plant", plant, "--ranks", 2, "--gpus-per-node", 2, "--streams", 2, "--iterations", 34]
        run_binary(generator, [*words, "--seed", seed, "-o", folder])
        for path in sorted(Path(folder).rglob("*.pftrace")):
            label = f"{plant} seed {seed} {path.name}"
            expected = states(*changes(path))
            statement = "SELECT tid, state, start_ns, end_ns, cpu FROM thread_states ORDER BY tid, start_ns"
            rows = json.loads(run_binary(binary, ["sql", "-q", statement, path, "-f", "json"]))
            found = [tuple(row[name] for name in ("tid", "state", "start_ns", "end_ns", "cpu")) for row in rows]
            problem = None if found == expected else f"{len(found)} states, expected {len(expected)}: {first_of(found, expected)}"
            tally.check(f"{label} thread_states", problem)
            statement = "SELECT tid, CAST(cause AS VARCHAR) AS cause, start_ns, end_ns FROM idle_gaps"
            gaps = json.loads(run_binary(binary, ["sql", "-q", statement, path, "-f", "json"]))
            wanted, sums = idle_by_state(gaps, expected), {}
            for row in read_table(binary, "idle_by_call", path, ["-q", "--by", "thread_state"]):
                key = row["cause"], row["thread_state"]
                sums[key] = sums.get(key, 0) + row["idle_ns"]
            tally.check(f"{label} idle_by_call", None if sums == wanted else f"{sums}, expected {wanted}")


def first_of(found, expected):
    return next((pair for pair in itertools.zip_longest(found, expected) if pair[0] != pair[1]), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--seed", type=int, default=20260101)
    arguments = parser.parse_args()
    tally = Tally()
    for plant, seed in itertools.product(("cpu-contention", "disk-wait"), range(arguments.seed, arguments.seed + 2)):
        compare(tally, arguments.binary, arguments.generator, plant, seed)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
