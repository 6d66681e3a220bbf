"""Compares every named query run on Ballista with its local answer, and makes a cluster fail."""

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "oracle"))

from cluster import Cluster, free_ports, wait_for  # noqa: E402
from common import difference  # noqa: E402
from sampled import sampled  # noqa: E402
from store import Store  # noqa: E402

# Floats are printed with 12 digits, so that neighbors are that far apart.
TWELVE_DIGITS = 2e-12
# Exit codes with which there is an answer: done, no rows of the kind, partial.
ANSWERED = (0, 3, 5)
# A cluster that is gone must be reported by then.
LIMIT_S = 120
# Time in which half of a cluster must do its own share and the rest.
LIMIT_OF_HALF_S = 400

STATEMENTS = [
    "SELECT rank, COUNT(*) AS dispatches, SUM(duration_ns) AS ns FROM kernels GROUP BY rank ORDER BY rank",
    "SELECT rank, COUNT(*), MAX(duration_ns) / COUNT(*) FROM kernels GROUP BY rank",
    "SELECT short_name, MEDIAN(duration_ns) AS ns, QUANTILE_CONT(CAST(duration_ns AS DOUBLE), 0.95) AS p95 FROM kernels GROUP BY short_name ORDER BY short_name",
    "SELECT k.rank, COUNT(*) AS n FROM kernels k JOIN launches l ON k.process = l.process AND k.dispatch_id = l.target_id AND l.kind = 'kernel' GROUP BY k.rank ORDER BY k.rank",
    "SELECT rank FROM kernels WHERE duration_ns < 0",
    "SELECT COUNT(*) AS n, 7 / 2 AS half, 2.5 + 1 AS sum FROM processes",
]
REFUSED = [
    ("SELECT rank FROM kernels LIMIT 3", "ORDER BY"),
    ("SELECT 5 ^ 2 AS x FROM processes", "XOR"),
    ("SELECT CAST(duration_ns / 1000 AS BIGINT) AS us FROM kernels ORDER BY us", "CAST"),
    ("SELECT * FROM queues FULL JOIN streams USING (process) ORDER BY process", "USING"),
]


class Programs:
    """The program with and without a cluster."""

    def __init__(self, folder):
        self.binary = str((Path(folder) / "wavesieve").resolve())
        self.client = (Path(folder) / "wavesieve-ballista").resolve()

    def run(self, *words, timeout=120):
        start = time.monotonic()
        environment = {**os.environ, "WAVESIEVE_BALLISTA": str(self.client)}
        command = [self.binary, *map(str, words)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment, check=False)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(command, -1, "", f"no answer after {timeout} s")
        return done, time.monotonic() - start


class Report:
    """Lines of the result, and whether anything failed."""

    def __init__(self):
        self.lines, self.failed, self.passed = [], 0, 0

    def add(self, label, problem, *columns):
        verdict = "equal" if problem is None else str(problem).replace("|", "\\|")[:300]
        self.lines.append(f"| {label} | {' | '.join(columns)} | {verdict} |")
        self.failed += problem is not None
        self.passed += problem is None
        print(f"{label}: {verdict}", flush=True)

    def head(self, title, *columns):
        self.lines += ["", f"## {title}", "", f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]


def records(done):
    return json.loads(done.stdout) if done.returncode in (0, 5) and done.stdout.strip() else []


def compared(programs, words, engine):
    """What differs between both answers, the rows, and both times."""
    local, local_s = programs.run(*words)
    there, there_s = programs.run(*words, "--engine", engine)
    if there.returncode != local.returncode or there.returncode not in ANSWERED:
        error = (there.stderr.strip().splitlines() or [""])[-1]
        problem = f"exit {there.returncode}, locally {local.returncode}: {error}"
    else:
        problem = difference(records(there), records(local), lambda _: TWELVE_DIGITS)
    return problem, len(records(local)), local_s, there_s


def queries(programs):
    listed, _ = programs.run("table", "--list", "-f", "csv")
    return [row["name"] for row in csv.DictReader(io.StringIO(listed.stdout))]


def named_queries(report, programs, dataset, engine, names):
    report.head(f"Named queries over {dataset.name}", "query", "rows", "local s", "cluster s", "answer")
    for name in names:
        problem, rows, local_s, there_s = compared(programs, ["table", name, dataset, "-f", "json"], engine)
        report.add(f"`{name}`", problem, str(rows), f"{local_s:.1f}", f"{there_s:.1f}")


def statements(report, programs, dataset, engine):
    report.head("Statements of `sql`", "statement", "rows", "local s", "cluster s", "answer")
    for statement in STATEMENTS:
        words = ["sql", statement, dataset, "-f", "json"]
        if "ORDER BY" not in statement:
            # Rows that come in any order are sorted on the way back from a cluster.
            words[1] = f"{statement} ORDER BY 1" if "GROUP BY" in statement else statement
        problem, rows, local_s, there_s = compared(programs, words, engine)
        report.add(f"`{words[1]}`", problem, str(rows), f"{local_s:.1f}", f"{there_s:.1f}")
    report.head("Refused", "statement", "exit", "answer")
    for statement, word in REFUSED:
        done, _ = programs.run("sql", statement, dataset, "--engine", engine)
        is_refused = done.returncode == 1 and word in done.stderr and not done.stdout
        report.add(f"`{statement}`", None if is_refused else f"not refused for {word}: {done.stderr}", str(done.returncode))


