"""Makes a script smaller: no comments, no space, short names of variables, and of the properties that are listed here.

It knows as much of JavaScript as the modules in parts/ use: no classes, no labels, no `switch`, semicolons everywhere. A name gets the
same short name wherever it is a variable, so that scopes need not be known.
"""

import re
from collections import Counter
from itertools import count

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<space>\s+)|(?P<word>[A-Za-z_$][\w$]*)|(?P<number>0x[\da-fA-F]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<sign>=>|\?\.(?!\d)|\.\.\.|[^\s])""",
    re.VERBOSE | re.DOTALL,
)
REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[])+/[a-z]*")
# A slash after one of these begins a regular expression, a brace an object or a pattern.
BEFORE_VALUE = set("(,=:[?|&!+-*%<>") | {"return", "...", "const", "let", "of"}
KEYWORDS = set(
    "async await break catch const continue delete do else false finally for function globalThis if in instanceof let new null of return "
    "this throw true try typeof undefined void while".split()
)
# Names of browsers that modules also use for variables, or in defaults.
GLOBALS = set("Infinity NaN Math Number String document window location history console navigator".split())
# Properties that only the modules see: neither those of browsers and of pictures, nor what `mount` takes and returns.
PROPERTIES = (
    """
    aboutOf accent announce binAt bitmap busy chooseGroups chosen closers countUnseen covered critical current cursor dim distance
    draw drawFlows drawLegend earliest emptyText extent faint fillList fitAll fitSelection flags followRange grid ground
    groundColor groupLabel groupSelect gutter hasAddress hatched hideLane hideTip hint hover ids ink intervals isLoading isOut
    isSelection isSum laneRow legend lengths limits live load measure moved muted openAt openGroup openWindow
    overviewLayout palette partners pathTool per pin pinById pinPanel placesList plan reach reasons requestGroups rest
    reveal rowHeight scaleBase scaleText scroller searchAgain searchCount searchInput section sections selection
    selectionPanel setPin setSheet sets settle sheet sheets shiftOf showLanes showPath signs soft spacer speaker stepPlace still
    strip tabs tallest texts tip toggleHelp togglePath tools tracks unseen wanted whole word writeAddress zero
    """
).split()


def tokens_of(source):
    """Pairs of a class and a text, without comments; spaces count as a space."""
    out, at, depths = [], 0, []
    while at < len(source):
        letter = source[at]
        last = next((text for kind, text in reversed(out) if kind != "space"), "")
        if letter == "`" or (letter == "}" and depths and depths[-1] == 0):
            if letter == "}":
                depths.pop()
            end = at + 1
            while source[end] != "`" and source[end : end + 2] != "${":
                end += 2 if source[end] == "\\" else 1
            if source[end] == "$":
                depths.append(0)
            end += 2 if source[end] == "$" else 1
            out.append(("template", source[at:end]))
            at = end
            continue
        if letter == "/" and source[at + 1] not in "/*" and (last in BEFORE_VALUE or last in ("{", "}", ";", "=>", "")):
            match, kind = REGEX.match(source, at), "regex"
        else:
            match = TOKEN.match(source, at)
            kind = match.lastgroup
        if depths and match[0] in ("{", "}"):
            depths[-1] += 1 if match[0] == "{" else -1
        if kind == "space":
            out.append((kind, " "))
        elif kind != "comment":
            out.append((kind, match[0]))
        at = match.end()
    return out


def roles_of(tokens):
    """For each word among tokens without spaces: `variable`, `property` or `both`, and the variables that are declared."""
    roles, declared, stack = {}, set(), []
    texts = [text for _, text in tokens]

    def variables(start, end):
        return {texts[at] for at in range(start, end) if roles.get(at) in ("variable", "both")}

    opened = {}
    for at, (kind, text) in enumerate(tokens):
        before = texts[at - 1] if at else ""
        after = texts[at + 1] if at + 1 < len(texts) else ""
        if kind == "template":
            if not text.startswith("`"):
                stack.pop()
            if text.endswith("${"):
                stack.append(("template", at))
        elif kind == "sign" and text in "([{":
            is_object = text == "{" and before in BEFORE_VALUE or (text == "{" and tokens[at - 1][0] == "template" and before.endswith("${"))
            stack.append(("object" if is_object else text, at))
        elif kind == "sign" and text in ")]}":
            form, start = stack.pop()
            opened[at] = start
            if texts[start - 1] in ("const", "let") or (texts[start - 1] == "catch"):
                declared |= variables(start, at)
            is_method = stack and stack[-1][0] == "object" and form == "(" and texts[start - 2] in ("{", ",", "async") and after == "{"
            if form == "(" and (after == "=>" or is_method):
                declared |= variables(start, at)
        elif kind == "word" and text not in KEYWORDS:
            in_object = bool(stack) and stack[-1][0] == "object"
            if before in (".", "?."):
                roles[at] = "property"
            elif in_object and before in ("{", ",") and after in (":", "("):
                roles[at] = "property"
            elif in_object and before in ("{", ",") and after in (",", "}", "="):
                roles[at] = "both"
            else:
                roles[at] = "variable"
            if before in ("const", "let") or after == "=>":
                declared.add(text)
    return roles, declared - GLOBALS


def short_names(taken, prefix=""):
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for number in count():
        name, rest = "", number
        while True:
            name = letters[rest % 52] + name
            rest = rest // 52 - 1
            if rest < 0:
                break
        if prefix + name not in taken and name not in KEYWORDS:
            yield prefix + name


def shorten(source):
    tokens = [token for token in tokens_of(source)]
    words = [token for token in tokens if token[0] != "space"]
    roles, declared = roles_of(words)
    uses, property_uses = Counter(), Counter()
    for at, role in roles.items():
        if role != "property":
            uses[words[at][1]] += 1
        if role != "variable":
            property_uses[words[at][1]] += 1
    kept = set(uses) - declared
    names = short_names(kept)
    variables = {name: next(names) for name, _ in sorted(uses.items(), key=lambda one: (-one[1], one[0])) if name in declared}
    # The name of an element is no name of a property.
    quoted = {text[1:-1] for kind, text in words if kind == "string"} - {"section"}
    wrong = [name for name in PROPERTIES if name in quoted]
    if wrong:
        raise SystemExit(f"error: these properties are also texts, and keep their names: {' '.join(wrong)}")
    names = short_names(set(property_uses), "$")
    properties = {name: next(names) for name, _ in sorted(property_uses.items(), key=lambda one: (-one[1], one[0])) if name in PROPERTIES}
    out, at, depth, has_space = [], -1, 0, False
    for kind, text in tokens:
        if kind == "space":
            has_space = True
            continue
        at += 1
        # A single parameter of an arrow function needs no parentheses.
        around = words[at : at + 4] if text == "(" else words[max(0, at - 2) : at + 2] if text == ")" else []
        is_alone = [one[1] for one in around[::2]] == ["(", ")"] and [one[1] for one in around[3:]] == ["=>"] and around[1][0] == "word"
        if is_alone and words[at - 1 if text == "(" else at - 3][1] != "async":
            has_space = True
            continue
        role = roles.get(at)
        if role == "variable":
            text = variables.get(text, text)
        elif role == "property":
            text = properties.get(text, text)
        elif role == "both":
            key, value = properties.get(text, text), variables.get(text, text)
            text = key if key == value else f"{key}:{value}"
        elif kind == "word":
            text = {"const": "let", "true": "!0", "false": "!1", "Infinity": "1/0"}.get(text, text)
        last = out[-1][-1] if out else " "
        is_word = lambda letter: letter.isalnum() or letter in "_$"
        if has_space and ((is_word(last) and is_word(text[0])) or (last in "+-" and text[0] == last) or (last == "/" and text[0] == "/")):
            out.append(" ")
        if out and (text == "}" and out[-1] == ";" or text in ("}", "]", ")") and out[-1] == ","):
            out.pop()
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if kind == "template":
            depth += text.endswith("${") - (not text.startswith("`"))
        # A statement of the top has a line of its own.
        out.append(";\n" if text == ";" and depth == 0 else text)
        has_space = False
    return "".join(out)
