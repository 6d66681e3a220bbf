#!/usr/bin/env bash
# Fuzzes parsers for WAVESIEVE_FUZZ_SECONDS each, two at a time: run.sh [TARGET…]
# WAVESIEVE_SEED draws other inputs. Neither a nightly compiler nor cargo-fuzz is needed.
# An input that breaks a promise is kept in tests/fuzz/artifacts; the target's program repeats it when it gets the file's name.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}-fuzz"
export SECONDS_EACH="${WAVESIEVE_FUZZ_SECONDS:-4}" SEED="${WAVESIEVE_SEED:-1}"
# One thread makes a run repeatable.
export RAYON_NUM_THREADS=1

# As cargo-fuzz sets them: libFuzzer counts the edges that an input takes, and sees what is compared.
instrumented=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
  -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares
  -Cllvm-args=-simplifycfg-branch-fold-threshold=0)
triple="$(rustc -vV | sed -n 's/^host: //p')"
# A named target keeps the flags from build scripts, which have no libFuzzer to call.
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_STRIP=none
export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
RUSTFLAGS="${instrumented[*]} --cfg fuzzing" cargo build --locked --quiet --release -p wavesieve-fuzz --target "$triple"
export PROGRAMS="$CARGO_TARGET_DIR/$triple/release"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 tests/fuzz/corpus.py "$work/made"
mkdir -p tests/fuzz/artifacts

fuzz() {
  # fuzz WORK TARGET: a few words of what was done, or the end of the log and an error
  mkdir -p "$1/found/$2"
  if nice "$PROGRAMS/$2" "$1/found/$2" "$1/made/$2" "tests/fuzz/seeds/$2" \
    -max_total_time="$SECONDS_EACH" -seed="$SEED" -max_len=6000 -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="tests/fuzz/artifacts/$2-" >"$1/$2.log" 2>&1; then
    echo "$2: $(tail -n 1 "$1/$2.log")"
    touch "$1/$2.passed"
  else
    grep -v '^#' "$1/$2.log" | tail -n 30
    echo "error: the fuzz target $2 failed; an input is in tests/fuzz/artifacts" >&2
  fi
}
export -f fuzz

targets=("$@")
if [ "$#" -eq 0 ]; then
  targets=(tests/fuzz/targets/*.rs)
  targets=("${targets[@]##*/}")
  targets=("${targets[@]%.rs}")
fi
# The expression is for the shell that xargs starts.
# shellcheck disable=SC2016
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'fuzz "$0" "$1"' "$work" {}
passed="$(find "$work" -maxdepth 1 -name '*.passed' | wc -l)"
echo "$passed passed, $((${#targets[@]} - passed)) failed"
[ "$passed" -eq "${#targets[@]}" ]
