#!/usr/bin/env bash
# Runs the checks of the project: run.sh [quick|all|deep] [STEP…]
#
#   quick  format, lints, tests but for those of processes and damage, and answers compared with other engines over three
#          fixtures; this is the default
#   all    the quick ones and the rest: what CI runs
#   deep   what looks for new cases, with a new seed a day; writes tests/deep.md, which is committed
#
# Steps that are named run without the others; before them the program is built and Python libraries are installed, if they need it.
# Two lanes run at once: one compiles and tests with cargo, and the other, as soon as the program is built, runs checks in Python.
set -euo pipefail
cd "$(dirname "$0")/.."

cache="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve"
# One directory for all checkouts, because polars takes long to build.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}"
export WAVESIEVE_DATA="${WAVESIEVE_DATA:-$PWD/../shared/data}"
# The compiler ignores what it kept of a checkout in another folder, and keeping it costs time; so do numbers of lines.
[ "${CI:-}" != true ] || export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}" CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-0}"

. tests/run/tools.sh
. tests/run/inputs.sh
. tests/run/steps.sh
. tests/run/deep.sh
. tests/run/lanes.sh

# Steps that compile nothing of the program, or build for themselves.
without_program=" format scripts lints properties fuzzing cluster packages api_docs dependencies "

steps_of() {
  # steps_of MODE: sets cargo_steps and python_steps, each in its order
  cargo_steps=(format scripts lints tests)
  python_steps=(engines independent)
  case "$1" in
    all)
      python_steps+=(diagnosis statements documents pages workbooks sqlite derived comparisons timelines viewers package peers filters readers
        agents metamorphic mutations regression)
      ;;
    deep)
      cargo_steps=(properties fuzzing cluster packages api_docs dependencies)
      python_steps=(engines diagnosis statements filters metamorphic mutations pages spark hta stores)
      deep_steps="${cargo_steps[*]} ${python_steps[*]}"
      ;;
  esac
}

choose() {
  # choose ARGUMENT…: sets mode, cargo_steps and python_steps
  mode=quick
  case "${1:-}" in quick | all | deep) mode="$1"; shift ;; *) [ "$#" -eq 0 ] || mode=all ;; esac
  steps_of "$mode"
  [ "$#" -gt 0 ] || return 0
  local step cargo=() python=()
  for step in "$@"; do
    case " ${cargo_steps[*]} | ${python_steps[*]} " in
      *" $step "*"|"*) cargo+=("$step") ;;
      *"|"*" $step "*) python+=("$step") ;;
      *)
        echo "error: there is no step \`$step\` in \`$mode\`; the steps are: ${cargo_steps[*]} ${python_steps[*]}" >&2
        exit 2
        ;;
    esac
  done
  cargo_steps=("${cargo[@]}") python_steps=("${python[@]}")
}

add_needed_steps() {
  # Steps that others wait for come first; a wrong format is found before anything is compiled.
  local step needs_program="${#python_steps[@]}"
  for step in "${cargo_steps[@]}"; do
    case "$without_program" in *" $step "*) ;; *) needs_program=1 ;; esac
  done
  if [ "$needs_program" -ne 0 ]; then
    case "${cargo_steps[0]:-}" in
      format) cargo_steps=(format build "${cargo_steps[@]:1}") ;;
      *) cargo_steps=(build "${cargo_steps[@]}") ;;
    esac
  fi
  case "${#python_steps[@]} ${cargo_steps[*]}" in
    0*tests* | 0*properties* | 0*fuzzing* | 0*cluster* | 0*packages* | [1-9]*) python_steps=(environment "${python_steps[@]}") ;;
  esac
}

set_sizes() {
  # A commit is judged by the same drawn cases each time; `deep` looks for new ones.
  seed=20260101 seeds=() statement_count=240 mutation_count=36 window_count=3 case_share=5 capture_count=1 plant_count=2
  if [ "$mode" = deep ]; then
    seed="${WAVESIEVE_SEED:-$(date -u +%Y%m%d)}"
    seeds=(--seed "$seed") statement_count=3000 mutation_count=1000 window_count=60 case_share=1 capture_count=10 plant_count=50
    export PROPTEST_CASES="${PROPTEST_CASES:-2048}" WAVESIEVE_FUZZ_SECONDS="${WAVESIEVE_FUZZ_SECONDS:-120}"
    echo "seed $seed (WAVESIEVE_SEED=$seed repeats this run)"
  fi
  export WAVESIEVE_SEED="$seed" PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-$seed}"
}

keep_files_in_memory() {
  # Checks write many small files, which file systems on disks are slow to make and to delete. Memory may have no room for them, or
  # forbid programs in it; `deep` makes whole systems.
  local memory=/dev/shm free probe
  [ -z "${TMPDIR:-}" ] && [ "$mode" != deep ] && [ -w "$memory" ] || return 0
  free="$(df --output=avail -k "$memory" 2>/dev/null | tail -n 1)"
  [ "${free:-0}" -gt 8000000 ] && probe="$(mktemp "$memory/wavesieve-XXXXXX")" || return 0
  printf '#!/bin/sh\n' >"$probe" && chmod +x "$probe"
  ! "$probe" 2>/dev/null || export TMPDIR="$memory"
  rm -f "$probe"
}

choose "$@"
keep_files_in_memory
add_needed_steps
set_sizes
find_inputs
need cc gcc || exit 1
need c++ g++ || exit 1
begin_lanes
run_lanes
[ "$mode" != deep ] || write_deep
[ "$mode" != all ] || age_of_deep "$DEEP_PAGE"
close_lanes
