#!/usr/bin/env bash
# Builds test programs and runs each test in a process of its own, in the folder of its package: each_test.sh [CARGO_ARGUMENT…]
# Tests call the program inside their process, whose panic hook and pools of threads are one for all; cargo-nextest separates them
# likewise, but takes minutes to build. Tests of the program whose names match WAVESIEVE_LEAVE_OUT are not run.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# Frames of code that is not optimized are large, and threads of tests have a quarter of the stack of a program.
export RESULTS="$work/results" LIMIT_SECONDS=900 RUST_MIN_STACK="${RUST_MIN_STACK:-16777216}"
# insta would ask cargo for it in every process.
export INSTA_WORKSPACE_ROOT="$PWD"

programs() {
  # The folder of the package and the program, a line each
  local artifact='"manifest_path":"([^"]+)/Cargo.toml".*"profile":\{[^}]*"test":true\}.*"executable":"([^"]+)"'
  cargo test --locked --no-run --message-format json-render-diagnostics "$@" 2>"$work/said" >"$work/built" \
    || { cat "$work/said" >&2; return 1; }
  sed -nE "s#.*$artifact.*#\1 \2#p" "$work/built"
}

names() { "$1" --list --format terse "${@:2}" | sed -n 's/: test$//p'; }

run_one() {
  # run_one FOLDER PROGRAM TEST: notes how it ended, and prints what a test that failed said
  local output begin=$EPOCHREALTIME
  cd "$1" || return
  export CARGO_MANIFEST_DIR="$1"
  if output="$(timeout "$LIMIT_SECONDS" "$2" --exact "$3" 2>&1 </dev/null)" && grep -q '^test result: ok\. 1 passed' <<<"$output"; then
    echo passed >>"$RESULTS"
  else
    echo failed >>"$RESULTS"
    printf 'test %s ... FAILED\n%s\n' "$3" "$output"
  fi
  awk -v begin="$begin" -v end="$EPOCHREALTIME" -v name="$3" 'BEGIN { printf "%.1f %s\n", end - begin, name }' >>"$RESULTS.seconds"
}
export -f run_one

: >"$RESULTS"
: >"$RESULTS.seconds"
list="$(programs "$@")"
ignored=0
while read -r folder program; do
  names "$program" --ignored >"$work/ignored"
  sed 's/.*/SKIPPED &: ignored/' "$work/ignored"
  ignored=$((ignored + $(wc -l <"$work/ignored")))
  names "$program" | grep -vxFf "$work/ignored" | sed "s#^#$folder $program #" >>"$work/tests" || true
done <<<"$list"
if [ -n "${WAVESIEVE_LEAVE_OUT:-}" ]; then
  grep -vE "^$PWD [^ ]+ ($WAVESIEVE_LEAVE_OUT)" "$work/tests" >"$work/chosen" || true
  echo "left to \`all\`: $(($(wc -l <"$work/tests") - $(wc -l <"$work/chosen"))) tests"
  mv "$work/chosen" "$work/tests"
fi
# The expression is for the shell that xargs starts.
# shellcheck disable=SC2016
[ ! -s "$work/tests" ] || xargs -P "$(nproc)" -L 1 bash -c 'run_one "$0" "$1" "$2"' <"$work/tests"
printf 'seconds of the slowest tests:\n'
sort -rn "$RESULTS.seconds" | sed -n '1,12s/^/  /p'
passed="$(grep -c passed "$RESULTS" || true)"
failed="$(grep -c failed "$RESULTS" || true)"
echo "$passed passed, $failed failed, $ignored skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
