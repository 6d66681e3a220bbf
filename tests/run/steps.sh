# Read by tests/run.sh: the steps of `quick` and `all`. A step ends at its first command that fails.

binary="$CARGO_TARGET_DIR/debug/wavesieve"
generator="$CARGO_TARGET_DIR/debug/examples/generate_trace"
venv="$(environment_of venv tests/requirements.txt)"

python() { "$venv/bin/python" "$@"; }

format() { cargo fmt --all --check; }

scripts() {
  bash tests/run/check.sh
  # The script of the time line is committed as it is built.
  python3 templates/timeline/build.py --check
}

# All but the program with DataFusion and the targets of the fuzzer. The packages are always built together: fewer of them would get
# other features of their dependencies, and polars would be compiled again.
packages=(--workspace --exclude wavesieve-ballista --exclude wavesieve-fuzz)

build() {
  # Everything that checks start, so that no other step calls cargo while tests compile
  cargo build --locked --quiet "${packages[@]}" --lib --bins --example generate_trace --example fake_rocprofv3
}

lints() {
  # As `cargo clippy --all-targets -- -D warnings`, without compiling the libraries again.
  export RUSTC_WORKSPACE_WRAPPER="$PWD/tests/run/front_end.sh"
  FRONT_END=clippy-driver cargo build --locked --quiet --all-targets "${packages[@]}"
}

tests() {
  use_tools
  # Tests without their tools are skipped, but not where everything could be installed.
  if [ "$mode" = all ] && [ "$(id -u)" -eq 0 ] && [ -d "$WAVESIEVE_DATA" ] && [ -n "${WAVESIEVE_HIP:-}" ] \
    && [ -z "$(absent_for tests)$(absent_for device_code)" ]; then
    export WAVESIEVE_REQUIRE_TOOLS=1
  fi
  # Tests that start many processes, and those of long lists of damage, are left to `all`.
  local left='workflow|lab_[a-z]+|mcp|models|conversations|stores|sending|sessions|shards|resume|pipes|examples|secrets'
  [ "$mode" != quick ] || export WAVESIEVE_LEAVE_OUT="($left|damage[a-z_]*|swapped_pages|cluster)::"
  cargo_tests
  if [ -n "${WAVESIEVE_TEST_MODEL:-}" ]; then
    cargo test --locked --quiet --test cli -- --ignored a_real_model_answers_by_calling_tools
  fi
}

use_tools() {
  local place="$cache/device-libraries-2"
  if [ -e "$place/ready" ]; then export WAVESIEVE_HIP="$place/root/usr"; fi
}

cargo_tests() {
  # Every suite runs to its end, so that one run names all that fails.
  local code=0
  bash tests/run/each_test.sh "${packages[@]}" || code=1
  cargo test --locked --quiet "${packages[@]}" --doc || code=1
  return "$code"
}

fuzzing() { bash tests/fuzz/run.sh; }

environment() {
  # Debian's packages and Python's libraries for the steps that were asked for.
  local step steps=("${cargo_steps[@]}" "${python_steps[@]}") packages=() more
  ! compiles_device_code || steps+=(device_code)
  for step in "${steps[@]}"; do
    read -r -a more < <(tools_of "$step") || true
    packages+=("${more[@]}")
  done
  need "${packages[@]}" || true
  if compiles_device_code && ! device_libraries; then
    echo "WARNING: the test of device_code is skipped: Debian's device libraries cannot be had" >&2
  fi
  [ "${#python_steps[@]}" -eq 1 ] || libraries
}

compiles_device_code() {
  # The quick run takes compilers of device code if they are there: they are large.
  [ "$mode" != quick ] || return 1
  case " ${cargo_steps[*]} " in *" tests "* | *" properties "*) ;; *) return 1 ;; esac
}

libraries() {
  if make_environment "$venv" tests/requirements.txt \
    && { [ "$mode" != deep ] || make_environment "$deep_venv" tests/requirements-deep.txt; }; then
    return
  fi
  echo "without Python's libraries" >"$work/no-python"
  [ "${CI:-}" != true ] || return 1
  skip environment "Python's libraries cannot be installed: they need python3-venv, and a registry of Python packages"
}

