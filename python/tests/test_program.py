"""Finding, starting and stopping the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import wavesieve
from wavesieve import program


def _script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_where_the_program_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = _script(tmp_path / "named", "exit 0")
    monkeypatch.setenv("WAVESIEVE_BINARY", str(named))
    assert wavesieve.find_program() == str(named)
    bundled = tmp_path / "package" / "bin" / program.NAME
    bundled.parent.mkdir(parents=True)
    _script(bundled, "exit 0")
    monkeypatch.setattr(program, "__file__", str(tmp_path / "package" / "program.py"))
    assert wavesieve.find_program() == str(bundled)
    bundled.unlink()
    monkeypatch.delenv("WAVESIEVE_BINARY")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "scripts"))
    (tmp_path / "path").mkdir()
    on_path = _script(tmp_path / "path" / program.NAME, "exit 0")
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert wavesieve.find_program() == str(on_path)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(wavesieve.ProgramNotFoundError, match="pip install wavesieve"):
        wavesieve.open("fixtures").info()


def test_a_wrong_variable_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVESIEVE_BINARY", "/no/such/program")
    with pytest.raises(wavesieve.ProgramNotFoundError, match="WAVESIEVE_BINARY names /no/such/program"):
        wavesieve.open("fixtures").info()


def test_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    target = tmp_path / "made"
    for name in (f"$(touch {target})", f"; touch {target}", "-o", "--help", "*"):
        with pytest.raises(wavesieve.WavesieveError):
            wavesieve.open(str(tmp_path / name)).info()
        with pytest.raises(wavesieve.WavesieveError):
            wavesieve.open("fixtures/two_nodes").filter(where=name).table("kernel_summary")
    assert not target.exists() and os.listdir(tmp_path) == []


def test_an_input_that_looks_like_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Path("fixtures/two_nodes/node0/4100_results.db").read_bytes()
    monkeypatch.chdir(tmp_path)
    Path("--rank").write_bytes(data)
    assert len(wavesieve.open("--rank").sql("SELECT * FROM kernels")) == 72


def test_large_results_and_many_messages_do_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "head -c 3000000 /dev/zero; i=0; while [ $i -lt 20000 ]; do echo 'detail: something' >&2; i=$((i+1)); done"
    monkeypatch.setenv("WAVESIEVE_BINARY", str(_script(tmp_path / "noisy", text)))
    data, code = program.run([])
    assert (len(data), code) == (3_000_000, 0)


def test_an_interrupt_stops_the_program(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    slow = _script(tmp_path / "slow", f"echo $$ > {pid}; exec sleep 60")
    code = "import wavesieve; wavesieve.open('x').info()"
    environment = {**os.environ, "WAVESIEVE_BINARY": str(slow), "PYTHONPATH": "python"}
    # A session of its own: the signal goes to Python alone, as in a notebook.
    started = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, start_new_session=True
    )
    _wait_for(lambda: pid.exists() and pid.read_text().strip() != "")
    started.send_signal(signal.SIGINT)
    _, text = started.communicate(timeout=20)
    assert b"KeyboardInterrupt" in text
    child = int(pid.read_text())
    _wait_for(lambda: not Path(f"/proc/{child}").exists())


def test_a_stream_that_is_dropped_stops_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = tmp_path / "pid"
    slow = _script(tmp_path / "slow", f"echo $$ > {pid}; exec sleep 60")
    monkeypatch.setenv("WAVESIEVE_BINARY", str(slow))
    running = program.Run([])
    _wait_for(lambda: pid.exists() and pid.read_text().strip() != "")
    child = int(pid.read_text())
    del running
    _wait_for(lambda: not Path(f"/proc/{child}").exists())


def _wait_for(condition: object) -> None:
    assert callable(condition)
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.02)
