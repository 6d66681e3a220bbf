"""Exit codes as exceptions, messages as warnings."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import pytest

import wavesieve
from wavesieve import messages


def test_wrong_usage() -> None:
    trace = wavesieve.open("fixtures/two_nodes")
    with pytest.raises(wavesieve.UsageError, match="did you mean kernel_summary") as caught:
        trace.table("kernel_sumary")
    assert caught.value.code == 2
    with pytest.raises(wavesieve.UsageError, match="unexpected argument '--bogus'$|unexpected argument '--bogus'"):
        trace.table("kernel_summary", bogus=1)
    with pytest.raises(wavesieve.UsageError, match="did you mean kernels"):
        trace.sql("SELECT * FROM kernelz")
    with pytest.raises(wavesieve.UsageError, match="no such file"):
        wavesieve.open("no/such/file").info()
    with pytest.raises(wavesieve.UsageError, match="not a name of a query"):
        trace.table("--help")
    with pytest.raises(wavesieve.UsageError, match="no input"):
        wavesieve.open()
    with pytest.raises(wavesieve.UsageError):
        trace["kernelz"]
    with pytest.raises(TypeError, match="unknown option bogus"):
        wavesieve.open("fixtures/two_nodes", bogus=1)  # type: ignore[call-arg]


def test_a_wrong_usage_is_a_value_error_too() -> None:
    with pytest.raises(ValueError):
        wavesieve.open("fixtures/two_nodes").sql("SELECT")


def test_no_trace_and_no_data() -> None:
    with pytest.raises(wavesieve.NoTraceError, match="without traces") as caught:
        wavesieve.open("fixtures/source").info()
    assert caught.value.code == 3
    trace = wavesieve.open("fixtures/two_nodes")
    with pytest.raises(wavesieve.NoDataError, match="counters is empty"):
        trace.table("counter_summary")
    with pytest.raises(wavesieve.NoDataError, match="no rank matches --rank 77; available: 0-3"):
        trace.filter(rank=77).table("kernel_summary")


def test_damaged_inputs(tmp_path: Path) -> None:
    whole = Path("fixtures/two_nodes/node0/4100_results.db")
    shutil.copy(whole, tmp_path / "whole.db")
    (tmp_path / "cut.db").write_bytes(Path("fixtures/two_nodes/node1/4100_results.db").read_bytes()[:40_000])
    trace = wavesieve.open(tmp_path)
    with pytest.warns(wavesieve.PartialResultWarning, match="cut.db") as caught:
        answer = trace.table("kernel_summary")
    assert len(answer) > 0
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name] * len(caught)
    with pytest.warns(wavesieve.PartialResultWarning):
        assert wavesieve.open(tmp_path)["kernels"].to_arrow().num_rows >= 72
    with pytest.warns(wavesieve.PartialResultWarning):
        dataset = trace.convert(tmp_path / "dataset")
    with pytest.warns(wavesieve.PartialResultWarning):
        dataset.scan("kernels").collect()


def test_damage_can_be_an_error(tmp_path: Path) -> None:
    (tmp_path / "cut.db").write_bytes(Path("fixtures/two_nodes/node0/4100_results.db").read_bytes()[:40_000])
    shutil.copy("fixtures/two_nodes/node0/4140_results.db", tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", wavesieve.PartialResultWarning)
        with pytest.raises(wavesieve.PartialResultWarning):
            wavesieve.open(tmp_path).table("kernel_summary")


def test_notes_are_warnings() -> None:
    trace = wavesieve.open("fixtures/two_nodes").filter(kernel="nccl")
    with pytest.warns(wavesieve.TraceNote, match="--kernel does not filter memory_copies"):
        trace.table("copy_summary")


@pytest.mark.parametrize(
    ("code", "text", "kind", "message"),
    [
        (1, "error: disk full\n", wavesieve.WavesieveError, "disk full"),
        (2, "error: wrong\n\nUsage: wavesieve\n", wavesieve.UsageError, "wrong"),
        (3, "error: a: no trace\n", wavesieve.NoTraceError, "a: no trace"),
        (3, "no match: nothing here\n", wavesieve.NoDataError, "nothing here"),
        (4, "exceeded\n", wavesieve.ThresholdError, "exceeded"),
        (5, "damaged: a.db: cut\nerror: a.db\n", wavesieve.DamagedInputError, "a.db: cut"),
        (7, "undecided: x\n", wavesieve.ThresholdError, "undecided: x"),
        (-9, "", wavesieve.WavesieveError, "signal 9 ended wavesieve"),
        (42, "", wavesieve.WavesieveError, "exit code 42"),
    ],
)
def test_each_code_has_its_exception(code: int, text: str, kind: type[wavesieve.WavesieveError], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        messages.check(code, text)
    assert type(caught.value) is kind and caught.value.code == code


def test_accepted_codes_are_no_errors() -> None:
    messages.check(4, "slower: 5%\n", (4,))