engines() {
  local options=(--inputs "${database_inputs[@]}" "${other_inputs[@]}")
  case "$mode" in
    quick) options=(--quick) ;;
    deep) options+=(--every-option) ;;
  esac
  python tests/oracle/run.py --binary "$binary" "${options[@]}"
}

independent() { python tests/oracle/independent_check.py --binary "$binary"; }

diagnosis() {
  # What is said of traces whose faults are known; without the real ones, of generated runs.
  python tests/diagnosis/score.py "$binary" --generator "$generator" --seeds "$plant_count" "${seeds[@]}"
}

statements() { python tests/oracle/statements.py --binary "$binary" --random "$statement_count" "${seeds[@]}"; }

documents() {
  python tests/documents/validate.py --binary "$binary" \
    --inputs fixtures/{two_nodes,hostile,merged,counters,compute,thread_trace} --source-dir fixtures/source
  python tests/documents/lab.py --binary "$binary"
  python tests/documents/lab_outputs.py --binary "$binary"
  python tests/documents/site_check.py
  python tests/documents/one_value.py --binary "$binary" --inputs "${figure_inputs[@]}"
}

workbooks() {
  python tests/documents/xlsx_check.py --binary "$binary" \
    --inputs fixtures/{two_nodes,hostile,counters,thread_trace} --json "$json_908" --answers "$tracelens_908"
}

pages() {
  local options=()
  [ "$mode" != deep ] || options=(--pdf)
  bash tests/html/run.sh "${options[@]}" "$binary"
}

sqlite() { python tests/oracle/sqlite_check.py --binary "$binary" --inputs "${database_inputs[@]}"; }

derived() { python tests/oracle/derived_check.py --binary "$binary" --inputs "${derived_inputs[@]}"; }

timelines() { python tests/oracle/timeline_check.py --binary "$binary" --generator "$generator" --inputs "${timeline_inputs[@]}"; }

comparisons() { python tests/oracle/compare_check.py --binary "$binary" --inputs "${comparison_inputs[@]}"; }

viewers() {
  # The counts of viewers' readers, against the databases.
  python tests/oracle/viewers.py --binary "$binary" --inputs "${viewer_inputs[@]}"
  python tests/oracle/kineto_check.py --binary "$binary" --inputs "${kineto_inputs[@]}"
  python tests/oracle/thread_states.py --binary "$binary" --generator "$generator"
  # Lanes of the browser's time line, against the rows of the sources.
  python tests/oracle/view_check.py --program "$binary" "${view_inputs[@]}"
}

package() {
  # The Python package: types, examples, and results compared with independent readings.
  (cd python && "$venv/bin/mypy" --cache-dir "$cache/mypy" && WAVESIEVE_BINARY="$binary" "$venv/bin/python" -B -m pytest -q)
}

peers() {
  # Answers of TraceLens and of rocpd over the same trace.
  [ -e "$json_908" ] || leave_out peers "without real traces: $json_908"
  python tests/oracle/tracelens.py --binary "$binary" --json "$json_908" --answers "$tracelens_908"
  python tests/oracle/views.py --binary "$binary" --inputs "$json_908"
}

filters() {
  python tests/oracle/filters.py --binary "$binary" "${seeds[@]}" --windows "$window_count" --share "$case_share" \
    --inputs "${filter_inputs[@]}"
}

readers() { python tests/oracle/open_anywhere.py --binary "$binary"; }

agents() {
  # The server for agents, used by two libraries of its protocol that have nothing in common.
  local modules
  python tests/oracle/mcp_client.py --binary "$binary"
  modules="$(node_modules agents tests/agents)"
  node tests/agents/mcp_client.mjs "$binary" "$PWD" "$modules"
}

metamorphic() { python tests/hostile/metamorphic.py --binary "$binary" --generator "$generator" --runs "$capture_count" "${seeds[@]}"; }

mutations() { python tests/hostile/mutations.py --binary "$binary" --generator "$generator" --count "$mutation_count" "${seeds[@]}"; }

regression() { python benches/regression.py --binary "$binary" --generator "$generator"; }
