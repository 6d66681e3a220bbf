#!/usr/bin/env bash
# Builds the test programs of a package and runs each test in a process of its own: each_test.sh DIRECTORY [CARGO_ARGUMENT…]
# Tests call the program inside their process, whose panic hook and pools of threads are one for all; cargo-nextest separates them
# likewise, but takes minutes to build. WAVESIEVE_TEST_PROGRAMS names programs that are built, one a line; tests whose names match
# WAVESIEVE_LEAVE_OUT are not run.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# Frames of code that is not optimized are large, and threads of tests have a quarter of the stack of a program.
export RESULTS="$work/results" LIMIT_SECONDS=900 RUST_MIN_STACK="${RUST_MIN_STACK:-16777216}"
# As cargo runs them. insta would ask cargo for the second in every process.
CARGO_MANIFEST_DIR="$(realpath "${1:?name the folder of the package}")"
export CARGO_MANIFEST_DIR INSTA_WORKSPACE_ROOT="$PWD"
shift

programs() {
  if [ -n "${WAVESIEVE_TEST_PROGRAMS:-}" ]; then
    printf '%s\n' "$WAVESIEVE_TEST_PROGRAMS"
  else
    # With a folder of a package in its environment, ring's build script would run again, and with it all that is built on ring.
    env -u CARGO_MANIFEST_DIR cargo test --locked --no-run "$@" >"$work/build" 2>&1 || { cat "$work/build" >&2; return 1; }
    sed -nE 's/^ *Executable .*\((.*)\)$/\1/p' "$work/build" | xargs -r -d '\n' realpath
  fi
}

names() { "$1" --list --format terse "${@:2}" | sed -n 's/: test$//p'; }

run_one() {
  # run_one PROGRAM TEST: notes how it ended, and prints what a test that failed said
  local output begin=$EPOCHREALTIME
  cd "$CARGO_MANIFEST_DIR" || return
  if output="$(timeout "$LIMIT_SECONDS" "$1" --exact "$2" 2>&1 </dev/null)" && grep -q '^test result: ok\. 1 passed' <<<"$output"; then
    echo passed >>"$RESULTS"
  else
    echo failed >>"$RESULTS"
    printf 'test %s ... FAILED\n%s\n' "$2" "$output"
  fi
  awk -v begin="$begin" -v end="$EPOCHREALTIME" -v name="$2" 'BEGIN { printf "%.1f %s\n", end - begin, name }' >>"$RESULTS.seconds"
}
export -f run_one

: >"$RESULTS"
: >"$RESULTS.seconds"
list="$(programs "$@")"
ignored=0
while read -r program; do
  names "$program" --ignored >"$work/ignored"
  sed 's/.*/SKIPPED &: ignored/' "$work/ignored"
  ignored=$((ignored + $(wc -l <"$work/ignored")))
  names "$program" | grep -vxFf "$work/ignored" | sed "s#^#$program #" >>"$work/tests" || true
done <<<"$list"
if [ -n "${WAVESIEVE_LEAVE_OUT:-}" ]; then
  grep -vE "^[^ ]+ ($WAVESIEVE_LEAVE_OUT)" "$work/tests" >"$work/chosen" || true
  echo "left to \`all\`: $(($(wc -l <"$work/tests") - $(wc -l <"$work/chosen"))) tests"
  mv "$work/chosen" "$work/tests"
fi
# The expression is for the shell that xargs starts.
# shellcheck disable=SC2016
[ ! -s "$work/tests" ] || xargs -P "$(nproc)" -L 1 bash -c 'run_one "$0" "$1"' <"$work/tests"
printf 'seconds of the slowest tests:\n'
sort -rn "$RESULTS.seconds" | sed -n '1,12s/^/  /p'
passed="$(grep -c passed "$RESULTS" || true)"
failed="$(grep -c failed "$RESULTS" || true)"
echo "$passed passed, $failed failed, $ignored skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
