#!/usr/bin/env python3
"""One figure, one value: reads every number of a document in all formats and finds its cell in the JSON document.

- Tables, tiles and figures of text, Markdown, HTML and xlsx: each shown number is the JSON document's, rounded as screens round. An
  analysis takes longer than all of this check, so each input has one of these formats, by turns; `--all` checks all of them.
- Titles, summary, explanations and views are the same sentences in all formats.
- Each number of these sentences is a cell of the document or of a table that its finding names, or a sum, mean, extreme or share of such
  cells. To show that this is no accident, numbers that are changed a little must not be found (`--strength`, a share of them).
"""

import argparse
import html
import itertools
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path

FACTORS = {
    "ns": {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9, "days": 86400e9},
    "bytes": {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
    "pct": {"%": 1},
    "rate": {"GB/s": 1, "TB/s": 1e3, "MB/s": 1e-3},
}
UNITS = {name: (kind, factor) for kind, names in FACTORS.items() for name, factor in names.items()}
# A number of a sentence: not a part of a name, with its unit, or the noun that it counts.
NUMBER = re.compile(
    r"(?<![\w.,:#/\-<(+*])(-?\d[\d,]*(?:\.\d+)?) ?(%|ns|µs|us|ms|s|min|h|B|[KMGT]iB|[GMT]B/s)?(?![\w.:/*+-]*[\w/*])"
)
# Numbers that are names, limits of the program or of GPUs, and not figures of the run.
NAMES = re.compile(r"(?i)\b(?:rank|gpu|device|iteration|process|queue|stream|thread|node|step|unit|line|tier|see|confidence|xcc|percentile|ranks)s? $")
# Bounds of rules.
BOUND = re.compile(r"\((?:below|above|from) [^)]*\)|within \d+ µs|under \d+ µs")
FORMS = ("md", "html", "xlsx", "txt")
CODE = re.compile(r"`[^`]*`")
SPAN = "time_breakdown"
# Tables of findings whose sentences have numbers of more than their evidence: arguments before the inputs, and after them.
MORE = {
    "rows_left_out": [(["sql", "SELECT (SELECT COUNT(*) FROM kernels) + (SELECT COUNT(*) FROM memory_copies) AS rows_of_work"], [])],
    "unused_gpus": [(["sql", "SELECT COUNT(*) AS visible FROM agents WHERE agent_type = 'GPU'"], [])],
}
# Findings whose sentences no table of the document shows, with the reason.
WITHOUT_CELLS = {"fusion_candidates": "chains of kernels overlap; each pair of kernels counts once"}


class Failure(Exception):
    """A program fails."""


def output_of(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, check=False)
    if done.returncode not in (0, 4, 5):
        raise Failure(f"{' '.join(map(str, words[1:]))} exits with {done.returncode}: {done.stderr.decode()[-300:]}")
    return done.stdout.decode()


def decimals(text):
    return len(text.partition(".")[2])


def shows(text, exact, factor=1.0):
    """Whether a number as a screen shows it is this value."""
    shown = float(text.replace(",", ""))
    room = 0.5000001 * 10.0 ** -decimals(text) + 1e-9 * abs(shown)
    return abs(exact / factor - shown) <= room


# Tables ---------------------------------------------------------------------------------------------------------------


def headed(heading, names):
    """The column of a heading such as `idle us`, and the factor of its unit."""
    heading = heading.strip().replace("\\", "")
    if heading in names:
        return heading, 1.0
    stem, _, unit = heading.rpartition(" ")
    if unit in UNITS:
        kind, factor = UNITS[unit]
        for name in (f"{stem}_ns", f"{stem}_bytes", f"{stem}_gb_per_s", stem, "bytes"):
            if name in names and kind_of(name) == kind:
                return name, factor
    return None, 1.0


def number_in(text):
    return re.fullmatch(r"-?\d[\d,]*(?:\.\d+)?", text.strip())


def compare_table(place, heading, rows, table):
    """Problems of a shown table, and the number of cells that were compared."""
    names = [column["name"] for column in table["columns"]]
    columns = [headed(name, names) for name in heading]
    compared = 0
    for shown, record in zip(rows, table["rows"]):
        record = record.get("values", record)
        for text, (name, factor) in zip(shown, columns):
            exact = record.get(name) if name else None
            if isinstance(exact, bool) or not isinstance(exact, (int, float)) or not number_in(text):
                continue
            compared += 1
            if not shows(text, exact, factor):
                yield f"{place}: {name} shows {text} of {exact}"
    yield compared


def tables_of(document):
    """(title, table) of each table of a document, with those of findings."""
    for finding in document["findings"]:
        for evidence in finding["evidence"]:
            yield evidence["title"], evidence
    for section in document["sections"]:
        for table in section["tables"]:
            yield table["title"], table


def markdown_tables(text):
    """(title, heading, rows) of each table; the title stands before it."""
    title, heading, rows = "", None, []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            cells = [cell.strip().replace("\\", "") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if heading is None:
                heading = cells
            elif not re.fullmatch(r"\|(?: :?-+:? \|)+", line):
                rows.append(cells)
        else:
            if heading:
                yield title, heading, rows
                heading, rows = None, []
            if line.strip() and not line.startswith("…"):
                title = line.lstrip("# ").partition(": `")[0].replace("\\", "")


HEADING = re.compile(r"[a-z][a-z0-9_]*(?: [A-Za-zµ%/]+)?|[KMGT]?i?B(?:/s)?")


def columns_of(block):
    """The cells of lines, whose columns are two blanks or more apart in all of them."""
    width = max(map(len, block))
    blank = "".join(" " if all(line[place : place + 1].strip() == "" for line in block) else "x" for place in range(width))
    spans = [found.span() for found in re.finditer(r"x(?: ?x)*", blank)]
    rows = []
    for line in block:
        row = [line[start:end].strip() for start, end in spans]
        # Texts may go on in the next line.
        if rows and "" in row and not any(map(number_in, row)):
            rows[-1] = [f"{above} {below}".strip() for above, below in zip(rows[-1], row)]
        else:
            rows.append(row)
    return rows


def indent(line):
    return len(line) - len(line.lstrip())


def text_tables(text):
    """(title, heading, rows) of each table of a text. A wide table comes in parts below one another, which are joined."""
    found, block, before = [], [], ""

    def take(block):
        heading, *rows = columns_of(block)
        if not rows or not all(HEADING.fullmatch(name) for name in heading):
            return False
        if before:
            found.append((before, heading, rows))
        elif found and len(found[-1][2]) == len(rows):
            title, first, others = found[-1]
            found[-1] = (title, first + heading, [one + other for one, other in zip(others, rows)])
        return True

    for line in [*text.splitlines(), ""]:
        evidence = re.fullmatch(r" +(.+?): `.*`", line)
        title = re.fullmatch(r"(\S.*):", line)
        # Other text may follow a table at once, less to the right.
        is_over = bool(block) and indent(line) < indent(block[0])
        if evidence or title or is_over or not line.strip() or line.strip().startswith("…"):
            # A title may take two lines.
            first = block[0] if title and len(block) == 1 else ""
            # Only the first part of a table has a title.
            before = "" if block and take(block) else before
            block = []
            before = evidence[1] if evidence else f"{first} {title[1]}".strip() if title else before
        else:
            block.append(line)
    return found


class Page(HTMLParser):
    """Tables, tiles and figures of an HTML report."""

    def __init__(self):
        super().__init__()
        self.tables, self.tiles, self.facts, self.title = [], [], [], ""
        self.stack, self.text, self.value, self.tile, self.fact = [], None, None, None, None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ("h3", "h4", "th", "td", "dd") or attributes.get("class") == "card-value":
            self.text, self.value = "", attributes.get("data-v", self.value if tag == "span" else None)
        if tag == "table":
            self.tables.append((self.title, [], []))
        elif tag == "tr" and self.tables:
            self.tables[-1][2].append([])
        elif "data-figure" in attributes and tag == "li":
            self.tile = (attributes["data-figure"], attributes.get("data-v"))
        elif "data-figure" in attributes:
            self.fact = attributes["data-figure"]
        elif tag == "th" and "data-name" in attributes and self.tables:
            self.tables[-1][1].append(attributes["data-name"])

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag):
        if tag in ("h3", "h4") and self.text is not None:
            self.title, self.text = self.text.strip(), None
        elif tag in ("td", "th") and self.tables and self.tables[-1][2] and self.text is not None:
            self.tables[-1][2][-1].append((self.value, self.text.strip()))
            self.text = None
        elif tag == "span" and self.tile and self.text is not None:
            self.tiles.append((*self.tile, self.text.strip()))
            self.tile = self.text = None
        elif tag == "dd" and self.fact and self.text is not None:
            self.facts.append((self.fact, self.value, self.text.strip()))
            self.fact = self.text = None


def sheets(path):
    """Rows of texts of each sheet of a workbook, by name."""
    main = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as book:
        strings = []
        if "xl/sharedStrings.xml" in book.namelist():
            root = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            strings = ["".join(text.text or "" for text in one.iter(f"{main}t")) for one in root]
        names = [one.get("name") for one in ElementTree.fromstring(book.read("xl/workbook.xml")).iter(f"{main}sheet")]
        found = {}
        for number, name in enumerate(names, 1):
            found[name] = []
            for row in ElementTree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml")).iter(f"{main}row"):
                cells = {}
                for cell in row.iter(f"{main}c"):
                    letters = re.match("[A-Z]+", cell.get("r"))[0]
                    place = sum((ord(letter) - 64) * 26**power for power, letter in enumerate(reversed(letters)))
                    value = cell.find(f"{main}v")
                    text = "".join(part.text or "" for part in cell.iter(f"{main}t")) if value is None else value.text
                    cells[place] = strings[int(text)] if cell.get("t") == "s" else text
                found[name].append([cells.get(place, "") for place in range(1, max(cells, default=0) + 1)])
        return found


# Sentences ------------------------------------------------------------------------------------------------------------


def kind_of(column):
    if column.endswith(("_ns", "_cycles")):
        return "ns"
    if column.endswith("pct"):
        return "pct"
    if column.endswith("bytes"):
        return "bytes"
    if column.endswith("gb_per_s"):
        return "rate"
    return "count"


class Cells:
    """Values that numbers of sentences may be, by kind."""

    def __init__(self, spans, steps):
        self.exact = {kind: set() for kind in (*FACTORS, "count")}
        # What shares are of: times by GPU, and of all GPUs; and how many steps all GPUs made together.
        self.spans, self.steps = spans, steps

    def add(self, kind, value):
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            self.exact[kind].add(abs(float(value)))

    def add_table(self, rows):
        """Cells, and for all rows and those with one value in a column sums, extremes, means and their shares of one another."""
        if not rows:
            return
        columns = [column for column in rows[0] if any(isinstance(row[column], (int, float)) for row in rows)]
        labels = [column for column in rows[0] if column not in columns or column in ("rank", "gpu", "device")]
        groups = {(): rows}
        for chosen in [(column,) for column in labels] + list(itertools.combinations(labels, 2)):
            for row in rows:
                groups.setdefault((chosen, *(str(row[column]) for column in chosen)), []).append(row)
        for row in rows:
            for column in columns:
                self.add(kind_of(column), row[column])
                if kind_of(column) == "ns" and isinstance(row[column], (int, float)):
                    for whole in self.spans.get((row.get("rank"), row.get("gpu")), ()):
                        self.add("pct", 100 * row[column] / whole)
            self.derive(row, columns)
        for label, group in groups.items():
            values = {column: [row[column] for row in group if isinstance(row[column], (int, float))] for column in columns}
            self.add("count", len(group))
            sums = {}
            for column, numbers in values.items():
                if numbers:
                    sums[column] = sum(numbers)
                    for value in (sums[column], max(numbers), min(numbers), sums[column] / len(numbers)):
                        self.add(kind_of(column), value)
            self.derive(sums, columns)
            for column, value in sums.items():
                if kind_of(column) == "ns":
                    self.add("ns", value / self.steps)
                    for whole in self.spans[None]:
                        self.add("pct", 100 * value / whole)
                # The share of a group among all rows, and within each group of one label.
                for of in [(), (label[0][:1], label[1])] if len(label) > 2 else [()]:
                    of_all = sum(row[column] for row in groups[of] if isinstance(row[column], (int, float)))
                    if kind_of(column) in ("ns", "bytes", "count") and of_all:
                        self.add("pct", 100 * value / of_all)

    def derive(self, record, columns):
        """Means and shares within a record."""
        times = [record[column] for column in columns if kind_of(column) == "ns" and isinstance(record.get(column), (int, float))]
        counts = [record[column] for column in columns if kind_of(column) == "count" and isinstance(record.get(column), (int, float))]
        sizes = [record[column] for column in columns if kind_of(column) == "bytes" and isinstance(record.get(column), (int, float))]
        for count in counts:
            if count > 0:
                for time in times:
                    self.add("ns", time / count)
                for size in sizes:
                    self.add("bytes", size / count)
        for part, whole in itertools.permutations(times, 2):
            if whole < part:
                self.add("ns", part - whole)
                for span in self.spans[None]:
                    self.add("pct", 100 * (part - whole) / span)
            if whole:
                self.add("pct", 100 * part / whole)
                self.add("pct", 100 * (part - whole) / whole)

    def has(self, kind, text, factor):
        return any(shows(text, value, factor) for value in self.exact[kind])


def numbers_in(sentence, names):
    """(text, kind, factor) of each number of a sentence, without those of names and code."""
    sentence = BOUND.sub("", CODE.sub("``", sentence))
    for name in sorted(names, key=len, reverse=True):
        sentence = sentence.replace(name, "…")
    for found in NUMBER.finditer(sentence):
        text, unit = found.groups()
        if unit is None:
            if NAMES.search(sentence[: found.start()]) or not re.match(r" [a-z]", sentence[found.end() :]):
                continue
            yield text, "count", 1.0
        else:
            yield (text, *UNITS[unit])


def names_of(document):
    """Texts of cells, which may have digits."""
    found = set()
    for _, table in tables_of(document):
        for row in table["rows"]:
            texts = (value for value in row.get("values", row).values() if isinstance(value, str))
            found.update(text for text in texts if len(text) > 3 and re.search(r"\d", text) and re.search("[A-Za-z]{2}", text))
    return found


class Checked:
    """The document of an input in some formats."""

    def __init__(self, binary, inputs, options, forms=FORMS):
        self.binary, self.inputs, self.options, self.forms = binary, inputs, options, forms
        self.problems, self.compared, self.changed, self.caught = [], 0, 0, 0
        self.label = Path(inputs[0]).name
        self.tables = {}

    def run(self):
        with tempfile.TemporaryDirectory() as work:
            self.document = json.loads(self.written("json", work).read_text())
            paths = {form: self.written(form, work) for form in self.forms}
            texts = {form: path.read_text() for form, path in paths.items() if form != "xlsx"}
            for form, check in (("md", self.markdown), ("html", self.page), ("txt", self.text)):
                if form in texts:
                    check(texts[form])
            if "xlsx" in paths:
                self.workbook(sheets(paths["xlsx"]))
            self.same_sentences(texts)
            self.sentences()
        return self

    def written(self, form, work):
        """The document in a format."""
        path = Path(work) / f"document.{form}"
        output_of([self.binary, "analyze", *self.inputs, "-q", "-f", "text" if form == "txt" else form, *self.options, "-o", path])
        return path

    def fail(self, problem):
        self.problems.append(f"{self.label}: {problem}")

    def take(self, results):
        for result in results:
            if isinstance(result, int):
                self.compared += result
            else:
                self.fail(result)

    # Formats

    def by_title(self):
        found = {}
        for title, table in tables_of(self.document):
            found.setdefault(re.sub(r"\W+", " ", title).strip(), []).append(table)
        return found

    def shown_tables(self, form, shown):
        """Tables of a format, in the order of the document."""
        expected = self.by_title()
        seen = 0
        for title, heading, rows in shown:
            of_title = expected.get(re.sub(r"\W+", " ", title).strip())
            if of_title:
                seen += 1
                self.take(compare_table(f"{form}, {title}", heading, rows, of_title.pop(0)))
        wanted = sum(1 for _, table in tables_of(self.document) if table["rows"])
        if seen < wanted:
            missing = [title for title, left in expected.items() if any(table["rows"] for table in left)]
            self.fail(f"{form} has {seen} of {wanted} tables; missing: {', '.join(missing[:4])}")

    def markdown(self, text):
        self.shown_tables("md", markdown_tables(text))
        self.figures_as_words("md", text, r"^\| (.+?) \| (.+?) \| .*\|$")

    def text(self, text):
        self.shown_tables("txt", text_tables(text))
        self.figures_as_words("txt", text, r"^  ?(.+?)  +(\S.*)$")

    def figure(self, label):
        return next((figure for figure in self.document["figures"] if figure["label"] == label), None)

    def figures_as_words(self, form, text, line):
        """Lines of a label and a value."""
        seen = set()
        part = text[text.find("Figures") :] if "Figures" in text else ""
        for label, value in re.findall(line, part, re.MULTILINE):
            figure = self.figure(label.strip().replace("\\", ""))
            if figure and figure["id"] not in seen:
                seen.add(figure["id"])
                self.tile(f"{form}, figures", figure, value)
        lacks = [figure["id"] for figure in self.document["figures"] if figure["id"] not in seen]
        if form == "md" and lacks:
            self.fail(f"{form} lacks the figures {', '.join(lacks)}")

    def tile(self, place, figure, shown):
        found = re.search(r"(-?\d[\d,]*(?:\.\d+)?) ?(%|[a-zµ]+B?|[KMGT]iB|[GMT]B/s)?", shown)
        if not found or not isinstance(figure["value"], (int, float)):
            return
        self.compared += 1
        factor = UNITS.get(found[2] or "", ("", 1.0))[1]
        if not shows(found[1], figure["value"], factor):
            self.fail(f"{place}: {figure['id']} shows {shown} of {figure['value']}")

    def page(self, text):
        page = Page()
        page.feed(text)
        self.shown_tables("html", ((title, heading, [[cell[0] or "" for cell in row] for row in rows[1:]]) for title, heading, rows in page.tables if heading))
        figures = {figure["id"]: figure for figure in self.document["figures"]}
        if not page.tiles and figures:
            self.fail("html has no tiles")
        for name, exact, shown in (*page.tiles, *page.facts):
            if name not in figures:
                self.fail(f"html: the tile {name} is no figure of the document")
                continue
            if isinstance(figures[name]["value"], (int, float)) and float(exact) != figures[name]["value"]:
                self.fail(f"html: the tile {name} has {exact} of {figures[name]['value']}")
            self.tile("html, tile", figures[name], shown)
        for _, _, rows in page.tables:
            for exact, shown in (cell for row in rows for cell in row):
                if exact is not None and number_in(exact) and number_in(shown):
                    self.compared += 1
                    factors = {1.0, *(factor for _, factor in UNITS.values())}
                    if not any(shows(shown, float(exact), factor) for factor in factors):
                        self.fail(f"html: a cell shows {shown} of {exact}")

    def workbook(self, found):
        overview = found["overview"]
        facts = [row for row in overview if len(row) > 2]
        for row in facts:
            figure = self.figure(row[0])
            if figure and number_in(row[1]) and isinstance(figure["value"], (int, float)):
                self.compared += 1
                factor = UNITS.get(row[2], ("", 1.0))[1]
                if not math.isclose(float(row[1]) * factor, figure["value"], rel_tol=1e-12):
                    self.fail(f"xlsx: the figure {row[0]} is {row[1]} {row[2]} of {figure['value']}")
        lines = {row[0] for row in overview if row}
        for text in (self.document["title"], self.document["summary"]):
            if text and text not in lines:
                self.fail(f"xlsx lacks: {text}")
        heading, *rows = found["findings"]
        by_id = {row[heading.index("id")]: row for row in rows}
        for finding in self.document["findings"]:
            row = by_id.get(finding["id"])
            if row is None:
                self.fail(f"xlsx lacks the finding {finding['id']}")
                continue
            saving = finding["saving"] or {}
            for name, key in (("saving_at_most", "wall_ns"), ("saving_unit", "unit_ns"), ("saving_gpu_time", "gpu_time_ns")):
                place = next((place for place, text in enumerate(heading) if text.partition(" ")[0] == name), None)
                if place is not None and place < len(row) and row[place] and saving.get(key) is not None:
                    self.compared += 1
                    if not math.isclose(float(row[place]) * UNITS[heading[place].partition(" ")[2]][1], saving[key], rel_tol=1e-9):
                        self.fail(f"xlsx: {name} of {finding['id']} is {row[place]} of {saving[key]} ns")
        ids = {table["id"]: table for section in self.document["sections"] for table in section["tables"]}
        for name, (heading, *rows) in ((name, rows) for name, rows in found.items() if rows):
            if name in ids:
                keyed = [record for record in ids[name]["rows"]]
                self.take(compare_table(f"xlsx, {name}", heading, rows[: len(keyed)], ids[name]))

    # Sentences

    def same_sentences(self, texts):
        read = {
            "md": lambda text: re.sub(r"\\(.)", r"\1", text),
            "html": lambda text: html.unescape(re.sub(r"<[^>]+>", "", text)).replace("`", ""),
            "txt": lambda text: text,
        }
        plain = {form: re.sub(r"\s+", "", read[form](text)) for form, text in texts.items()}
        sentences = [self.document["summary"], *(finding["title"] for finding in self.document["findings"])]
        sentences += [finding["explanation"] for finding in self.document["findings"]]
        sentences += [view["text"] for view in self.document["views"]]
        for sentence in filter(None, sentences):
            for form, text in plain.items():
                # Titles may have shorter names in some formats: their numbers are compared.
                wanted = re.sub(r"\s+", "", sentence.replace("`", "") if form == "html" else sentence)
                if wanted not in text:
                    for number, kind, _ in numbers_in(sentence, names_of(self.document)):
                        if kind != "count" and number not in text:
                            self.fail(f"{form} lacks {number} of: {sentence}")

    def full(self, evidence):
        """All rows of the question of an evidence, and those that are shown."""
        command = evidence["question"]["command"]
        if command not in self.tables:
            words = shlex.split(command)[1:]
            self.tables[command] = json.loads(output_of([self.binary, *words, "-q", "-f", "json"]))
        return self.tables[command]

    def spans(self):
        """What shares are of: times of each GPU, by rank and GPU, and sums over all."""
        wholes = {None: set()}
        for window in (["--window", "steady"], []):
            words = [self.binary, "table", SPAN, *self.inputs, "--by", "rank,gpu", "-q", "-f", "json", *window]
            try:
                rows = json.loads(output_of(words))
            except Failure:
                continue
            for column in ("span_ns", "kernel_sum_ns", "idle_ns"):
                for row in rows:
                    wholes.setdefault((row["rank"], row["gpu"]), set()).add(row[column])
                wholes[None].add(sum(row[column] for row in rows))
            wholes[None].add(sum(row["kernel_sum_ns"] - row["comm_ns"] for row in rows))
        if not wholes[None]:
            rows = self.answer(["table", "kernel_summary"], [])
            wholes[None].add(sum(row["total_ns"] for row in rows))
        return {key: values - {0} for key, values in wholes.items()}

    def answer(self, before, after):
        """Records of a command about the inputs; none if it has no answer."""
        try:
            return json.loads(output_of([self.binary, *before, *self.inputs, *after, "-q", "-f", "json"]))
        except (Failure, json.JSONDecodeError):
            return []

    def sentences(self):
        names, spans = names_of(self.document), self.spans()
        view = (self.document["views"] or [{}])[0]
        chosen = view.get("iterations") or {}
        gpus = next((figure["value"] for figure in self.document["figures"] if figure["id"] == "gpus"), 1)
        steps = gpus * chosen.get("chosen", 1) / max(chosen.get("processes", 1), 1) or 1
        common = Cells(spans, steps)
        for whole in spans[None]:
            common.add("ns", whole / gpus)
        has_gaps = any(figure["id"] == "left_out_ns" for figure in self.document["figures"])
        for figure in self.document["figures"]:
            common.add(kind_of(figure["id"]), figure["value"])
        for key in ("views", "unit_of_work"):
            self.add_all(common, self.document[key])
        for finding in self.document["findings"]:
            self.add_all(common, finding["saving"])
        own = {}
        for finding in self.document["findings"]:
            cells = Cells(spans, steps)
            for evidence in finding["evidence"]:
                cells.add_table(self.full(evidence))
                cells.add_table(evidence["rows"])
                cells.add("count", len(evidence["rows"]))
            self.add_all(cells, finding["saving"])
            own[finding["id"]] = cells
            for before, after in MORE.get(finding["rule"], []):
                cells.add_table(self.answer(before, after))
            # No table leaves out gaps of the recording, as findings do.
            if finding["rule"] in WITHOUT_CELLS or has_gaps:
                continue
            for sentence in (finding["title"], finding["explanation"]):
                self.sentence(f"finding {finding['id']}", sentence, names, [cells, common])
        every = [common, *own.values()]
        if has_gaps:
            return
        for sentence in (self.document["summary"], *(view["text"] for view in self.document["views"])):
            self.sentence("summary or view", sentence or "", names, every)

    def add_all(self, cells, value, name=""):
        if isinstance(value, dict):
            for key, inner in value.items():
                self.add_all(cells, inner, key)
        elif isinstance(value, list):
            for inner in value:
                self.add_all(cells, inner, name)
        else:
            cells.add(kind_of(name), value)

    def sentence(self, place, sentence, names, cells):
        for text, kind, factor in numbers_in(sentence, names):
            self.compared += 1
            if not any(one.has(kind, text, factor) for one in cells):
                self.fail(f"{place}: no cell is {text} ({kind}) of: {sentence}")
                continue
            value = float(text.replace(",", ""))
            changed = f"{value * 1.083:.{decimals(text)}f}" if decimals(text) or value > 40 else f"{value + 1:.0f}"
            self.changed += kind != "count"
            self.caught += kind != "count" and not any(one.has(kind, changed, factor) for one in cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=Path)
    parser.add_argument("--inputs", nargs="+", required=True, help="traces; those that do not exist are skipped")
    parser.add_argument("--strength", type=float, default=55.0, help="%% of changed numbers that must not be found")
    parser.add_argument("--all", action="store_true", help="all formats of each input")
    arguments = parser.parse_args()
    present = [path for path in arguments.inputs if os.path.exists(path)]
    binary = arguments.binary.resolve()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        forms = [FORMS if arguments.all else (FORMS[place % len(FORMS)],) for place in range(len(present))]
        checked = list(pool.map(lambda path, forms: Checked(binary, [path], [], forms).run(), present, forms))
    for one in checked:
        for problem in dict.fromkeys(one.problems):
            print(f"FAILED {problem}")
        print(f"{one.label}: {one.compared} numbers, {len(one.problems)} wrong")
    failed = sum(len(one.problems) for one in checked)
    changed, caught = sum(one.changed for one in checked), sum(one.caught for one in checked)
    share = 100 * caught / changed if changed else 0
    print(f"{sum(one.compared for one in checked)} numbers of {len(checked)} inputs; {share:.0f}% of {changed} changed numbers are not found")
    if share < arguments.strength:
        print(f"FAILED: less than {arguments.strength:g}% of changed numbers are noticed")
        failed += 1
    print(f"{len(checked)} passed, {failed} failed, {len(arguments.inputs) - len(present)} skipped")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
