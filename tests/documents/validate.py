#!/usr/bin/env python3
"""Validates the documents of `analyze` with an independent validator, and compares what they say across formats.

Of every input: the JSON document, and what info, check, table and convert write, by their published schemas; that of rocinsight
in every version by a schema made from its description; every number of the JSON document is in the Markdown and the text; writing twice gives the same bytes.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import jsonschema

HERE = Path(__file__).parent
QUERIES = ("kernel_summary", "time_breakdown", "trace_health", "device_constants")
COMPATIBLE = ["rocinsight", "rocinsight-0.1.0", "rocinsight-0.2.0", "rocinsight-0.3.0", "rocinsight-0.4.0"]


def written(binary, source, *options):
    """The bytes that analyze writes to standard output, with the names that JSON has; a source is a list of arguments."""
    command = [binary, "analyze", *source, "--quiet", "--name", "full", *options]
    done = subprocess.run(command, capture_output=True)
    if done.returncode not in (0, 5):
        raise RuntimeError(f"{command} exits with {done.returncode}: {done.stderr.decode()[-300:]}")
    return done.stdout


def problems(schema, document):
    validator = jsonschema.Draft202012Validator(schema)
    for error in sorted(validator.iter_errors(document), key=lambda error: list(map(str, error.path))):
        yield f"{'/'.join(map(str, error.path))}: {error.message[:200]}"


def strict(schema):
    """The schema with no room for keys that it does not name."""
    if isinstance(schema, dict):
        return {key: False if key == "additionalProperties" and value is True else strict(value) for key, value in schema.items()}
    return [strict(one) for one in schema] if isinstance(schema, list) else schema


def extended(document):
    """The document with a key more in every object, which readers must ignore. Objects whose keys are numbers are maps, without keys to add."""
    if isinstance(document, dict):
        is_map = all(key.isdigit() for key in document) and document
        return {**{key: extended(value) for key, value in document.items()}, **({} if is_map else {"added_later": "later"})}
    return [extended(one) for one in document] if isinstance(document, list) else document


def of_json_outputs(binary, schemas, source):
    """What is wrong with the JSON of info, check, table and a dataset's manifest by their schemas."""

    def printed(*arguments):
        done = subprocess.run([binary, *arguments, "--quiet"], capture_output=True)
        if done.returncode not in (0, 3, 4, 5):
            raise RuntimeError(f"{arguments} exits with {done.returncode}: {done.stderr.decode()[-300:]}")
        return done.stdout

    info = json.loads(printed("info", *source, "-f", "json"))
    check = json.loads(printed("check", *source, "-f", "json"))
    outputs = [("info", info), ("check", check)]
    with tempfile.TemporaryDirectory() as directory:
        for form in ("json", "jsonl"):
            printed("table", ",".join(QUERIES), *source, "-f", form, "-o", f"{directory}/{form}")
        for query in QUERIES:
            table = json.loads(Path(directory, "json", f"{query}.json").read_text())
            lines = [json.loads(line) for line in Path(directory, "jsonl", f"{query}.jsonl").read_text().splitlines()]
            outputs += [("table", table), ("table", lines)]
            if table != lines:
                yield f"{query}: -f json and -f jsonl differ"
    # A source may name several inputs, of which compare takes each once a side.
    sides = [word for word in source if word != "-i"]
    comparison = printed("compare", "--base", *sides, "--new", *sides, "-f", "json")
    if comparison:
        outputs.append(("compare", json.loads(comparison)))
    with tempfile.TemporaryDirectory() as directory:
        printed("convert", *source, "-o", f"{directory}/dataset")
        outputs.append(("dataset", json.loads((Path(directory) / "dataset/manifest.json").read_text())))
    for name, output in outputs:
        yield from (f"{name}: {problem}" for problem in problems(strict(schemas[name]), output))
        if name not in ("table", "dataset"):
            yield from (f"{name} with a key more: {problem}" for problem in problems(schemas[name], extended(output)))
    # Documents that no program writes must be refused, or the schemas check nothing.
    for name, output, key in (("info", info, "rank"), ("check", check, "severity"), ("dataset", outputs[-1][1], "format")):
        torn = json.loads(json.dumps(output))
        record = torn if isinstance(torn, dict) else torn[0] if torn else None
        if record is not None:
            record[key] = [None]
            if not list(problems(schemas[name], torn)):
                yield f"{name}: a wrong {key} is not refused"


