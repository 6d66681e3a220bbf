"""Iterations, analyses, charts, conversions and comparisons."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import wavesieve

from .readings import parquet


def _program(*words: str) -> str:
    done = subprocess.run([wavesieve.find_program(), "-q", *words], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    ("table", "key", "aggregate"),
    [("kernels", "kernel_name", "sum"), ("kernels", "category", "mean"), ("regions", "name", "count")],
)
def test_matrix_is_what_polars_joins(table: str, key: str, aggregate: str, converted: Callable[[str], Path]) -> None:
    matrix = wavesieve.open("fixtures/planted").iterations().matrix(table, by=key, aggregate=aggregate)
    iterations = parquet(converted("planted"), "iterations").sort("start_ns")
    events = parquet(converted("planted"), table).filter(pl.col("valid")).sort("start_ns")
    joined = events.join_asof(
        iterations.select("process", "iteration", "start_ns", until="end_ns"), on="start_ns", by="process"
    ).filter(pl.col("start_ns") < pl.col("until"))
    values = pl.col("duration_ns")
    cell = {"sum": values.sum(), "mean": values.mean(), "count": pl.len()}[aggregate]
    expected = {row[:3]: row[3] for row in joined.group_by("process", "iteration", key).agg(cell=cell).rows()}
    array = matrix.to_numpy()
    assert array.shape == matrix.shape == (36, len(matrix.columns))
    for line, (process, _, iteration, _) in enumerate(matrix.rows):
        for place, name in enumerate(matrix.columns):
            value = expected.pop((process, iteration, name), None)
            if value is None and aggregate == "mean":
                assert np.isnan(array[line, place])
            else:
                assert np.isclose(array[line, place], value or 0)
    assert not expected


def test_matrix_conversions() -> None:
    iterations = wavesieve.open("fixtures/planted").filter(iter="steady").iterations()
    matrix = iterations.matrix()
    assert set(iterations.table["phase"]) == {"steady"}
    frame = matrix.to_pandas()
    assert frame.shape == matrix.shape and frame.index.names == ["process", "rank", "iteration", "phase"]
    longest = iterations.matrix("kernels", aggregate="max").to_pandas()
    assert {str(kind) for kind in longest.dtypes} <= {"Int64", "int64"}
    assert matrix.to_polars().width == 4 + matrix.shape[1]
    assert np.asarray(matrix).sum() == frame.to_numpy().sum()
    assert "rows" in repr(matrix) and "<table" in matrix._repr_html_()
    with pytest.raises(ValueError, match="no column nothing"):
        iterations.matrix("kernels", values="nothing")
    with pytest.raises(ValueError, match="unknown aggregate"):
        iterations.matrix(aggregate="median")


def test_no_iterations() -> None:
    iterations = wavesieve.open("fixtures/counters").iterations()
    assert len(iterations) == 0 and iterations.matrix().shape == (0, 0)
    assert "0 rows" in repr(iterations.matrix())


def test_analysis_is_the_document_of_the_program() -> None:
    analysis = wavesieve.open("fixtures/planted").analyze()
    document = json.loads(_program("analyze", "fixtures/planted", "-f", "json"))
    assert analysis.to_dict() == document
    assert [finding.title for finding in analysis.findings] == [finding["title"] for finding in document["findings"]]
    assert analysis.findings[0].saving_ns == document["findings"][0]["saving"]["wall_ns"]
    assert analysis.to_html() == _program("analyze", "fixtures/planted", "-f", "html")
    assert analysis.to_markdown().startswith("#")
    assert analysis.summary in repr(analysis)
    assert analysis._repr_html_().count("<details") == len(analysis.findings)


def test_settings_of_the_analysis() -> None:
    trace = wavesieve.open("fixtures/planted")
    whole = trace.analyze(whole_run=True, set={"straggler.high_pct": 90, "exposed_copy.high_pct": 30}, fail_on="high")
    assert whole.figures["dispatches"] > trace.analyze().figures["dispatches"]


def test_chart(tmp_path: Path) -> None:
    trace = wavesieve.open("fixtures/planted")
    chart = trace.plot("kernel_by_category", by="rank")
    assert ElementTree.fromstring(chart.svg).tag.endswith("svg")
    assert list(chart.answer) == list(trace.table("kernel_by_category", by="rank"))
    chart.save(tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text() == chart._repr_svg_()
    assert repr(chart).startswith("<chart of kernel_by_category")
    with pytest.raises(wavesieve.UsageError, match="ranges gives no chart"):
        trace.plot("ranges")


def test_conversions(tmp_path: Path) -> None:
    trace = wavesieve.open("fixtures/two_nodes")
    dataset = trace.filter(rank=[0, 1]).convert(tmp_path / "dataset", with_=["launches"])
    assert list(dataset.table("kernel_summary")) == list(trace.filter(rank=[0, 1]).table("kernel_summary"))
    assert (tmp_path / "dataset" / "launches").is_dir()
    path = trace.convert(tmp_path / "trace.pftrace", to="pftrace", tracks="recorded")
    assert path == tmp_path / "trace.pftrace" and path.stat().st_size > 0


@pytest.mark.filterwarnings("default::wavesieve.errors.TraceNote")
def test_comparison_is_the_document_of_the_program() -> None:
    base, new = wavesieve.open("fixtures/two_nodes"), wavesieve.open("fixtures/planted")
    comparison = wavesieve.compare(base, new, fail_on="new")
    words = ("compare", "--base=fixtures/two_nodes", "--new=fixtures/planted")
    document = json.loads(_program(*words, "-f", "json"))
    shown = comparison.to_dict()
    assert {**shown, "gate": None} == {**document, "gate": None}
    assert comparison.verdict == document["verdict"] and comparison.reason == document["reason"]
    assert comparison.gate in ("failed", "undecided")
    assert comparison.verdict in repr(comparison).lower() or comparison.reason in repr(comparison)
    assert "<pre" in comparison._repr_html_() and comparison.to_html().lower().startswith("<!doctype")
    with pytest.raises(ValueError, match="differ in their filters"):
        wavesieve.compare(base, new.filter(rank=0))
