#!/usr/bin/env python3
"""The time line in a browser: seconds to the first picture, latency of random zooms, and memory of `wavesieve view`.

A zoom asks for the lanes of one to four GPUs with their hosts over a random range, as wide as the run or as short as some kernels. The first
request for a GPU reads its events; such requests are counted, and shown apart as well.
"""
import argparse
import http.client
import json
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import time
import urllib.parse


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def resident_mb(pid, name):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":")) / 1024


class Client:
    def __init__(self, address):
        parts = urllib.parse.urlsplit(address)
        self.headers = {"X-Wavesieve-Token": urllib.parse.parse_qs(parts.query)["token"][0]}
        self.connection = http.client.HTTPConnection(parts.netloc, timeout=600)

    def get(self, target):
        start = time.perf_counter()
        self.connection.request("GET", target, headers=self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        seconds = time.perf_counter() - start
        if answer.status != 200:
            sys.exit(f"{target}: {answer.status} {body[:300]!r}")
        return seconds, body


def measure(arguments, words):
    start = time.perf_counter()
    command = [arguments.binary, "view", "--until-closed", "0", *words, str(arguments.input)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        client = Client(process.stdout.readline().strip())
        opened = time.perf_counter() - start
        _, body = client.get("/api/picture")
        first = time.perf_counter() - start
        picture = json.loads(body)
        picture_mb = resident_mb(process.pid, "VmHWM")
        seconds_to_causes = None
        while arguments.causes:
            known = json.loads(client.get("/api/picture")[1])
            if known["complete"]:
                seconds_to_causes = time.perf_counter() - start
                break
            time.sleep(0.2)
        groups = [group["id"] for group in picture["groups"]]
        gpus = [group for group in picture["groups"] if group["gpu"] is not None]
        chosen = random.Random(1)
        seen, cold, warm, sizes = set(), [], [], []
        pool = chosen.sample(gpus, min(arguments.gpus, len(gpus)))
        for _ in range(arguments.zooms):
            some = chosen.sample(pool, min(len(pool), chosen.choice([1, 1, 2, 4])))
            wanted = [group["id"] for group in some]
            wanted += [host for host in {group["id"].split("g")[0] for group in some} if host in groups]
            length = max(1, int(picture["span_ns"] * 10 ** chosen.uniform(-6, 0)))
            at = chosen.randrange(max(1, picture["span_ns"] - length))
            seconds, body = client.get(
                f"/api/lanes?groups={','.join(sorted(wanted))}&start_ns={at}&end_ns={at + length}&pixels=1500")
            (warm if seen.issuperset(wanted) else cold).append(seconds)
            seen.update(wanted)
            sizes.append(len(body))
        ms = lambda values: {"count": len(values), "median_ms": round(statistics.median(values) * 1e3, 1),
                             "p99_ms": round(quantile(values, 0.99) * 1e3, 1), "max_ms": round(max(values) * 1e3, 1)} if values else None
        return {
            "options": words,
            "gpus": len(gpus),
            "seconds_to_address": round(opened, 2),
            "seconds_to_first_picture": round(first, 2),
            "seconds_to_causes": seconds_to_causes and round(seconds_to_causes, 2),
            "picture_bytes": len(json.dumps(picture)),
            "peak_mb_at_first_picture": round(picture_mb),
            "peak_mb": round(resident_mb(process.pid, "VmHWM")),
            "zooms_all": ms(warm + cold),
            "zooms_of_read_gpus": ms(warm),
            "zooms_that_read_gpus": ms(cold),
            "answer_kb_median": round(statistics.median(sizes) / 1024, 1),
        }
    finally:
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--input", type=pathlib.Path, required=True, help="a dataset or other input, such as 64 ranks of 200,000 dispatches")
    parser.add_argument("--zooms", type=int, default=400)
    parser.add_argument("--gpus", type=int, default=8, help="GPUs that are looked at")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--causes", action="store_true", help="also wait for the causes of idle time")
    parser.add_argument("--cache", type=pathlib.Path, help="also measure with sums in this cache")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    words = [[]] + ([["--cache", str(arguments.cache)]] * 2 if arguments.cache else [])
    results = [measure(arguments, option) for _ in range(arguments.runs) for option in words]
    version = subprocess.run([arguments.binary, "--version"], capture_output=True, text=True).stdout.strip()
    facts = {"version": version, "machine": platform.platform(), "input": arguments.input.name, "results": results}
    arguments.output.write_text(json.dumps(facts, indent=2) + "\n")
    print(json.dumps(facts, indent=2))


if __name__ == "__main__":
    main()
