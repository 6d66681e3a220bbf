"""The time line: the program serves it, notebooks frame it, and it ends when it is closed."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from urllib.parse import parse_qs, urlsplit

import pytest

import wavesieve


def _get(view: wavesieve.View, target: str) -> bytes:
    parts = urlsplit(view.url)
    token = parse_qs(parts.query)["token"][0]
    request = urllib.request.Request(f"http://{parts.netloc}{target}", headers={"X-Wavesieve-Token": token})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bytes(answer.read())


def test_a_view_serves_the_chosen_rows_until_it_is_closed() -> None:
    trace = wavesieve.open("fixtures/two_nodes").filter(rank=1)
    with trace.view(height=300) as view:
        picture = json.loads(_get(view, "/api/picture"))
        assert {group["rank"] for group in picture["groups"]} == {1}
        shown = view._repr_html_()
        assert f'src="{view.url}"' in shown and 'height="300"' in shown and view.url in repr(view)
        parts = urlsplit(view.url)
        with urllib.request.urlopen(view.url, timeout=60) as page:
            assert "frame-ancestors" not in page.headers["Content-Security-Policy"]
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://{parts.netloc}/api/picture", timeout=60)
    assert not view.is_open and "closed" in view._repr_html_() and "closed" in repr(view)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(view.url, timeout=10)


def test_a_view_compares() -> None:
    with wavesieve.open("fixtures/two_nodes").view(compare="fixtures/planted") as view:
        assert json.loads(_get(view, "/api/picture?of=base"))["groups"]


def test_options_replace_those_of_notebooks() -> None:
    with wavesieve.open("fixtures/two_nodes").view(until_closed=5, in_frames=False) as view:
        assert json.loads(_get(view, "/api/picture"))["groups"]
        with urllib.request.urlopen(view.url, timeout=60) as page:
            assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


def test_inputs_that_cannot_be_viewed_are_errors() -> None:
    with pytest.raises(wavesieve.UsageError):
        wavesieve.open("fixtures/no-such-file").view()
    with pytest.raises(wavesieve.NoTraceError):
        wavesieve.open("fixtures/source").view()
    with pytest.raises(wavesieve.UsageError):
        wavesieve.open("fixtures/two_nodes").view(no_such_option=1)
