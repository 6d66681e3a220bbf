# Read by tests/run.sh: runs steps in two lanes at once, keeps their output apart, and adds up what they found.
#
# A lane is a process group of its own, so that everything that it started ends with it. A step's output goes to a file and is
# printed whole at its end. A step that returns this code was left out as a whole; its reason is in the list of skips.
readonly LEFT_OUT=77

begin_lanes() {
  work="$(mktemp -d)"
  lanes=()
  : >"$work/results"
  export WAVESIEVE_SHARED_WORK="$work/datasets"
  trap 'rm -rf "$work"' EXIT
  trap 'end_lanes; exit 130' INT
  trap 'end_lanes; exit 143' TERM HUP
}

end_lanes() {
  local lane
  for lane in "${lanes[@]}"; do kill -TERM -- "-$lane" 2>/dev/null || true; done
  for lane in "${lanes[@]}"; do wait "$lane" 2>/dev/null || true; done
}

run_lanes() {
  # Job control gives each lane its process group; without it, background jobs would ignore Ctrl-C as well.
  set -m
  lane "${cargo_steps[@]}" </dev/null &
  lanes+=("$!")
  lane "${python_steps[@]}" </dev/null &
  lanes+=("$!")
  set +m
  local lane
  for lane in "${lanes[@]}"; do wait "$lane" || true; done
}

lane() {
  # Steps judge their own ends: a command that fails must not end the lane.
  set +e +m
  trap - EXIT INT TERM HUP
  local step
  for step in "$@"; do
    wait_for_others "$step"
    if [ -e "$work/stop" ]; then
      record "$step" "not run" 0 0 0 0 0
    elif [ -e "$work/no-python" ] && in_python "$step"; then
      skip_step "$step" "$(cat "$work/no-python")"
    else
      run_step "$step"
    fi
    touch "$work/$step.ended"
  done
}

in_python() { case " ${python_steps[*]} " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

wait_for_others() {
  # Checks in Python wait for the program, and tests for the tools that the other lane installs.
  local other=""
  case "$1" in
    environment | format | build) return ;;
    tests | fuzzing | properties | cluster | packages) other=environment ;;
  esac
  if in_python "$1" && [ "${#cargo_steps[@]}" -gt 0 ]; then other=build; fi
  [ -n "$other" ] || return
  case " ${cargo_steps[*]} ${python_steps[*]} " in *" $other "*) ;; *) return ;; esac
  until [ -e "$work/$other.ended" ] || [ -e "$work/stop" ]; do sleep 0.2; done
}

run_step() {
  local step="$1" code begin=$SECONDS TIMEFORMAT='%R %U %S' state=passed
  local wall user system passed failed skipped
  say "$step started after $SECONDS s"
  # Not as a condition, in which bash would go on after a command that fails.
  { time run_alone "$step"; } 2>"$work/$step.time"
  code=$?
  read -r wall user system < <(tail -n 1 "$work/$step.time")
  case "$code" in
    0) ;;
    "$LEFT_OUT") state=skipped ;;
    *) state=failed ;;
  esac
  read -r passed failed skipped < <(counts "$step" "$state")
  record "$step" "$state" "${wall:-$((SECONDS - begin))}" "$(sum "${user:-0}" "${system:-0}")" "$passed" "$failed" "$skipped"
  show "$step" "$state" "$((SECONDS - begin))"
  # Code that does not compile is not compared with anything.
  case "$state $step" in "failed format" | "failed build" | "failed lints") touch "$work/stop" ;; esac
}

run_alone() {
  (
    set -e
    export WAVESIEVE_SKIPPED="$work/$1.skipped"
    ready_for "$1"
    "$1"
  ) >"$work/$1.log" 2>&1
}

ready_for() {
  # Leaves a step out whose tools could not be installed; tests report each what they lack.
  [ "$1" != tests ] || return 0
  local absent
  absent="$(absent_for "$1" | paste -s -d ,)"
  [ -z "$absent" ] || leave_out "$1" "without $absent"
}

leave_out() {
  # leave_out STEP REASON: ends the step, which counts as skipped
  skip "$1" "$2"
  exit "$LEFT_OUT"
}

skip() {
  # skip WHAT REASON: counts it at the end of the run
  echo "skipped: $1: $2"
  echo "$1: $2" >>"$WAVESIEVE_SKIPPED"
}