def of_a_capture(binary, schema):
    """What is wrong with what `lab replay` says of a capture."""
    command = [binary, "lab", "replay", HERE.parents[1] / "fixtures/capture", "--inspect", "-f", "json", "--quiet"]
    held = subprocess.run(command, capture_output=True, check=True).stdout
    return [f"lab-replay: {problem}" for problem in problems(strict(schema), json.loads(held))]


def plain(text):
    """A text without the escapes of Markdown and without the breaks of lines."""
    return re.sub(r"\s+", " ", re.sub(r"\\(.)", r"\1", text))


def tables(document):
    for section in document["sections"]:
        yield from section["tables"]
    for finding in document["findings"]:
        yield from finding["evidence"]


def without_kernel(line):
    """A command line without the kernel that it names."""
    return re.sub(r"(--kernel-include-regex|--kernel|--name) ('[^']*'|\S+)", r"\1", line)


def number_of_earlier(line, findings, own):
    """The number of the first finding before this one with the command, for the same kernel or another one; None without any."""
    for number, finding in enumerate(findings, 1):
        if finding is own:
            return None
        if any(without_kernel(command["line"]) == without_kernel(line) for command in finding["commands"]):
            return number
    return None


def missing(document, markdown, text):
    """What the JSON document says and another format does not: texts of findings, counts and names of rows."""
    markdown, text = plain(markdown), plain(text)
    for finding in document["findings"]:
        for said in [finding["title"], finding["explanation"], *finding["advice"], finding["id"]]:
            for piece in said.split("`"):
                if plain(piece).strip() not in markdown:
                    yield f"Markdown lacks {piece!r} of {finding['id']}"
            if plain(said) not in text:
                yield f"text lacks {said!r} of {finding['id']}"
        for command in finding["commands"]:
            repeated = number_of_earlier(command["line"], document["findings"], finding)
            if plain(command["line"]) not in text and not (repeated and f"of finding {repeated} appl" in text):
                yield f"text lacks {command['line']!r}"
    for section in document["sections"]:
        for name, shown in (("Markdown", markdown), ("text", text)):
            if plain(section["title"]) not in shown or plain(section["about"]) not in shown:
                yield f"{name} lacks the section {section['id']}"
    for table in tables(document):
        units = {column["name"]: column["unit"] for column in table["columns"]}
        for row in table["rows"]:
            values = row.get("values", row)
            for name, value in values.items():
                if isinstance(value, int) and not isinstance(value, bool) and units[name] in ("count", "id"):
                    for kind, shown in (("Markdown", markdown), ("text", text)):
                        if not re.search(rf"(?<![\d.]){value}(?![\d.])", shown):
                            yield f"{kind} lacks {name} {value} of {table['title']}"
                if isinstance(value, str) and plain(value).strip() not in markdown:
                    yield f"Markdown lacks {name} {value!r} of {table['title']}"


def keys(document):
    """Keys of rows and ids that come twice."""
    sections = [section["id"] for section in document["sections"]]
    shown = [table["id"] for section in document["sections"] for table in section["tables"]]
    findings = [finding["id"] for finding in document["findings"]]
    for several in [sections, shown, findings]:
        yield from (f"{one} comes twice" for one in set(several) if several.count(one) > 1)
    for section in document["sections"]:
        for table in section["tables"]:
            rows = [row["key"] for row in table["rows"]]
            yield from (f"{table['id']}: the key {one} comes twice" for one in set(rows) if rows.count(one) > 1)
            shown = [column["name"] for column in table["columns"]]
            if any(sorted(row["values"]) != sorted(shown) for row in table["rows"]):
                yield f"{table['id']}: rows have other columns than declared"


