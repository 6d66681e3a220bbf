#!/usr/bin/env python3
"""Puts the modules of the time line into one script, in the order in which they import each other.

  templates/timeline/build.py           writes templates/timeline/timeline.js
  templates/timeline/build.py --check   fails if that file is not what the modules give, or too large

Pages run the script without a server, where browsers load no modules. It loses imports and exports, so that names at the top of a
module must be unique, and what shorten.py takes away.
"""

import re
import sys
from pathlib import Path

from shorten import PROPERTIES, shorten

HERE = Path(__file__).resolve().parent
PARTS = HERE / "parts"
BUILT = HERE / "timeline.js"
LARGEST = 60_000
IMPORT = re.compile(r'^import .* from "\./([a-z_]+\.js)";$', re.MULTILINE)
TOP = re.compile(r"^(?:export )?(?:const|let|function|class) (?:\{([^}]*)\}|(\w+))", re.MULTILINE)


def in_order(name, done):
    """A module after those that it imports; cycles only need their functions later."""
    if name in done:
        return
    done[name] = None
    text = (PARTS / name).read_text()
    for other in IMPORT.findall(text):
        in_order(other, done)
    # The order of insertion is that of the end of the visits.
    done[name] = done.pop(name) or text


def without_modules(text):
    return re.sub(r"^export (?=const|let)", "", IMPORT.sub("", text), flags=re.MULTILINE)


def build():
    modules = {}
    in_order("start.js", modules)
    absent = {path.name for path in PARTS.glob("*.js")} - set(modules)
    if absent:
        raise SystemExit(f"error: no module imports {', '.join(sorted(absent))}")
    owners = {}
    for name, text in modules.items():
        for several, one in TOP.findall(text):
            for top in re.findall(r"\w+", several or one):
                if owners.setdefault(top, name) != name:
                    raise SystemExit(f"error: {top} is in {owners[top]} and in {name}")
    for name, text in modules.items():
        known = set(re.findall(r"\w+", " ".join(re.findall(r"^import (.*) from", text, re.MULTILINE))))
        for used in set(re.findall(r"(?<![\w.$`])(\w+)\(", re.sub(r"^ *//.*$", "", text, flags=re.MULTILINE))):
            if used in owners and owners[used] != name and used not in known and not re.search(rf"\b(const|let) {used}\b", text):
                raise SystemExit(f"error: {name} uses {used} of {owners[used]} without an import")
    contract = (HERE.parents[1] / "docs/design/timeline.md").read_text()
    wrong = [name for name in PROPERTIES if re.search(rf"\b{name}\b(?!\.js)", " ".join(re.findall(r"`[^`\n]*`", contract)))]
    if wrong:
        raise SystemExit(f"error: names of the format must stay: {' '.join(wrong)}")
    body = shorten("".join(without_modules(text) for text in modules.values()))
    return f'"use strict";\n// Made by templates/timeline/build.py from the modules in parts/.\n(() => {{\n{body}\n}})();\n'


def main():
    text = build()
    size = len(text.encode())
    if size > LARGEST:
        raise SystemExit(f"error: the built script has {size} bytes, more than {LARGEST}")
    if "</script" in text or "<!--" in text:
        raise SystemExit("error: the built script cannot stand in a page")
    if "--check" in sys.argv[1:]:
        if not BUILT.exists() or BUILT.read_text() != text:
            raise SystemExit("error: templates/timeline/timeline.js is old; run python3 templates/timeline/build.py")
        print(f"timeline.js: {size} bytes")
        return
    BUILT.write_text(text)
    print(f"{BUILT.name}: {size} bytes")


if __name__ == "__main__":
    main()