skip_step() {
  echo "$1: $2" >"$work/$1.skipped"
  record "$1" skipped 0 0 0 0 1
  say "$1 skipped: $2"
}

counts() {
  # counts STEP STATE: passed, failed and skipped. A step that prints no numbers is one check; one that failed has a failure.
  local found passed=0 failed=0 skipped=0 listed=0 tests=0
  found="$(awk -f tests/run/counts.awk "$work/$1.log")"
  read -r passed failed skipped <<<"${found:-0 0 0}"
  if [ -e "$work/$1.skipped" ]; then
    listed="$(sort -u "$work/$1.skipped" | wc -l)"
    # A test that lacks something ends well for its runner.
    tests="$(sed 's/: .*//' "$work/$1.skipped" | sort -u | wc -l)"
  fi
  case "$1" in tests | properties) passed=$((passed > tests ? passed - tests : 0)) ;; esac
  case "$2" in
    passed) [ -n "$found" ] || passed=1 ;;
    failed) [ "$failed" -gt 0 ] || failed=1 ;;
  esac
  echo "$passed $failed $((skipped + listed))"
}

sum() { awk -v one="$1" -v other="$2" 'BEGIN { print one + other }'; }

record() {
  # record STEP STATE WALL CPU PASSED FAILED SKIPPED
  (IFS='|'; echo "$*") >>"$work/results"
}

say() { alone printf -- '-- %s\n' "$*"; }

show() {
  # show STEP STATE SECONDS: its whole output
  shown() {
    printf '\n== %s: %s after %d s\n' "$1" "$2" "$3"
    cat "$work/$1.log"
    echo
  }
  alone shown "$@"
}

alone() {
  # Two steps that end at once print one after the other.
  local lock
  exec {lock}>"$work/lock"
  flock "$lock"
  "$@"
  exec {lock}>&-
}

close_lanes() {
  # The skips, the table of steps, what failed, and the sum alone on the last line
  local passed failed skipped broken
  note_lost
  read -r passed failed skipped < <(sums)
  broken="$(awk -F'|' '$2 == "failed" { printf " %s", $1 }' "$work/results")"
  printf '\n== skipped: %d\n' "$skipped"
  list_skips
  list_steps
  list_failures
  if [ -n "$broken" ]; then echo "error: failed:$broken" >&2; fi
  echo "$passed passed, $failed failed, $skipped skipped"
  [ -z "$broken" ] && ! grep -q '|not run|' "$work/results"
}

list_failures() {
  # The ends of their logs again, so that readers need not scroll through the rest.
  local step state
  while IFS='|' read -r step state _; do
    [ "$state" = failed ] && [ -s "$work/$step.log" ] || continue
    printf '\n== failed: %s\n' "$step"
    { grep -E '^FAILED|^test .* FAILED$|Error: |^error' "$work/$step.log" || true; tail -n 8 "$work/$step.log"; } | cut -c 1-300 | tail -n 24
  done <"$work/results"
}

sums() { awk -F'|' '{ p += $5; f += $6; s += $7 } END { print p + 0, f + 0, s + 0 }' "$work/results"; }

note_lost() {
  # A lane that ended before its steps did has failed.
  local step
  for step in "${cargo_steps[@]}" "${python_steps[@]}"; do
    grep -q "^$step|" "$work/results" || record "$step" failed 0 0 0 1 0
  done
}

list_skips() {
  local step
  while IFS='|' read -r step _; do
    skips_of "$step" | sort -u | sed "s/^/$step: /"
  done <"$work/results"
}

skips_of() {
  # Tests have a list of their own, or are ignored by their runner; scripts print what they skip.
  [ ! -e "$work/$1.skipped" ] || cat "$work/$1.skipped"
  [ ! -e "$work/$1.log" ] || sed -nE 's/^SKIPPED[: ] *//p; s/^test (.*) \.\.\. ignored(, (.*))?$/\1: \3/p' "$work/$1.log"
}

list_steps() {
  printf '\n== steps\n%9s %9s %8s %7s %7s\n' wall_s cpu_s passed failed skipped
  awk -F'|' '{ printf "%9.1f %9.1f %8d %7d %7d  %s%s\n", $3, $4, $5, $6, $7, $1, $2 == "passed" ? "" : " (" $2 ")" }
    { cpu += $4 } END { printf "%9s %9.1f  in all\n", "", cpu }' "$work/results"
  printf '%9d  seconds from start to end\n' "$SECONDS"
}
