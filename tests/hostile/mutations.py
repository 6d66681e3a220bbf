#!/usr/bin/env python3
"""Damages captures in a thousand ways each and runs the real program over them.

A run reads one good rank beside several damaged ones and writes all tables. It must end in time with exit code 0 or 5,
without a panic; it must create nothing beside its inputs and change nothing of them; what it writes of the good rank must be
what it writes when that rank is read alone; and a damaged rank of which nothing is written must be named, as must a part of a
dataset that is missing, cut, or another one. `check` must name every part that changed, and `convert` those that change what it
writes. A part of the damaged files is also read without a good neighbour, which may end with 3 too. Everything follows from the
seed and the numbers of the files, so that a failure repeats itself.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import csv_of  # noqa: E402
import damage  # noqa: E402

# Damaged ranks next to the good one in a run.
NEIGHBOURS = 8
LIMIT_SECONDS = 60
GENERATE = [
    "--ranks", str(NEIGHBOURS + 1), "--gpus-per-node", "2", "--gpus-per-rank", "2", "--streams", "2", "--threads", "2",
    "--iterations", "2", "--kernels", "8", "--dispatches", "40", "--regions", "80", "--copies", "5", "--allocations", "4",
    "--page-size", "512", "--vacuum",
]  # fmt: skip
# The seed of the captures and damages that a commit is judged by. Another seed draws others.
SEED = 7
# Kineto has no counters.
COUNTERS = ["--counters", "2", "--counter-instances", "2"]
FORMATS = {"rocpd": COUNTERS, "json": COUNTERS, "kineto": []}
BY_RANK = ["--rank-from", r"rank(\d+)"]


def drawn(seed, purpose):
    """A generator of its own for each purpose."""
    return random.Random(purpose if seed == SEED else f"{seed} {purpose}")


def make_bases(binary, generator, work, seed):
    """A folder of files for each format and rank; a dataset of all ranks."""
    bases = {}
    for form, options in FORMATS.items():
        made = work / f"made_{form}"
        subprocess.run([generator, *GENERATE, *options, "--seed", str(seed), "--format", form, "-o", made], check=True, capture_output=True)
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
    queries = pathlib.Path(__file__).parent.parent / "cli/rpd_sql"
    for rank in range(NEIGHBOURS + 1):
        folder = work / "rpd" / f"rank{rank}"
        folder.mkdir(parents=True)
        make_rpd(queries, folder / "trace.rpd", rank)
    bases["rpd"] = work / "rpd"
    profile = pathlib.Path(__file__).parent.parent.parent / "fixtures/profile"
    for rank in range(NEIGHBOURS + 1):
        folder = work / "analysis" / f"rank{rank}"
        folder.mkdir(parents=True)
        make_analysis(binary, profile, folder / "analysis.db", rank)
    bases["analysis"] = work / "analysis"
    for rank in range(NEIGHBOURS + 1):
        folder = work / "perfetto" / f"rank{rank}"
        folder.mkdir(parents=True)
        convert = [binary, "convert", work / "rocpd" / f"rank{rank}", "--to", "pftrace", "-o", folder / "trace.pftrace"]
        subprocess.run(convert, check=True, capture_output=True)
    bases["perfetto"] = work / "perfetto"
    bases["dataset"] = work / "dataset"
    subprocess.run([binary, "convert", bases["rocpd"], *BY_RANK, "-o", bases["dataset"]], check=True, capture_output=True)
    return bases


def make_rpd(queries, path, rank):
    """An RPD database of processes that no other rank has."""
    connection = sqlite3.connect(path)
    for name in ["schema2.sql", "two_processes.sql"]:
        connection.executescript((queries / name).read_text())
    connection.execute("UPDATE rocpd_api SET pid = pid + ?", (1000 * rank,))
    connection.commit()
    connection.close()


def make_analysis(binary, profile, path, rank):
    """An analysis database of rocprofiler-compute, of a workload that no other rank has."""
    convert = [binary, "convert", profile, "--to", "rocprof-compute-db", "-o", path]
    subprocess.run(convert, check=True, capture_output=True)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE compute_workload SET name = name || ?", (rank,))
    connection.execute("UPDATE compute_dispatch SET dispatch_id = dispatch_id + ?", (100 * rank,))
    connection.commit()
    connection.close()


def listing(folder):
    """Every file below a folder with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def good_rows(output, rank=0):
    """What was written of a rank; that of process 0 is good."""
    rows = {}
    for name, content in listing(output).items():
        if f"rank={rank}/" in name and not name.startswith("anomalies/"):
            rows[name] = content
    return rows


