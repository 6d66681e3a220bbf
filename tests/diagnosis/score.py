#!/usr/bin/env python3
"""Compares what the program says of traces with what is known of them, and prints the score.

    score.py [PROGRAM] [--generator PATH] [--seeds N] [--only REGEX]

PROGRAM is that of the variable WAVESIEVE if it is not given. Traces below WAVESIEVE_DATA are skipped without it; runs of the
generator are made with each of N seeds. The files next to this one state the truth; truths.py tells how. An expectation that does
not hold is a failure, unless it is a known gap; a known gap that holds with every seed is one too, so that the files stay true.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from expectations import Document, RankTruths, problem
from figures import two_values
from truths import KINDS, Truth, TruthError, read_all

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
DATA = Path(os.environ.get("WAVESIEVE_DATA") or REPOSITORY.parent / "shared" / "data")
COLUMNS = ("expected", "found", *dict.fromkeys(KINDS.values()), "gaps")
# Done, no data of the kind, a threshold exceeded, partial input: there is a document.
ANSWERED = (0, 3, 4, 5)


@dataclass(frozen=True)
class Tools:
    """Programs, and the seeds of generated runs."""

    program: Path
    generator: Path
    seeds: range


@dataclass
class Score:
    """What was found of a trace."""

    truth: Truth
    counts: Counter[str] = field(default_factory=Counter)
    passed: int = 0
    failures: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    skipped: str | None = None


class RunError(Exception):
    """A program that is run fails."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", type=Path, default=os.environ.get("WAVESIEVE"))
    parser.add_argument("--generator", type=Path, help="generate_trace [default: that of the build of the program]")
    parser.add_argument("--seeds", type=int, default=2, help="runs of each plant [default: 2]")
    parser.add_argument("--seed", type=int, default=20260101, help="the first seed")
    parser.add_argument("--only", default="", help="traces whose names match")
    arguments = parser.parse_args()
    if arguments.program is None:
        parser.error("name the program, or set WAVESIEVE")
    program = Path(arguments.program).resolve()
    generator = arguments.generator or program.parent / "examples" / "generate_trace"
    tools = Tools(program, generator.resolve(), range(arguments.seed, arguments.seed + arguments.seeds))
    try:
        truths = [truth for truth in read_all(HERE) if re.search(arguments.only, truth.name)]
    except TruthError as error:
        sys.exit(f"error: {error}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        scores = list(pool.map(lambda truth: score(truth, tools), truths))
    return report(scores)


def score(truth: Truth, tools: Tools) -> Score:
    """The score of one trace; an expectation holds if it does with every seed."""
    made = Score(truth)
    absent = [DATA / path for path in truth.trace if not (DATA / path).exists()]
    if absent:
        made.skipped = f"without {absent[0]}"
        return made
    problems: list[list[str]] = [[] for _ in truth.expectations]
    conflicts: dict[str, str] = {}
    try:
        for seed in tools.seeds[: truth.most_seeds] if truth.plant else tools.seeds[:1]:
            document, ranks = analyzed(truth, tools, seed)
            for expected, found in zip(truth.expectations, problems, strict=True):
                wrong = problem(expected, document, ranks)
                found.extend([] if wrong is None else [f"seed {seed}: {wrong}" if truth.plant else wrong])
            conflicts |= two_values(document)
    except RunError as error:
        made.failures.append(str(error))
        return made
    for expected, found in zip(truth.expectations, problems, strict=True):
        judge(made, expected.kind, expected.label, found, expected.gap)
    for name in sorted({*conflicts, *truth.two_values}):
        gap = "one figure has two values" if name in truth.two_values else None
        judge(made, "never_says", f"two values of {name}", [conflicts[name]] if name in conflicts else [], gap)
    return made


def judge(made: Score, kind: str, label: str, problems: list[str], gap: str | None) -> None:
    """Counts an expectation, and whether its mark is right."""
    made.counts["expected"] += 1
    made.counts[KINDS[kind] if problems else "found"] += 1
    match problems, gap:
        case [], None:
            made.passed += 1
        case [], _:
            made.failures.append(f"{label}: holds now; remove the gap")
        case [first, *_], None:
            made.failures.append(f"{label}: {textwrap.shorten(first, 240, placeholder=' …')}")
        case _:
            made.counts["gaps"] += 1
            made.gaps.append(f"{label}: {gap}")


def analyzed(truth: Truth, tools: Tools, seed: int) -> tuple[Document, RankTruths]:
    """The document about a trace, and what the generator knows of it."""
    with tempfile.TemporaryDirectory() as work:
        folder, ranks = Path(work), []
        inputs = [DATA / path for path in truth.trace] + [REPOSITORY / path for path in truth.fixture]
        if truth.plant:
            ranks = generate(truth, tools, seed, folder)
            inputs = [folder / "node0"]
        output = folder / f"document.{truth.format}"
        words = [*truth.command, *map(str, inputs), "-f", truth.format, "-q", "-o", str(output)]
        run([str(tools.program), *words], ANSWERED)
        try:
            text = output.read_text()
            return json.loads(text) if truth.format == "json" else {"text": text}, ranks
        except (OSError, json.JSONDecodeError) as error:
            raise RunError(f"no document: {error}") from error


def generate(truth: Truth, tools: Tools, seed: int, folder: Path) -> RankTruths:
    """Makes the run of a plant; returns what it cost each rank."""
    ranks = max(truth.ranks, 1)
    words = ["--plant", str(truth.plant), "--ranks", str(ranks), "--gpus-per-node", str(ranks), "--streams", "2"]
    run([str(tools.generator), *words, "--seed", str(seed), "-o", str(folder)], (0,))
    files = sorted((folder / "node0").iterdir(), key=lambda path: int(path.name.partition("_")[0]))
    for rank in truth.without:
        files[rank].unlink()
    truths: RankTruths = json.loads((folder / "truth.json").read_text())
    return truths


def run(words: list[str], codes: tuple[int, ...]) -> None:
    finished = subprocess.run(words, capture_output=True, check=False, text=True)
    if finished.returncode not in codes:
        last = (finished.stderr.strip().splitlines() or ["no message"])[-1]
        raise RunError(f"exit {finished.returncode} from {' '.join(words)}: {last}")


def report(scores: Iterable[Score]) -> int:
    """Prints failures, gaps and the table; returns the exit code."""
    scores = list(scores)
    total: Counter[str] = Counter()
    for one in scores:
        total += one.counts
        for failure in one.failures:
            print(f"FAILED {one.truth.name}: {failure}")
    for one in scores:
        for gap in one.gaps:
            print(f"gap {one.truth.name}: {gap}")
    width = max((len(one.truth.name) for one in scores), default=0)
    print(f"\n{'trace':{width}}", *(f"{column:>10}" for column in COLUMNS))
    for one in scores:
        if one.skipped is None:
            print(f"{one.truth.name:{width}}", *(f"{one.counts[column]:10}" for column in COLUMNS))
    print(f"{'total':{width}}", *(f"{total[column]:10}" for column in COLUMNS))
    skipped = [one for one in scores if one.skipped]
    for one in skipped:
        print(f"SKIPPED {one.truth.name}: {one.skipped}")
    failed = sum(len(one.failures) for one in scores)
    if not any(one.counts for one in scores):
        print("FAILED all: nothing was compared")
        failed += 1
    print(f"{sum(one.passed for one in scores)} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
