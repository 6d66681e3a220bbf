"""Forms of kernel names and their categories, by the rule file's own description of how its rules match."""

import functools
import re
import tomllib

from common import REPOSITORY


def without_descriptor(name):
    return re.sub(r"(\s*(\.kd|\[clone \.kd\]))+$", "", name.strip())


def outermost(name, folded):
    """The name without what stands in brackets at its outermost level; template arguments become `folded`."""
    text, depth = [], 0
    name = name.replace("(anonymous namespace)", "\0")
    for character in name:
        if character in "<([{":
            text += folded if character == "<" and depth == 0 else ""
            depth += 1
        elif character in ">)]}":
            depth -= 1
        elif depth == 0:
            text.append(character)
    return "".join(text).replace("\0", "(anonymous namespace)")


def is_function(name):
    return "(" in name or "<" in name or "::" in name


def base_name(name):
    """Function name without namespaces, templates and parameters."""
    if not is_function(name):
        return name
    return outermost(name, "").strip().rsplit("::", 1)[-1].split()[-1]


def short_name(name, truncated=None):
    """The source's truncated name, otherwise the name with template arguments folded."""
    if truncated:
        return without_descriptor(truncated)
    if not is_function(name):
        return name
    return re.sub(r"^(void|static|inline|__global__)\s+", "", outermost(name, "<...>").strip())


@functools.cache
def rules(file):
    return tomllib.loads((REPOSITORY / "share" / f"{file}.toml").read_text())["rule"]


def words(name):
    """Words of a name, in pieces between brackets and commas: split at other signs, at changes of case and at digits."""
    found = []
    for piece in re.split(r"[<>(){}\[\],]", name):
        found.append([word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", piece)])
    return found


def has_token(pieces, token):
    wanted = [word.lower() for word in re.findall(r"[A-Za-z]+|\d+", token)]
    for piece in pieces:
        for place in range(len(piece) - len(wanted) + 1):
            if piece[place : place + len(wanted)] == wanted:
                return True
    return False


def matches(rule, name):
    pieces = words(name)
    if any(has_token(pieces, token) for token in rule.get("not", [])):
        return False
    return (
        any(name.lower().startswith(prefix) for prefix in rule.get("prefixes", []))
        or any(has_token(pieces, token) for token in rule.get("tokens", []))
        or any(re.search(regex, name, re.IGNORECASE) for regex in rule.get("regex", []))
    )


@functools.cache
def category(name, file="kernel_categories"):
    """The first rule that matches the base name decides, otherwise the first that matches the full name."""
    for form in (base_name(name), name):
        for rule in rules(file):
            if matches(rule, form):
                return rule["category"]
    return "other"
