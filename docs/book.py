#!/usr/bin/env python3
"""Makes the documentation site from docs/ with mdBook, and the list of its pages.

  docs/book.py --summary        writes docs/SUMMARY.md
  docs/book.py --output DIR     builds the site; needs the program mdbook

The pages keep their places in the repository, so that links among them, and to the few files that are no pages, hold in the
site as they hold here. After the build every link of every page is followed.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SUMMARY = DOCS / "SUMMARY.md"
FENCE = re.compile(r"^(```+|~~~+).*?^\1[`~]*\s*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")

# Pages outside docs/ that are part of the site.
OUTSIDE = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "python/README.md"]


def links(page):
    """Where the links of a Markdown page lead, code left out."""
    text = CODE.sub("", FENCE.sub("", page.read_text()))
    return LINK.findall(text)


def title(page):
    for line in page.read_text().splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    raise SystemExit(f"site: {page.relative_to(ROOT)} has no heading")


def in_order_of(index):
    """The pages beside an index, in the order in which it links to them; those it leaves out come last."""
    beside = sorted(page for page in index.parent.glob("*.md") if page != index)
    named = [(index.parent / link.partition("#")[0]).resolve() for link in links(index) if "://" not in link]
    order = {page: place for place, page in reversed(list(enumerate(named)))}
    return sorted(beside, key=lambda page: (order.get(page, len(named)), page.name))


def chapters():
    """The parts of the site: a heading, and pages with the pages below them."""
    guide, verbs = DOCS / "guide/README.md", DOCS / "verbs/README.md"
    reference = [DOCS / f"{name}.md" for name in ("queries", "tables", "sql", "metrics", "rules", "upstream", "differences")]
    design = [(page, []) for page in sorted((DOCS / "design").glob("*.md"))]
    project = [("ARCHITECTURE.md", [page for page, _ in design]), ("CONTRIBUTING.md", []), ("CHANGELOG.md", [])]
    parts = [
        ("Guide", [(guide, []), *((page, []) for page in in_order_of(guide))]),
        ("Reference", [(verbs, in_order_of(verbs)), *((page, []) for page in reference)]),
        ("Python", [(ROOT / "python/README.md", [])]),
        ("Project", [(ROOT / name, below) for name, below in project]),
    ]
    placed = {page for _, pages in parts for first, below in pages for page in (first, *below)}
    rest = sorted(page for page in DOCS.rglob("*.md") if page not in placed and page != SUMMARY)
    # Pages that no rule above places are still in the site.
    parts[-1][1][2:2] = [(page, []) for page in rest]
    return parts


def summary():
    """The text of docs/SUMMARY.md, which mdBook reads and GitHub shows."""
    lines = ["# Summary", "", "[wavesieve](../README.md)", ""]
    for heading, pages in chapters():
        lines += [f"# {heading}", ""]
        for page, below in pages:
            lines.append(f"- {entry(page)}")
            lines += [f"  - {entry(inner)}" for inner in below]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def entry(page):
    target = page.relative_to(DOCS) if page.is_relative_to(DOCS) else Path("..") / page.relative_to(ROOT)
    return f"[{title(page)}]({target.as_posix()})"


def arrange(book):
    """Copies pages, and what they link to, to the places they have in the repository."""
    source = book / "src"
    for page in [*(ROOT / name for name in OUTSIDE), *DOCS.rglob("*.md")]:
        copy(page, source)
        for link in links(page):
            target = (page.parent / unquote(urlsplit(link).path)).resolve()
            if urlsplit(link).scheme or not target.is_relative_to(ROOT):
                continue
            for file in [target] if target.is_file() else sorted(target.rglob("*")) if target.is_dir() else []:
                if file.is_file():
                    copy(file, source)
    (source / "docs/SUMMARY.md").unlink()
    text = SUMMARY.read_text()
    text = re.sub(r"\]\((?!\.\./)", "](docs/", text).replace("](../", "](")
    (source / "SUMMARY.md").write_text(text)
    shutil.copy(DOCS / "book.toml", book)
    shutil.copy(DOCS / "site.css", book)


def list_folders(site):
    """Gives folders that pages link to a page with their files, because not every server lists them."""
    for page in [*(ROOT / name for name in OUTSIDE), *DOCS.rglob("*.md")]:
        for link in links(page):
            place = (page.parent / unquote(urlsplit(link).path)).resolve()
            if urlsplit(link).scheme or not place.is_dir() or not place.is_relative_to(ROOT):
                continue
            folder = site / place.relative_to(ROOT)
            names = sorted(file.name for file in folder.iterdir() if file.name != "index.html")
            items = "".join(f'<li><a href="{quote(name)}">{escape(name)}</a></li>\n' for name in names)
            name = escape(str(place.relative_to(ROOT)))
            head = f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>{name}</title>\n'
            (folder / "index.html").write_text(f"{head}<h1>{name}</h1>\n<ul>\n{items}</ul>\n</html>\n")


def copy(file, source):
    target = source / file.relative_to(ROOT)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


class Html(HTMLParser):
    """The anchors and links of a page of the site."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(filter(None, (values.get("id"), values.get("name") if tag == "a" else None)))
        self.links += [values[name] for name in ("href", "src") if values.get(name)]


def broken(site):
    """Links of the site that lead nowhere in it."""
    pages = {page: Html(page.read_text()) for page in site.rglob("*.html")}
    for page, html in sorted(pages.items()):
        if page.name in ("404.html", "toc.html"):
            continue
        for link in html.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{page.relative_to(site)}: {link}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{page.relative_to(site)}: {link} (no such heading)"


def build(output):
    with tempfile.TemporaryDirectory() as folder:
        arrange(Path(folder))
        run = subprocess.run(["mdbook", "build", folder, "--dest-dir", output], capture_output=True, text=True)
        sys.stderr.write(run.stderr)
        if run.returncode:
            raise SystemExit(run.returncode)
    list_folders(output)
    wrong = sorted(set(broken(output)))
    print(f"site: {len(list(output.rglob('*.html')))} pages in {output}, {len(wrong)} broken links")
    if wrong:
        raise SystemExit("\n".join(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--summary", action="store_true", help="write docs/SUMMARY.md")
    parser.add_argument("--output", type=Path, metavar="DIR", help="directory for the site; replaced")
    arguments = parser.parse_args()
    if not (arguments.summary or arguments.output):
        parser.error("nothing to do; give --summary or --output DIR")
    if arguments.summary:
        SUMMARY.write_text(summary())
    if arguments.output:
        build(arguments.output.resolve())


if __name__ == "__main__":
    main()
