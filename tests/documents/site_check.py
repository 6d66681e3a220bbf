"""The list of pages of the site is complete, and every relative link of the documentation leads to a file and a heading.

That those of the README and the guide lead somewhere is a test of tests/cli/pages.rs; here they must stay within the site.
"""

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

sys.path.insert(0, str(DOCS))
sys.dont_write_bytecode = True

import book  # noqa: E402


def slugs(page):
    """The anchors of a page's headings, as GitHub and mdBook make them."""
    seen, found = Counter(), set()
    for line in book.FENCE.sub("", page.read_text()).splitlines():
        heading = re.match(r"#{1,6} (.*)", line)
        if not heading:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1].strip()).lower()
        slug = "".join(letter for letter in text if letter.isalnum() or letter in " -_").replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def is_of_tests(page):
    """Whether a test follows the links of a page."""
    return page == ROOT / "README.md" or page.parent == DOCS / "guide"


def wrong_links(page, root=ROOT):
    """Relative links of a page that lead nowhere, or out of the site."""
    for link in book.links(page):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.is_relative_to(root) or not (is_of_tests(page) or target.exists()):
            yield f"{page.relative_to(root)}: {link}: there is no such file"
        elif target == book.SUMMARY:
            yield f"{page.relative_to(root)}: {link}: the site has no such page"
        elif is_of_tests(page):
            continue
        elif parts.fragment and target.suffix == ".md" and unquote(parts.fragment) not in slugs(target):
            yield f"{page.relative_to(root)}: {link}: there is no such heading"


def wrong_list(text, pages):
    """Pages that a list lacks, has twice, or that are none."""
    listed = Counter((DOCS / link).resolve() for link in re.findall(r"\]\(([^)]+)\)", text))
    for page in sorted(pages | set(listed)):
        if listed[page] != 1 or page not in pages:
            kind = f"{listed[page]} times" if page in pages else "but is not a page"
            yield f"docs/SUMMARY.md lists {page.relative_to(ROOT)} {kind}"


def test_itself():
    """The checks find what they are for."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        page = root / "page.md"
        other = root / "other.md"
        other.write_text("# One `two`\n\n# One `two`\n\n```sh\n# no heading\n```\n")
        good = "[a](other.md#one-two) [b](other.md#one-two-1) [c](#here) [d](https://x.y/z) `[e](none.md)`\n"
        page.write_text(f"# Here\n{good}```\n[f](none.md)\n```\n")
        assert not list(wrong_links(page, root)), list(wrong_links(page, root))
        page.write_text("[a](none.md) [b](other.md#no-heading) [c](#nowhere) [d](../outside.md)\n")
        assert len(list(wrong_links(page, root))) == 4
    guide = DOCS / "guide/README.md"
    assert list(wrong_list("[a](guide/README.md)\n[b](guide/README.md)", {guide}))
    assert list(wrong_list("", {guide})) and list(wrong_list("[a](guide/README.md)", set()))


def main():
    test_itself()
    pages = {page for page in DOCS.rglob("*.md") if page != book.SUMMARY}
    pages |= {ROOT / name for name in book.OUTSIDE}
    text = book.SUMMARY.read_text()
    wrong = list(wrong_list(text, pages))
    if not wrong and text != book.summary():
        wrong.append("docs/SUMMARY.md is stale; run `docs/book.py --summary`")
    count = 0
    for page in sorted(pages):
        count += len(book.links(page))
        wrong += wrong_links(page)
    print(*(f"site_check: {line}" for line in wrong), sep="\n", end="\n" if wrong else "")
    print(f"site_check: {len(pages)} pages, {count} links, {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
