#!/usr/bin/env bash
# Fuzzes every parser for WAVESIEVE_FUZZ_SECONDS (30) each, two at a time: 60 would take four minutes more of a run that has 60. Needs no nightly compiler and never builds polars.
# An input that breaks a promise is kept in tests/fuzz/artifacts; `cargo fuzz run --fuzz-dir tests/fuzz TARGET FILE` repeats it.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}-fuzz"
export PATH="$cache/tools/bin:$PATH"
export SECONDS_EACH="${WAVESIEVE_FUZZ_SECONDS:-30}"
# The instrumentation of a stable compiler needs this; one thread makes a run repeatable.
export RUSTC_BOOTSTRAP=1 RAYON_NUM_THREADS=1

if ! cargo fuzz --version >/dev/null 2>&1; then
  # A directory of its own, so that the flags of the fuzz build do not touch it.
  RUSTC_BOOTSTRAP=0 CARGO_TARGET_DIR="$CARGO_TARGET_DIR/cargo-fuzz" \
    cargo install --quiet --locked --version 0.13.2 --root "$cache/tools" cargo-fuzz
fi
cargo fuzz build --fuzz-dir tests/fuzz --sanitizer none

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 tests/fuzz/corpus.py "$work/made"
mkdir -p tests/fuzz/artifacts

fuzz() {
  # fuzz WORK TARGET: a few words of what was done, or the end of the log and an error
  mkdir -p "$1/found/$2"
  if nice "$CARGO_TARGET_DIR/x86_64-unknown-linux-gnu/release/$2" "$1/found/$2" "$1/made/$2" "tests/fuzz/seeds/$2" \
    -max_total_time="$SECONDS_EACH" -seed=1 -max_len=6000 -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="tests/fuzz/artifacts/$2-" >"$1/$2.log" 2>&1; then
    echo "$2: $(tail -n 1 "$1/$2.log")"
  else
    grep -v '^#' "$1/$2.log" | tail -n 30
    echo "error: the fuzz target $2 failed" >&2
    return 1
  fi
}
export -f fuzz

targets=(tests/fuzz/targets/*.rs)
targets=("${targets[@]##*/}")
printf '%s\n' "${targets[@]%.rs}" | xargs -P 2 -I{} bash -c 'fuzz "$0" "$1"' "$work" {}