def of_source_in_all(binary, schemas, other, source, compatible_versions):
    """What is wrong with the documents of a source, in every format."""
    as_json = written(binary, source, "--format", "json")
    document = json.loads(as_json)
    yield from problems(strict(schemas["document"]), document)
    yield from (f"with a key more: {problem}" for problem in problems(schemas["document"], extended(document)))
    yield from keys(document)
    if "--source-dir" not in source:
        yield from of_json_outputs(binary, schemas, source)
    markdown = written(binary, source, "--format", "markdown").decode()
    text = written(binary, source, "--format", "text").decode()
    yield from missing(document, markdown, text)
    for version in compatible_versions:
        theirs = json.loads(written(binary, source, "--json-compat", version))
        yield from (f"{version}: {problem}" for problem in problems(other, theirs))
        if version != "rocinsight" and theirs["schema_version"] != version.split("-")[1]:
            yield f"{version} has version {theirs['schema_version']}"
    with tempfile.TemporaryDirectory() as directory:
        again = Path(directory) / "again.json"
        subprocess.run([binary, "analyze", *source, "--quiet", "-o", again, "--threads", "1"], check=False)
        if again.read_bytes() != as_json:
            yield "written again it has other bytes"


def of_pages(binary, schema, source):
    """A page written again, by its other name and with one thread, has the same bytes. Its time line is valid, and so is that of a comparison."""
    page = written(binary, source, "--format", "html")
    compared = subprocess.run([binary, "compare", source[0], source[0], "--quiet", "-f", "html"], capture_output=True).stdout
    for name, text in (("page", page), ("comparison", compared)):
        held = re.search(rb'<script type="application/json" id="wavesieve-timeline">(.*?)</script>', text, re.DOTALL)
        if not held:
            yield f"the {name} has no time line"
            continue
        picture = json.loads(held[1])
        yield from (f"time line of the {name}: {problem}" for problem in problems(strict(schema), picture))
        yield from (f"time line with a key more: {problem}" for problem in problems(schema, extended(picture)))
        picture["overview"]["bins"] = "1"
        if not list(problems(schema, picture)):
            yield "time line: a wrong number of bins is not refused"
    if page != written(binary, source, "--format", "webview", "--threads", "1"):
        yield "written again the page has other bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--inputs", nargs="+", required=True)
    parser.add_argument("--source-dir", help="source code to analyse alone, and beside the first input")
    options = parser.parse_args()
    described = subprocess.run([options.binary, "schema", "document"], capture_output=True, check=True).stdout
    own = json.loads(described)
    other = json.loads((HERE / "rocinsight.json").read_text())
    for schema in (own, other):
        jsonschema.Draft202012Validator.check_schema(schema)
    schemas = {"document": own}
    for topic in ("info", "check", "table", "dataset", "compare", "timeline", "lab-replay"):
        text = subprocess.run([options.binary, "schema", topic], capture_output=True, check=True).stdout
        schemas[topic] = json.loads(text)
        jsonschema.Draft202012Validator.check_schema(schemas[topic])
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as directory:
        index = json.loads(subprocess.run([options.binary, "schema", "index"], capture_output=True, check=True).stdout)
        jsonschema.Draft202012Validator.check_schema(index)
        batch = ["report", *options.inputs, "--group-by", "input", "--format", "json", "--quiet", "--dir", directory]
        subprocess.run([options.binary, *batch], check=False, stderr=subprocess.DEVNULL)
        written_index = json.loads((Path(directory) / "index.json").read_text())
        found = list(problems(strict(index), written_index))
        passed, failed = passed + (not found), failed + bool(found)
        for problem in found[:20]:
            print(f"index: {problem}", file=sys.stderr)
    sources = [[source] for source in options.inputs]
    if options.source_dir:
        of_source = ["--source-dir", options.source_dir]
        sources += [of_source, [options.inputs[0], *of_source]]
    checked = [("lab replay", lambda: of_a_capture(options.binary, schemas["lab-replay"]))]
    for source in sources:
        # Older versions leave fields out, which one input shows as well as many.
        versions = COMPATIBLE if source == sources[0] or options.source_dir in source else COMPATIBLE[:1]
        checked.append((" ".join(source), partial(of_source_in_all, options.binary, schemas, other, source, versions)))
    checked.append((sources[0][0], lambda: of_pages(options.binary, schemas["timeline"], sources[0])))
    with ThreadPoolExecutor(2) as pool:
        for (label, _), found in zip(checked, pool.map(lambda one: list(one[1]()), checked)):
            passed, failed = passed + (not found), failed + bool(found)
            for problem in found[:20]:
                print(f"{label}: {problem}", file=sys.stderr)
    print(f"documents: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