class Tester:
    """Runs the program over damaged captures of one format."""

    def __init__(self, binary, base, form, work, seed):
        self.binary, self.base, self.form, self.work, self.seed = binary, base, form, work, seed
        self.codes = collections.Counter()
        self.ways = {
            "rocpd": damage.DATABASE, "rpd": damage.DATABASE, "analysis": damage.DATABASE, "json": damage.JSON, "kineto": damage.JSON, "perfetto": damage.PERFETTO, "csv": damage.CSV, "dataset": damage.DATASET,
        }[form]  # fmt: skip
        with tempfile.TemporaryDirectory(dir=work) as scratch:
            inputs, output = pathlib.Path(scratch, "inputs"), pathlib.Path(scratch, "output")
            self.set_up(inputs)
            finished = self.run(["convert", inputs, *BY_RANK, "--to", "csv", "-o", output, "-q"])
            assert finished.returncode == 0, finished.stderr.decode()
            self.reference = good_rows(output)
            self.of_ranks = {str(rank): good_rows(output, rank) for rank in range(NEIGHBOURS + 1)}
        assert len(self.reference) > 10

    def run(self, arguments):
        command = [self.binary, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS, check=False)

    def set_up(self, inputs):
        """A folder with a good rank."""
        shutil.copytree(self.base / "rank0", inputs / "rank0")

    def damaged(self, number, inputs):
        """Makes damaged file `number` in a folder; gives how, a text and a folder of which one must be found after, and what `check` names."""
        rank = 1 + number % NEIGHBOURS
        folder = inputs / f"rank{rank}"
        shutil.copytree(self.base / f"rank{rank}", folder)
        own = drawn(self.seed, f"{self.form} {number}")
        way = self.ways[number // NEIGHBOURS % len(self.ways)]
        path = own.choice(sorted(folder.iterdir()))
        way(own, path)
        if own.random() < 0.2 and path.exists() and path.stat().st_size > 0:
            own.choice([damage.truncate, damage.flip_bits])(own, path)
        return f"{self.form} {number}: {way.__name__} of {path.name}", f"/rank{rank}/", f"processes/rank={rank}", None

    def silent(self, damaged, message, output):
        """What changed without a word: values of a file may be any."""
        return None

    def problem(self, arguments, inputs, allowed, expected=(), output=None, damaged=()):
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
        for text, folder in expected:
            found = output is not None and folder is not None and (output / folder).exists()
            if not found and (text not in message or finished.returncode != 5):
                return f"exit {finished.returncode}, and no word of {text}: {message[-600:]}"
        return self.silent(damaged, message, output)

    def batch(self, numbers):
        """Reads one good rank beside damaged ones; gives the problems."""
        with tempfile.TemporaryDirectory(dir=self.work) as scratch:
            inputs, output = pathlib.Path(scratch, "inputs"), pathlib.Path(scratch, "output")
            self.set_up(inputs)
            damaged = [self.damaged(number, inputs) for number in numbers]
            ways, expected = [way for way, *_ in damaged], [(text, folder) for _, text, folder, _ in damaged if text]
            convert = ["convert", inputs, *BY_RANK, "--to", "csv", "-o", output, "-v"]
            found = self.problem(convert, inputs, (0, 5), expected, output, damaged)
            if found is None:
                rows = good_rows(output)
                differ = [name for name in self.good(damaged) if rows.get(name) != self.reference[name]]
                found = f"the good rank is not whole: {differ}" if differ or set(rows) - set(self.reference) else None
            if found is None:
                named = [(part, None) for *_, part in damaged if part]
                found = self.problem(["check", inputs, *BY_RANK, "-v"], inputs, (0, 4, 5), named)
            problems = [] if found is None else [(ways, found)]
            if found is not None and len(numbers) > 1:
                one_by_one = [problem for number in numbers for problem in self.batch([number])]
                problems = one_by_one or problems
            if len(numbers) > 1:
                problems += self.alone(numbers[len(ways) // 2], inputs, ways[len(ways) // 2])
        return problems

    def good(self, damaged):
        """Files of the good rank that must be what they were."""
        return list(self.reference)

    def alone(self, number, inputs, way):
        """Reads damaged file `number` without a good neighbour; gives the problems."""
        found = self.problem(["info", inputs / f"rank{1 + number % NEIGHBOURS}"], inputs, (0, 3, 5))
        return [] if found is None else [([way], f"alone: {found}")]


class DatasetTester(Tester):
    """Runs the program over a dataset of which parts are damaged."""

    def set_up(self, inputs):
        shutil.copytree(self.base, inputs)

    def good(self, damaged):
        """What lies in parts that nobody damaged."""
        tables = {part.split("/")[0] for *_, part in damaged if part}
        return [name for name in self.reference if name.split("/")[0] not in tables]

    def silent(self, damaged, message, output):
        """The rows of a table whose part changed without a word must be what they were."""
        for way, _, _, part in damaged:
            if not part or output is None or part in message:
                continue
            table = part.split("/")[0]
            for rank, expected in self.of_ranks.items():
                rows = good_rows(output, rank)
                if any(rows.get(name) != content for name, content in expected.items() if name.startswith(f"{table}/")):
                    return f"{way} changes what is written of rank {rank}, and no word of {part}: {message[-600:]}"
        return None

    def damaged(self, number, inputs):
        own = drawn(self.seed, f"{self.form} {number}")
        way = self.ways[number // NEIGHBOURS % len(self.ways)]
        # The ways of a batch must not fall upon the same part.
        parts = sorted(self.base.glob("*/part-*.parquet"))
        path = inputs / parts[number * 7 % len(parts)].relative_to(self.base)
        content = path.read_bytes()
        way(own, path)
        part = str(path.relative_to(inputs))
        after = path.read_bytes() if path.exists() else None
        # Only `check` looks at parts that are never read, such as those that the manifest repeats.
        is_told = after is None or len(after) != len(content)
        return f"{self.form} {number}: {way.__name__} of {part}", part if is_told else None, None, part if after != content else None

    def alone(self, number, inputs, way):
        """A damaged manifest."""
        own = drawn(self.seed, f"manifest {number}")
        manifest = own.choice([damage.truncate, damage.flip_bits, damage.odd_json_values, damage.drop_json_keys])
        manifest(own, inputs / "manifest.json")
        verb = own.choice([["info"], ["check"], ["table", "kernel_summary"]])
        found = self.problem([*verb, inputs], inputs, (0, 3, 4, 5))
        return [] if found is None else [([way], f"with {manifest.__name__} of the manifest, {verb}: {found}")]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--generator", required=True, help="the built example generate_trace")
    arguments.add_argument("--count", type=int, default=1000, help="damaged files of each format; of RPD, analysis databases and datasets a fifth")
    arguments.add_argument("--seed", type=int, default=SEED, help="of the captures and of their damage")
    arguments.add_argument("--only", type=int, nargs="*", help="numbers of damaged files, to repeat a failure")
    arguments.add_argument("--format", nargs="*", default=["rocpd", "json", "kineto", "perfetto", "csv", "rpd", "analysis", "dataset"])
    options = arguments.parse_args()
    problems, runs = [], 0
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        binary = pathlib.Path(options.binary).resolve()
        bases = make_bases(binary, pathlib.Path(options.generator).resolve(), work, options.seed)
        for form in options.format:
            begin = time.monotonic()
            tester = (DatasetTester if form == "dataset" else Tester)(binary, bases[form], form, work, options.seed)
            numbers = list(range(options.count // 5 if form in ("rpd", "analysis", "dataset") else options.count))
            batches = [numbers[start : start + NEIGHBOURS] for start in range(0, len(numbers), NEIGHBOURS)]
            if options.only:
                batches = [[number] for number in options.only]
            runs += sum(map(len, batches))
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                for found in pool.map(tester.batch, batches):
                    problems += found
                    for ways, problem in found:
                        print(f"FAILED {'; '.join(ways)}: {problem}", flush=True)
            # Damage that the program never notices proves nothing.
            if tester.codes[5] == 0 and not options.only:
                problems.append(([form], "no damage was noticed"))
            codes = ", ".join(f"{code}: {count}" for code, count in sorted(tester.codes.items()))
            print(f"{form}: {time.monotonic() - begin:.0f} s, exit codes: {codes}")
    print(f"{runs} damaged captures, {len(problems)} problems, seed {options.seed}")
    return 1 if problems or runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