def functions(report, programs, dataset, engine):
    """Every function of `sql`: the same result, or an error."""
    report.head("Functions of `sql`", "call", "exit", "answer")
    listed = tomllib.loads((REPOSITORY / "share/sql/functions.toml").read_text())["function"]
    for function in listed:
        call, kind = function["call"], function["kind"]
        statement = f"SELECT {call} AS x FROM kernels" if kind == "aggregate" else f"SELECT dispatch_id, rank, {call} AS x FROM kernels ORDER BY rank, dispatch_id"
        words = ["sql", statement, dataset, "-f", "json"]
        local, there = programs.run(*words)[0], programs.run(*words, "--engine", engine)[0]
        problem = difference(records(there), records(local), lambda _: TWELVE_DIGITS) if there.returncode == 0 else None
        error = (there.stderr.strip().splitlines() or [""])[-1][:160].replace("|", "\\|")
        report.add(f"`{call}`".replace("|", "\\|"), problem, "0" if there.returncode == 0 else f"{there.returncode}: {error}")


def documents(report, programs, dataset, engine):
    report.head("Documents", "command", "rows", "local s", "cluster s", "answer")
    words = ["analyze", dataset, "--whole-run", "--format", "json"]
    local, local_s = programs.run(*words)
    there, there_s = programs.run(*words, "--engine", engine)
    problem = document_difference(local, there)
    report.add("`analyze`", problem, "-", f"{local_s:.1f}", f"{there_s:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "local.md", Path(folder) / "cluster.md"]
        local, local_s = programs.run("report", dataset, "--whole-run", "-o", paths[0])
        there, there_s = programs.run("report", dataset, "--whole-run", "-o", paths[1], "--engine", engine)
        texts = [path.read_text() if path.exists() else None for path in paths]
        problem = None if texts[0] == texts[1] and texts[0] else f"exit {there.returncode}: {there.stderr[-200:]}"
        report.add("`report`", problem, "-", f"{local_s:.1f}", f"{there_s:.1f}")


def document_difference(local, there):
    if there.returncode != local.returncode:
        return f"exit {there.returncode}: {there.stderr[-200:]}"
    return nested_difference(json.loads(there.stdout), json.loads(local.stdout), "")


def nested_difference(found, expected, place):
    """The first place where two documents differ."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        pairs = [(found[key], expected[key], f"{place}/{key}") for key in found]
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = [(one, other, f"{place}/{at}") for at, (one, other) in enumerate(zip(found, expected))]
    else:
        problem = difference([{"value": found}], [{"value": expected}], lambda _: TWELVE_DIGITS)
        return problem and f"{place}: {problem}"[:300]
    return next(filter(None, (nested_difference(*pair) for pair in pairs)), None)


def store(report, programs, source, names):
    """The same over a bucket, which the executors read themselves."""
    with Store() as bucket:
        dataset = f"s3://{bucket.name}/run"
        done, _ = programs.run("convert", source, "-o", dataset, "--with", "all")
        if done.returncode != 0:
            sys.exit(f"cannot convert to {dataset}: {done.stderr}")
        with Cluster(programs.client) as cluster:
            report.head("Named queries over two_nodes in a bucket", "query", "rows", "local s", "cluster s", "answer")
            for name in names:
                problem, rows, local_s, there_s = compared(programs, ["table", name, dataset, "-f", "json"], cluster.address)
                report.add(f"`{name}`", problem, str(rows), f"{local_s:.1f}", f"{there_s:.1f}")
            before = len(bucket.requests())
            programs.run("table", "kernel_summary", dataset, "--engine", cluster.address)
            files = sum("GET" in line and "/kernels/part-" in line for line in bucket.requests()[before:])
            report.add("requests of the cluster for files of kernels", None if files else "none", str(files), "-", "-")


def refusals(report, programs, dataset, bare):
    """What no cluster is asked for."""
    report.head("Wrong usage", "command", "exit", "answer")
    engine = "ballista://127.0.0.1:1"
    (port,) = free_ports(1)
    web = subprocess.Popen([sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", dataset],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(port)
    cases = [
        (["table", "kernel_summary", f"http://127.0.0.1:{port}", "--engine", engine], 2, "s3://"),
        (["table", "kernel_summary", dataset, "--engine", "spark://host:1"], 2, "ballista://HOST:PORT"),
        (["table", "kernel_summary", REPOSITORY / "fixtures/two_nodes", "--engine", engine], 2, "--with all"),
        (["table", "kernel_summary", dataset, "--kernel", "x", "--engine", engine], 2, "--kernel"),
        (["table", "idle_by_cause", bare, "--engine", engine], 1, "--with all"),
        (["table", "kernel_summary", dataset, "--engine", engine], 1, "127.0.0.1:1"),
    ]
    for words, code, word in cases:
        done, seconds = programs.run(*words, timeout=LIMIT_S)
        is_right = done.returncode == code and word in done.stderr
        shown = " ".join("http://…" if "http" in str(word) else str(word) for word in words if "/" not in str(word) or "//" in str(word))
        report.add(f"`{shown}`", None if is_right else f"{done.returncode} {done.stderr}", f"{done.returncode} after {seconds:.1f} s")
    web.kill()
    web.wait()


def failures(report, programs, dataset):
    """Clusters that go away in the middle of a statement."""
    report.head("Failures in the middle of a statement", "what", "exit", "answer")
    # Each row with each other of its rank: long enough to be interrupted.
    slow = ("SELECT a.rank, COUNT(*) AS n, SUM(SQRT(CAST(a.duration_ns AS DOUBLE) * CAST(b.duration_ns AS DOUBLE))) AS s "
            "FROM regions a JOIN regions b ON a.rank = b.rank GROUP BY a.rank ORDER BY a.rank")
    for what in ("scheduler killed", "all executors killed", "one of two executors killed"):
        with Cluster(programs.client) as cluster:
            actions = {"scheduler killed": cluster.kill_scheduler, "all executors killed": cluster.kill_executors,
                       "one of two executors killed": cluster.executors[0].kill}
            threading.Timer(4, actions[what]).start()
            done, seconds = programs.run("sql", slow, dataset, "-f", "json", "--engine", cluster.address, timeout=LIMIT_OF_HALF_S)
            if what == "one of two executors killed":
                is_right = done.returncode == 0 or (done.returncode == 1 and cluster.address in done.stderr)
            else:
                is_right = seconds > 4 and done.returncode == 1 and cluster.address in done.stderr and seconds < LIMIT_S
            message = (done.stderr.strip().splitlines() or ["answered"])[-1]
            report.add(f"{what}: {message[:250]}".replace("|", "\\|"), None if is_right else f"after {seconds:.0f} s: {message}",
                       f"{done.returncode} after {seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--dispatches", type=int, default=8000)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--datasets", default="two_nodes,planted,profile,kineto,sampled,larger", help="those whose named queries are run")
    parser.add_argument("--parts", default="queries,statements,functions,documents,store,refusals,failures")
    parser.add_argument("--only", help="names of queries with commas between them")
    arguments = parser.parse_args()
    programs, report = Programs(arguments.programs), Report()
    names = arguments.only.split(",") if arguments.only else queries(programs)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        larger = folder / "larger_traces"
        subprocess.run([arguments.generator, "--ranks", "4", "--nodes", "2", "--gpus-per-rank", "2", "--gpus-per-node", "4",
                        "--dispatches", str(arguments.dispatches), "--regions", str(2 * arguments.dispatches), "-o", str(larger)],
                       check=True, stdout=subprocess.DEVNULL)
        datasets = {}
        for name, source, options in [
            ("two_nodes", REPOSITORY / "fixtures/two_nodes", ["--with", "all"]),
            ("planted", REPOSITORY / "fixtures/planted", ["--with", "all"]),
            ("profile", REPOSITORY / "fixtures/profile", ["--with", "all"]),
            ("kineto", REPOSITORY / "fixtures/kineto_two_ranks", ["--with", "all"]),
            ("sampled", sampled(folder), ["--with", "all"]),
            ("larger", larger, ["--with", "all"]),
            ("bare", REPOSITORY / "fixtures/two_nodes", []),
        ]:
            datasets[name] = folder / name
            done, _ = programs.run("convert", source, "-o", datasets[name], *options)
            if done.returncode not in (0, 5):
                sys.exit(f"cannot convert {source}: {done.stderr}")
        parts = set(arguments.parts.split(","))
        with Cluster(programs.client) as cluster:
            for name in arguments.datasets.split(",") if "queries" in parts else []:
                named_queries(report, programs, datasets[name], cluster.address, names)
            for part in (statements, functions, documents):
                if part.__name__ in parts:
                    part(report, programs, datasets["two_nodes"], cluster.address)
        if "store" in parts:
            store(report, programs, REPOSITORY / "fixtures/two_nodes", names)
        if "refusals" in parts:
            refusals(report, programs, datasets["two_nodes"], datasets["bare"])
        if "failures" in parts:
            failures(report, programs, datasets["larger"])
    head = ["# Queries on Ballista", "",
            f"Made by `tests/cluster/run.sh {arguments.dispatches}`: a scheduler and two executors with two threads each on one",
            "machine, debug builds with optimized dependencies. Times have the start of the program in them.", "",
            f"{report.passed} as expected, {report.failed} not."]
    if arguments.output:
        arguments.output.write_text("\n".join(head + report.lines) + "\n")
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
