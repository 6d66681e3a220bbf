"""Filters."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wavesieve

from .readings import parquet


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({"rank": [0, 3]}, pl.col("rank").is_in([0, 3])),
        ({"rank": range(2)}, pl.col("rank") < 2),
        ({"gpu": 2}, pl.col("gpu") == 2),
        ({"kernel": re.compile("^nccl")}, pl.col("kernel_name").str.starts_with("nccl")),
        ({"category": ["gemm", "communication"]}, pl.col("category").is_in(["gemm", "communication"])),
        ({"min_duration": "100us"}, pl.col("duration_ns") >= 100_000),
        ({"where": "grid_x > 100000"}, pl.col("grid_x") > 100_000),
        ({"queue": (1, 2)}, pl.col("queue_id").is_in([1, 2])),
    ],
)
def test_filters_keep_the_rows_that_polars_keeps(
    filters: dict[str, Any], kept: pl.Expr, converted: Callable[[str], Path]
) -> None:
    ids = ["process", "dispatch_id"]
    answer = wavesieve.open("fixtures/two_nodes").filter(**filters).sql("SELECT process, dispatch_id FROM kernels")
    expected = parquet(converted("two_nodes"), "kernels").filter(kept).select(ids)
    assert 0 < expected.height < 288
    assert sorted(answer) == sorted(expected.rows())


def test_iterations_and_windows(converted: Callable[[str], Path]) -> None:
    trace = wavesieve.open("fixtures/planted")
    iterations = parquet(converted("planted"), "iterations")
    for chosen, first, last in (((2, 4), 2, 4), ("2..4", 2, 4), (3, 3, 3)):
        part = trace.filter(iter=chosen, window_mode="inside").sql("SELECT process, start_ns, end_ns FROM kernels")
        for process, start, end in part:
            own = iterations.filter(pl.col("process") == process, pl.col("iteration").is_between(first, last))
            assert start >= own["start_ns"].min() and end <= own["end_ns"].max()


def test_filters_add_up() -> None:
    trace = wavesieve.open("fixtures/two_nodes").filter(rank=1).filter(where="grid_x > 1 OR grid_x < 5", gpu=[2, 3])
    assert trace.filters == {"rank": "1", "where": "grid_x > 1 OR grid_x < 5", "gpu": "2,3"}
    assert trace.filter(where="valid").filters["where"] == "(grid_x > 1 OR grid_x < 5) AND (valid)"
    assert trace.filter(rank=None, gpu=None, where=None).filters == {}
    assert trace.filter(rank=[1]).filters == trace.filters
    with pytest.raises(ValueError, match="rank is set to 1 already"):
        trace.filter(rank=2)
    with pytest.raises(ValueError, match="rank is empty"):
        wavesieve.open("x").filter(rank=[])
    with pytest.raises(TypeError, match="unknown filter ranks"):
        trace.filter(ranks=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="expected a text"):
        trace.filter(rank=object())  # type: ignore[arg-type]


def test_a_condition_cannot_leave_its_parentheses() -> None:
    trace = wavesieve.open("fixtures/two_nodes").filter(where="rank = 1").filter(where="rank = 2 OR rank = 1")
    assert trace.sql("SELECT DISTINCT rank FROM kernels")["rank"] == [1]
