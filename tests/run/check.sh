#!/usr/bin/env bash
# Checks the lanes of tests/run.sh with steps that pass, fail, are left out, print numbers of each runner, or never end.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=/nonexistent passed=0 failed=0 place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
. tests/run/tools.sh
. tests/run/lanes.sh
. tests/run/deep.sh

# Steps are called by their names.
# shellcheck disable=SC2329
build() { [ ! -e "$place/no-build" ]; }
early() { [ ! -e "$place/late" ]; }
late() { sleep 0.5 && touch "$place/late"; }
fails_midway() { false; echo "not reached"; }
nextest() {
  echo "     Summary [   1.234s] 12 tests run: 10 passed (1 slow), 2 failed, 3 skipped"
  false
}
libtest() {
  echo "test one::other ... ignored, no model is served"
  printf 'test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n%.0s' 1 2
}
pytest() { echo "7 passed, 2 skipped, 1 warning in 3.21s"; }
own() { printf 'SKIPPED one: reason\n4 passed, 0 failed, 1 skipped\nworkbooks: 3 passed, 0 failed\nviews: 9 documents, 0 problems\n'; }
tests() {
  skip one_test "without a tool"
  skip one_test "without another"
  echo "3 passed, 0 failed"
}
lacks() { leave_out lacks "without a browser"; }
endless() { sleep 1000 & echo "$!" >"$place/sleeper"; wait; }

run() {
  # run CARGO_STEPS PYTHON_STEPS: the output of both lanes; sets code
  # Not as a condition: steps must end at what fails.
  set +e
  (
    set -e
    read -r -a cargo_steps <<<"$1"
    read -r -a python_steps <<<"$2"
    begin_lanes
    run_lanes
    close_lanes
  ) >"$place/output" 2>&1 </dev/null
  code=$?
  set -e
}

expect() {
  # expect LABEL CODE LINE…: the last run ended with the code and printed lines that match
  local label="$1" wanted="$2" line problem=""
  shift 2
  [ "$code" -eq "$wanted" ] || problem="exit code $code, expected $wanted"
  for line in "$@"; do grep -qE -- "$line" "$place/output" || problem="no line \`$line\`"; done
  if [ -z "$problem" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $label: $problem"
    sed 's/^/    /' "$place/output"
  fi
}

ends_with() { [ "$(tail -n 1 "$place/output")" = "$1" ] || { echo "the last line is not \`$1\`"; code=99; }; }

run "build late libtest" "early own pytest"
ends_with "36 passed, 0 failed, 5 skipped"
expect "counts of runners" 0 '^== late: passed' ' 10 +0 +2  libtest$' ' 16 +0 +1  own$' ' 7 +0 +2  pytest$' '^== skipped: 5$' '^own: one: reason$' '^libtest: one::other: no model is served$'

rm "$place/late"
run "build nextest late" "fails_midway own"
ends_with "28 passed, 3 failed, 4 skipped"
expect "failures end neither lane" 1 '^error: failed: fails_midway nextest|^error: failed: nextest fails_midway' '^== own: passed' '^== late: passed'
if grep -q "not reached" "$place/output"; then code=98; fi
expect "a step ends at its first failure" 1

run "build tests" "lacks own"
ends_with "19 passed, 0 failed, 4 skipped"
expect "skips are no passes" 0 ' 2 +0 +2  tests$' '^lacks: lacks: without a browser$' '^tests: one_test: without another$' 'lacks \(skipped\)'

touch "$place/no-build"
run "build late" "early own"
ends_with "0 passed, 1 failed, 0 skipped"
expect "nothing runs without the program" 1 'early \(not run\)' 'late \(not run\)' '^error: failed: build$'

rm "$place/no-build"
(cargo_steps=(build endless) python_steps=() && begin_lanes && run_lanes) >/dev/null 2>&1 &
run_id=$!
until [ -s "$place/sleeper" ]; do sleep 0.1; done
kill -TERM "$run_id"
code=0
wait "$run_id" || code=$?
# Whoever adopts it may take a moment to bury it.
for _ in $(seq 100); do
  kill -0 "$(cat "$place/sleeper")" 2>/dev/null || break
  sleep 0.1
done
if kill -0 "$(cat "$place/sleeper")" 2>/dev/null; then code=97; fi
: >"$place/output"
expect "what it started ends with it" 143

age() {
  # age ROW…: the line about a page of these rows; sets code
  printf '%s\n' "$@" >"$place/deep.md"
  set +e
  (set -e; age_of_deep "$place/deep.md"; echo "goes on") >"$place/output" 2>&1
  code=$?
  set -e
}
age '| `api_one` | 2026-01-02 | passed |' '| `two` | 2026-01-01 | passed |'
expect "all of deep passed" 0 '^deep: the oldest result is of 2026-01-01 \(two\)$' '^goes on$'
age '| `api_one` | 2026-01-02 | failed |' '| `two` | never | | |'
expect "a step of deep failed" 0 '2026-01-02 \(api_one\); never run: two; api_one failed$' '^goes on$'
age ''
expect "a page without steps" 0 'of no step$' '^goes on$'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
