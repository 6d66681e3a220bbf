#!/usr/bin/env python3
"""Validates what `lab autotune`, `capture`, `replay`, `code` and `optimize` print as JSON by the published schemas, with no room for other keys.

Programs run under the profiler and the HSA runtime of the tests. A program that finds nothing and an empty object are refused.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

from lab import problems, strict

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """extern "C" __attribute__((global)) void scale(float* out, const float* in, int n) {
    for (int i = 0; i < n; ++i) out[i] = in[i] * 2.0f;
}
"""


class Lab:
    """A folder with the tools that the verbs need."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        programs = folder / "bin"
        programs.mkdir()
        (programs / "rocprofv3").symlink_to(binary.parent / "examples/fake_rocprofv3")
        (folder / "kernels.txt").write_text("kernel scale 40 100000 3\n")
        (programs / "fake_rocprofv3.env").write_text(f"FAKE_ROCPROFV3_KERNELS={folder}/kernels.txt\n")
        runtime = folder / "runtime"
        runtime.mkdir()
        (runtime / "libhsa-runtime64.so.1").symlink_to(binary.parent / "libhsa_runtime64.so")
        self.environment = {
            **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(runtime), "TMPDIR": str(folder),
            "WAVESIEVE_CAPTURE_LIBRARY": str(binary.parent / "libwavesieve_capture.so"),
        }

    def printed(self, *arguments, codes=(0,), **options):
        command = [self.binary, "lab", *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, cwd=self.folder, **options)
        if done.returncode not in codes:
            raise RuntimeError(f"{command} exits with {done.returncode}: {done.stderr.decode()[-300:]}")
        return json.loads(done.stdout)


def documents(lab):
    """Names of schemas, what was run, and what it printed."""
    numbers = ["--parameter", "n=2,5,9", "--measure", "printed", "--pattern", "[0-9]+", "-f", "json", "--", "echo"]
    yield "lab-autotune", "numbers", lab.printed("autotune", *numbers, "{n}")
    script = ["sh", "-c", "test {n} -lt 9 && echo {n}"]
    yield "lab-autotune", "one fails", lab.printed("autotune", *numbers[:-1], *script)
    application = [lab.binary.parent / "hsa_application", ROOT / "tests/fake_hsa/kernels.hsaco"]
    for options in (["--kernel", "^add$"], ["--kernel", ".", "--dispatch", "0-2", "--reachable", "--compress", "zstd"]):
        output = lab.folder / f"captures{len(options)}"
        document = lab.printed("capture", *options, "-o", output, "-f", "json", "--", *application)
        yield "lab-capture", options, document
        capture = output / document["captures"][0]["directory"]
        for more in (["-n", "3"], ["--expect", capture], ["--inspect"], ["--check-addresses"]):
            yield "lab-replay", more, lab.printed("replay", capture, *more, "-f", "json", codes=(0, 4))
    objects = ROOT / "fixtures/code_object"
    for more in ([], ["--source", objects / "kernels.hip", "--against", objects / "kernels.hsaco"], ["--work-items", "2048"]):
        yield "lab-code", more, lab.printed("code", objects / "kernels.hsaco", *more, "-f", "json")
    code = lab.folder / "code"
    code.mkdir()
    (code / "kernel.hip").write_text(KERNEL)
    options = ["--build", "true", "--check", "true", "--runs", "4", "--workgroup", "64", "-f", "json"]
    document = lab.printed("optimize", "code/kernel.hip", *options, "-o", "lab", "--", "true", codes=(0, 4))
    yield "lab-optimize", "transforms", document
    if not document["attempts"]:
        raise RuntimeError("lab optimize made no attempt")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    binary = Path(options.binary).resolve()
    failed, checked, schemas = [], 0, {}
    with tempfile.TemporaryDirectory() as directory:
        for name, what, document in documents(Lab(binary, Path(directory))):
            if name not in schemas:
                text = subprocess.run([binary, "schema", name], capture_output=True, check=True).stdout
                schemas[name] = json.loads(text)
                jsonschema.Draft202012Validator.check_schema(schemas[name])
                if not list(problems(schemas[name], {})):
                    failed.append(f"{name}: an empty object is not refused")
            for schema in (schemas[name], strict(schemas[name])):
                failed += [f"{name} {what}: {problem}" for problem in problems(schema, document)]
            checked += 1
    for problem in failed[:30]:
        print(problem, file=sys.stderr)
    print(f"lab outputs: {checked} documents, {len(failed)} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
