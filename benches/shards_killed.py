#!/usr/bin/env python3
"""Converts in shards by local processes that are killed at random, until all are done, and compares the result with that of one process.

  benches/shards_killed.py --binary target/release/wavesieve --traces DIR --shards 8 --workers 4 --seed 1

Each worker starts its shard again and again until it succeeds, as a batch system does. Every --pause seconds a process is killed by
SIGKILL, at most --kills of them, and a shard is started a second time while it runs.
"""
import argparse
import filecmp
import pathlib
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--traces", required=True)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pause", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


class Pool:
    """Workers with the processes that run now."""

    def __init__(self, args, output):
        self.args, self.output = args, output
        self.running, self.lock = {}, threading.Lock()
        self.waiting = queue.Queue()
        self.starts = self.resumed = 0
        self.failed = []

    def command(self, *more):
        return [self.args.binary, "convert", self.args.traces, "-o", str(self.output), *more]

    def start(self, number):
        with self.lock:
            command = self.command("--shard", f"{number}/{self.args.shards}")
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.running[child.pid] = (child, number)
            self.starts += 1
        said = child.communicate()[1]
        with self.lock:
            del self.running[child.pid]
            self.resumed += "(reused)" in said
        if child.returncode not in (0, -signal.SIGKILL):
            self.failed.append(f"shard {number}: exit code {child.returncode}: {said}")
        return child.returncode == 0

    def work(self):
        while True:
            try:
                number = self.waiting.get_nowait()
            except queue.Empty:
                return
            while not self.start(number) and not self.failed:
                pass

    def kill_one(self, chosen):
        """Kills a process, and returns the shard that it converted."""
        with self.lock:
            if not self.running:
                return None
            child, number = chosen.choice(list(self.running.values()))
            child.kill()
            return number


def main():
    args = arguments()
    chosen = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="shards-killed-") as place:
        one, output = pathlib.Path(place) / "one", pathlib.Path(place) / "dataset"
        subprocess.run([args.binary, "convert", args.traces, "-o", one, "-q"], check=True)
        pool = Pool(args, output)
        for number in range(1, args.shards + 1):
            pool.waiting.put(number)
        workers = [threading.Thread(target=pool.work) for _ in range(args.workers)]
        for worker in workers:
            worker.start()
        kills, twins = [], []
        while any(worker.is_alive() for worker in workers):
            time.sleep(args.pause * chosen.random() * 2)
            if len(kills) < args.kills and (number := pool.kill_one(chosen)):
                kills.append(number)
                # As a scheduler does that believes a node to be dead.
                twin = threading.Thread(target=pool.start, args=(number,))
                twin.start()
                twins.append(twin)
        for worker in workers + twins:
            worker.join()
        if pool.failed:
            sys.exit("\n".join(pool.failed))
        subprocess.run([*pool.command("--finish")], check=True)
        names = sorted(str(path.relative_to(one)) for path in one.rglob("*") if path.is_file())
        found = sorted(str(path.relative_to(output)) for path in output.rglob("*") if path.is_file())
        equal = names == found and not any(filecmp.cmpfiles(one, output, names, shallow=False)[1:])
        left = [path.name for path in pathlib.Path(place).iterdir() if path not in (one, output)]
        print(f"{args.shards} shards: {pool.starts} processes started, {len(kills)} of them killed (shards "
              f"{', '.join(map(str, sorted(set(kills))))}), {pool.resumed} reused ranks; "
              f"{'equal to the byte' if equal else 'DIFFERENT'}; left over: {left or 'nothing'}")
        shutil.rmtree(place, ignore_errors=True)
        sys.exit(0 if equal and not left else 1)


if __name__ == "__main__":
    main()
