#!/usr/bin/env python3
"""Writes share/licenses/crates.txt: the crates that the program contains, and the texts of their licenses.

  share/licenses/collect.py > share/licenses/crates.txt

Run it again when Cargo.lock changes. `wavesieve licenses` prints the file; a test compares its list with `cargo tree`.
"""
import json
import pathlib
import re
import subprocess

TARGET = "x86_64-unknown-linux-gnu"
NAMES = re.compile(r"(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)
OWNER = re.compile(r"\s*(copyright (\(c\)|©|\d{4})|© )", re.IGNORECASE)
LINE = "-" * 80


def contained():
    """The packages that the program is linked from, by name and version."""
    only = ["--edges", "normal,no-proc-macro", "--target", TARGET]
    tree = output("cargo", "tree", "--locked", "--prefix", "none", "--format", "{p}", *only)
    linked = {tuple(line.split()[:2]) for line in tree.splitlines()}
    metadata = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1"))
    packages = [package for package in metadata["packages"] if (package["name"], f"v{package['version']}") in linked]
    return sorted((package for package in packages if package["source"]), key=lambda found: (found["name"], found["version"]))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def texts(package):
    """The license files of a package as (lines of copyright, the rest). Where MIT may be chosen, Apache 2.0 is not needed."""
    directory = pathlib.Path(package["manifest_path"]).parent
    expression = package["license"] or ""
    may_choose_mit = "MIT" in expression and "AND" not in expression
    files = [path for path in sorted(directory.iterdir()) if path.is_file() and NAMES.match(path.name)]
    if may_choose_mit and any("mit" in path.name.lower() for path in files):
        files = [path for path in files if "apache" not in path.name.lower()]
    for path in files:
        lines = [line.rstrip() for line in path.read_text(errors="replace").splitlines()]
        owners = [line.strip() for line in lines if OWNER.match(line)]
        body = "\n".join(line for line in lines if not OWNER.match(line)).strip("\n")
        if body or owners:
            yield owners, body


def main():
    packages = contained()
    users = {}
    for package in packages:
        print(f"{package['name']} {package['version']}: {package['license'] or 'see its license file'}")
        for owners, body in texts(package):
            key = re.sub(r"[^a-z0-9]", "", body.lower())
            names = users.setdefault(key, (body, {}))[1]
            names.setdefault("; ".join(owners) or "no copyright line", []).append(package["name"])
    for body, by_owner in sorted(users.values(), key=lambda entry: min(min(names) for names in entry[1].values())):
        print(f"\n{LINE}")
        for owners, names in sorted(by_owner.items(), key=lambda entry: entry[1]):
            print(f"{', '.join(dict.fromkeys(names))}: {owners}")
        print(f"{LINE}\n\n{body}")


if __name__ == "__main__":
    main()
