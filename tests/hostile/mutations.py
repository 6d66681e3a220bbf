#!/usr/bin/env python3
"""Damages captures in a thousand ways each and runs the real program over them.

A run reads one good rank beside several damaged ones and writes all tables. It must end in time with exit code 0 or 5,
without a panic; it must create nothing beside its inputs and change nothing of them; and what it writes of the good rank
must be what it writes when that rank is read alone. A part of the damaged files is also read without a good neighbour,
which may end with 3 too. Everything follows from the numbers of the files, so that a failure repeats itself.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import csv_of  # noqa: E402
import damage  # noqa: E402

# Damaged ranks beside the good one in a run.
NEIGHBOURS = 8
LIMIT_SECONDS = 60
GENERATE = [
    "--ranks", str(NEIGHBOURS + 1), "--gpus-per-node", "2", "--gpus-per-rank", "2", "--streams", "2", "--threads", "2",
    "--iterations", "2", "--kernels", "8", "--dispatches", "40", "--regions", "80", "--copies", "5", "--allocations", "4",
    "--counters", "2", "--counter-instances", "2", "--page-size", "512", "--vacuum", "--seed", "7",
]  # fmt: skip
BY_RANK = ["--rank-from", r"rank(\d+)"]


def make_bases(generator, work):
    """A folder of files for each format and rank."""
    bases = {}
    for form, options in [("rocpd", ["--format", "rocpd"]), ("json", ["--format", "json"])]:
        made = work / f"made_{form}"
        subprocess.run([generator, *GENERATE, *options, "-o", made], check=True, capture_output=True)
        paths = sorted(path for path in made.rglob("*") if path.is_file())
        assert len(paths) == NEIGHBOURS + 1, paths
        for rank, path in enumerate(paths):
            folder = work / form / f"rank{rank}"
            folder.mkdir(parents=True)
            shutil.copy(path, folder / path.name)
        bases[form] = work / form
    for rank in range(NEIGHBOURS + 1):
        folder = work / "csv" / f"rank{rank}"
        folder.mkdir(parents=True)
        csv_of.write(next((work / "rocpd" / f"rank{rank}").iterdir()), folder)
    bases["csv"] = work / "csv"
    return bases


def listing(folder):
    """Every file below a folder with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def good_rows(output):
    """What was written of the good rank, which is process 0."""
    rows = {}
    for name, content in listing(output).items():
        if "rank=0/" in name and not name.startswith("anomalies/"):
            rows[name] = content
    return rows


class Tester:
    """Runs the program over damaged captures of one format."""

    def __init__(self, binary, base, form, work):
        self.binary, self.base, self.form, self.work = binary, base, form, work
        self.codes = collections.Counter()
        self.ways = {"rocpd": damage.DATABASE, "json": damage.JSON, "csv": damage.CSV}[form]
        output = work / f"reference_{form}"
        finished = self.run(["convert", base / "rank0", *BY_RANK, "--to", "csv", "-o", output, "-q"])
        assert finished.returncode == 0, finished.stderr.decode()
        self.reference = good_rows(output)
        assert len(self.reference) > 10

    def run(self, arguments):
        command = [self.binary, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS, check=False)

    def damaged(self, number, folder):
        """Makes damaged file `number`; gives how."""
        rank = 1 + number % NEIGHBOURS
        shutil.copytree(self.base / f"rank{rank}", folder)
        own = random.Random(f"{self.form} {number}")
        way = self.ways[number // NEIGHBOURS % len(self.ways)]
        path = own.choice(sorted(folder.iterdir()))
        way(own, path)
        if own.random() < 0.2:
            own.choice([damage.truncate, damage.flip_bits])(own, path)
        return f"{self.form} {number}: {way.__name__} of {path.name}"

    def problem(self, arguments, inputs, allowed):
        """What is wrong with a run, if anything."""
        before = listing(inputs)
        try:
            finished = self.run(arguments)
        except subprocess.TimeoutExpired:
            return f"it takes more than {LIMIT_SECONDS} s"
        self.codes[finished.returncode] += 1
        message = finished.stderr.decode(errors="replace")
        if finished.returncode not in allowed:
            return f"exit {finished.returncode}: {message[-600:]}"
        if "panic" in message:
            return f"a panic: {message[-600:]}"
        if listing(inputs) != before:
            return "inputs were changed, or something was made beside them"
        return None

    def batch(self, numbers):
        """Reads one good rank beside damaged ones; gives the problems."""
        with tempfile.TemporaryDirectory(dir=self.work) as scratch:
            inputs, output = pathlib.Path(scratch, "inputs"), pathlib.Path(scratch, "output")
            inputs.mkdir()
            shutil.copytree(self.base / "rank0", inputs / "rank0")
            ways = [self.damaged(number, inputs / f"rank{1 + number % NEIGHBOURS}") for number in numbers]
            convert = ["convert", inputs, *BY_RANK, "--to", "csv", "-o", output, "-q"]
            found = self.problem(convert, inputs, (0, 5))
            if found is None and good_rows(output) != self.reference:
                rows = good_rows(output)
                differ = [name for name in self.reference if rows.get(name) != self.reference[name]]
                found = f"the good rank is not whole: {differ}"
            if found is None:
                found = self.problem(["check", inputs, *BY_RANK], inputs, (0, 4, 5))
            problems = [] if found is None else [(ways, found)]
            if found is not None and len(numbers) > 1:
                one_by_one = [problem for number in numbers for problem in self.batch([number])]
                problems = one_by_one or problems
            if len(numbers) > 1:
                rank = 1 + numbers[len(ways) // 2] % NEIGHBOURS
                alone = self.problem(["info", inputs / f"rank{rank}"], inputs, (0, 3, 5))
                problems += [] if alone is None else [([ways[len(ways) // 2]], f"alone: {alone}")]
        return problems


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--generator", required=True, help="the built example generate_trace")
    arguments.add_argument("--count", type=int, default=1000, help="damaged files of each format")
    arguments.add_argument("--only", type=int, nargs="*", help="numbers of damaged files, to repeat a failure")
    arguments.add_argument("--format", nargs="*", default=["rocpd", "json", "csv"])
    options = arguments.parse_args()
    problems, runs = [], 0
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        bases = make_bases(pathlib.Path(options.generator).resolve(), work)
        for form in options.format:
            tester = Tester(pathlib.Path(options.binary).resolve(), bases[form], form, work)
            numbers = list(range(options.count))
            batches = [numbers[start : start + NEIGHBOURS] for start in range(0, len(numbers), NEIGHBOURS)]
            if options.only:
                batches = [[number] for number in options.only]
            runs += sum(map(len, batches))
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                for found in pool.map(tester.batch, batches):
                    problems += found
                    for ways, problem in found:
                        print(f"FAILED {'; '.join(ways)}: {problem}", flush=True)
            # Damage that nobody notices proves nothing.
            if tester.codes[5] == 0 and not options.only:
                problems.append(([form], "no damage was noticed"))
            print(form, "exit codes:", ", ".join(f"{code}: {count}" for code, count in sorted(tester.codes.items())))
    print(f"{runs} damaged captures, {len(problems)} problems")
    return 1 if problems or runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
