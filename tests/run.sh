#!/usr/bin/env bash
# Runs every check of the project, or the steps that are named: run.sh [STEP…]
# Prints what each step took. Builds go to one directory for all checkouts, because polars takes long to build.
set -euo pipefail
cd "$(dirname "$0")/.."

steps=(format lints tests fuzzing metamorphic mutations engines statements documents pages workbooks sqlite derived comparisons viewers package peers filters readers agents)

cache="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}"
export WAVESIEVE_DATA="${WAVESIEVE_DATA:-$PWD/../shared/data}"
# A commit is judged by the same drawn cases each time; the fuzz targets are what looks for new ones.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20260101}"

binary="$CARGO_TARGET_DIR/debug/wavesieve"
generator="$CARGO_TARGET_DIR/debug/examples/generate_trace"
venv="$cache/oracle-$(sha256sum tests/oracle/requirements.txt | cut -c1-12)"

# Inputs with databases, and inputs of other formats. Data that is absent is left out, with a warning.
database_inputs=(fixtures/two_nodes fixtures/hostile fixtures/merged fixtures/counters)
other_inputs=(fixtures/two_nodes_json fixtures/counters_json fixtures/planted fixtures/kineto_two_ranks)
derived_inputs=(fixtures/two_nodes fixtures/hostile fixtures/counters)
filter_inputs=(fixtures/two_nodes_json fixtures/hostile fixtures/merged fixtures/counters)
json_908="$WAVESIEVE_DATA/rocprofv3-json/908_results.json.gz"
tracelens_908="$WAVESIEVE_DATA/tracelens-908"
if [ -d "$WAVESIEVE_DATA" ]; then
  # The folder of markers holds the RPD file it was made from too.
  markers="$WAVESIEVE_DATA/rocpd-markers/rank2_1560_results.db"
  database_inputs+=("$WAVESIEVE_DATA"/{rocpd-real,rocpd-ranks} "$markers" "$WAVESIEVE_DATA/rocpd-pmc")
  other_inputs+=("$WAVESIEVE_DATA"/{rocprofv3-json,rpd-ranks,csv/gfx1151})
  derived_inputs+=("$WAVESIEVE_DATA"/{rocpd-real,rocpd-ranks/rank0_81681_results.db} "$markers" "$WAVESIEVE_DATA/rocpd-pmc")
  filter_inputs+=("$WAVESIEVE_DATA"/{rocpd-markers,rocpd-pmc})
else
  echo "WARNING: $WAVESIEVE_DATA is absent: checks run on the fixtures only (set WAVESIEVE_DATA)" >&2
fi

need() {
  # need COMMAND PACKAGE: installs a Debian package when a command does not work
  if ! eval "$1" >/dev/null 2>&1; then
    if [ "$(id -u)" -ne 0 ]; then
      echo "error: \`$1\` does not work; install the Debian package $2" >&2
      return 1
    fi
    apt-get update -qq && apt-get install -y -qq "$2"
  fi
}

compilers() {
  # Device code is compiled by clang, as the lab's tests want it. Without it, they report what they skip.
  local tool
  for tool in "clang++-19:clang-19" "ld.lld-19:lld-19" "llvm-readelf-19:llvm-19"; do
    need "${tool%%:*} --version" "${tool##*:}" || echo "WARNING: ${tool%%:*} is absent: tests of device code are skipped" >&2
  done
  device_libraries || echo "WARNING: HIP's headers and device libraries cannot be had: the test of device_code is skipped" >&2
}

device_libraries() {
  # Debian 12 has HIP's headers, and only Debian 13 device libraries that clang 19 reads. They are unpacked, not installed.
  local place="$cache/device-libraries-1" apt bitcode package
  if [ ! -e "$place/ready" ]; then
    rm -rf "$place" && mkdir -p "$place"/{lists/partial,archives/partial,root} || return 1
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" > "$place/sources.list"
    apt=(-qq -o "Dir::Etc::SourceList=$place/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$place/lists"
      -o "Dir::Cache=$place" -o APT::Sandbox::User=root)
    (cd "$place" && apt-get "${apt[@]}" update && apt-get "${apt[@]}" download rocm-device-libs-17 libamdhip64-dev) || return 1
    for package in "$place"/*.deb; do dpkg -x "$package" "$place/root" || return 1; done
    bitcode="$(find "$place/root" -type d -name bitcode | head -n 1)"
    rm -r "$place/lists" "$place"/*.deb
    [ -n "$bitcode" ] && mkdir "$place/root/usr/amdgcn" && ln -s "$bitcode" "$place/root/usr/amdgcn/bitcode" || return 1
    touch "$place/ready"
  fi
  export WAVESIEVE_HIP="$place/root/usr"
}

build() {
  # What the checks of the binary run; after the tests there is nothing left to build.
  cargo build --locked --quiet --bin wavesieve --example generate_trace
}

python() {
  # A Python with the engines that answers are compared with.
  if [ ! -e "$venv/ready" ]; then
    need 'python3 -c "import venv, ensurepip"' python3-venv
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r tests/oracle/requirements.txt
    touch "$venv/ready"
  fi
  "$venv/bin/python" "$@"
}

hta() {
  # A Python with HTA, which needs libraries that the other one has in other versions.
  local place="$cache/hta-$(sha256sum tests/oracle/requirements-hta.txt | cut -c1-12)"
  if [ ! -e "$place/ready" ]; then
    rm -rf "$place"
    python3 -m venv "$place"
    "$place/bin/pip" install --quiet --disable-pip-version-check -r tests/oracle/requirements-hta.txt
    touch "$place/ready"
  fi
  "$place/bin/python" "$@"
}

format() { cargo fmt --all --check; }

lints() {
  cargo clippy --locked --all-targets -- -D warnings
  # The library that programs load for `lab capture`, and the runtime that tests put in place of ROCm's.
  cargo clippy --locked --all-targets -p wavesieve-capture -p fake-hsa -- -D warnings
  # What library users and the fuzz targets build; a gate that is missing would show late.
  for features in core properties; do
    cargo check --locked --quiet --no-default-features --features "$features" --lib
  done
}

tests() {
  compilers
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --locked
    cargo nextest run --locked -p wavesieve-capture
    cargo test --locked --doc
  else
    cargo test --locked
    cargo test --locked -p wavesieve-capture
  fi
}

fuzzing() { bash tests/fuzz/run.sh; }

metamorphic() { build && python tests/hostile/metamorphic.py --binary "$binary" --generator "$generator"; }

mutations() { build && python tests/hostile/mutations.py --binary "$binary" --generator "$generator"; }

engines() { build && python tests/oracle/run.py --binary "$binary" --inputs "${database_inputs[@]}" "${other_inputs[@]}"; }

statements() { build && python tests/oracle/statements.py --binary "$binary"; }

documents() {
  build
  python tests/documents/validate.py --binary "$binary" \
    --inputs fixtures/{two_nodes,hostile,merged,counters,compute,thread_trace} --source-dir fixtures/source
  python tests/documents/guide_python.py --binary "$binary"
  python tests/documents/lab.py --binary "$binary"
  cargo build --locked --quiet -p fake-hsa -p wavesieve-capture
  python tests/documents/lab_outputs.py --binary "$binary"
  python tests/documents/site_check.py
}

pages() { build && bash tests/html/run.sh "$binary"; }

workbooks() {
  build && python tests/documents/xlsx_check.py --binary "$binary" \
    --inputs fixtures/{two_nodes,hostile,counters,thread_trace} --json "$json_908" --answers "$tracelens_908"
}

sqlite() { build && python tests/oracle/sqlite_check.py --binary "$binary" --inputs "${database_inputs[@]}"; }

derived() { build && python tests/oracle/derived_check.py --binary "$binary" --inputs "${derived_inputs[@]}"; }

comparisons() {
  local inputs=(fixtures/{two_nodes,merged,hostile})
  if [ -d "$WAVESIEVE_DATA" ]; then
    inputs+=("$WAVESIEVE_DATA"/rocpd-ranks/rank{0_81681,3_81684}_results.db "$markers")
  fi
  build && python tests/oracle/compare_check.py --binary "$binary" --inputs "${inputs[@]}"
}

viewers() {
  # What the readers of viewers count, against the databases.
  local inputs=(fixtures/{two_nodes,merged,hostile}) pytorch=(fixtures/kineto_two_ranks)
  if [ -d "$WAVESIEVE_DATA" ]; then
    inputs+=("$WAVESIEVE_DATA"/rocpd-{ranks,pmc})
    pytorch+=("$WAVESIEVE_DATA"/{kineto,pairs/kineto-flux,pairs/kineto-normlayer})
  fi
  build
  need "otf2-print --help" otf2-tools
  need '/usr/bin/python3 -c "import otf2"' python3-otf2
  python tests/oracle/viewers.py --binary "$binary" --inputs "${inputs[@]}"
  python tests/oracle/kineto_check.py --binary "$binary" --inputs "${pytorch[@]}"
  hta tests/oracle/hta_check.py --binary "$binary" --inputs fixtures/planted --pytorch "$WAVESIEVE_DATA/kineto/nvidia-2ranks" '@ProfilerStep#551'
}

package() {
  # The Python package: types, examples, and answers beside independent readings. It needs newer engines than the oracle.
  local place="$cache/package-$(sha256sum python/tests/requirements.txt | cut -c1-12)"
  build
  if [ ! -e "$place/ready" ]; then
    rm -rf "$place"
    python3 -m venv "$place"
    "$place/bin/pip" install --quiet --disable-pip-version-check -r python/tests/requirements.txt
    touch "$place/ready"
  fi
  (cd python && "$place/bin/mypy" --cache-dir "$place/mypy" && WAVESIEVE_BINARY="$binary" "$place/bin/python" -B -m pytest -q)
}

peers() {
  # Answers of TraceLens and of rocpd over the same trace.
  if [ ! -e "$json_908" ]; then
    echo "skipped: $json_908 is absent"
    return
  fi
  build
  python tests/oracle/tracelens.py --binary "$binary" --json "$json_908" --answers "$tracelens_908"
  python tests/oracle/views.py --binary "$binary" --inputs "$json_908"
}

filters() { build && python tests/oracle/filters.py --binary "$binary" --inputs "${filter_inputs[@]}"; }

readers() {
  # Datasets opened by the libraries of data science; Spark in an environment of its own, where it can be installed.
  local place="$cache/spark-$(sha256sum tests/oracle/requirements-spark.txt | cut -c1-12)" spark=()
  build
  if [ ! -e "$place/ready" ]; then
    rm -rf "$place"
    if need "java -version" default-jre-headless && python3 -m venv "$place" \
      && "$place/bin/pip" install --quiet --disable-pip-version-check -r tests/oracle/requirements-spark.txt; then
      touch "$place/ready"
    fi
  fi
  if [ -e "$place/ready" ]; then spark=(--spark "$place/bin/python"); fi
  python tests/oracle/open_anywhere.py --binary "$binary" "${spark[@]}"
}

agents() {
  # The server for agents, used by two libraries of its protocol that have nothing in common.
  local place="$cache/mcp-$(sha256sum tests/oracle/requirements-mcp.txt | cut -c1-12)"
  local modules="$cache/agents-$(sha256sum tests/agents/package-lock.json | cut -c1-12)"
  build
  if [ ! -e "$place/ready" ]; then
    rm -rf "$place"
    python3 -m venv "$place"
    "$place/bin/pip" install --quiet --disable-pip-version-check -r tests/oracle/requirements-mcp.txt
    touch "$place/ready"
  fi
  "$place/bin/python" tests/oracle/mcp_client.py --binary "$binary"
  need "node --version" nodejs
  need "npm --version" npm
  if [ ! -e "$modules/ready" ]; then
    rm -rf "$modules"
    mkdir -p "$modules"
    cp tests/agents/package.json tests/agents/package-lock.json "$modules"
    (cd "$modules" && npm ci --silent --no-fund --no-audit)
    touch "$modules/ready"
  fi
  node tests/agents/mcp_client.mjs "$binary" "$PWD" "$modules"
  if [ -z "${WAVESIEVE_TEST_MODEL:-}" ]; then
    echo "skipped: no model is served; set WAVESIEVE_TEST_MODEL, such as local:qwen3, to ask it a question"
    return
  fi
  cargo nextest run --locked --run-ignored only -E 'test(a_real_model_answers_by_calling_tools)'
}

need 'cc --version' gcc
need 'c++ --version' g++

asked=("$@")
[ "${#asked[@]}" -gt 0 ] || asked=("${steps[@]}")
for step in "${asked[@]}"; do
  case " ${steps[*]} " in
    *" $step "*) ;;
    *)
      echo "error: there is no step \`$step\`; the steps are: ${steps[*]}" >&2
      exit 2
      ;;
  esac
done

took=()
failed=()
for step in "${asked[@]}"; do
  printf '\n== %s (after %d s)\n' "$step" "$SECONDS"
  begin=$SECONDS
  # Not as a condition, in which bash would go on after a command that fails.
  set +e
  (set -e; "$step")
  code=$?
  set -e
  took+=("$(printf '%6d s  %s' "$((SECONDS - begin))" "$step")")
  if [ "$code" -ne 0 ]; then
    failed+=("$step")
    # What does not compile or is not right in itself is not compared with anything.
    case "$step" in format | lints | tests) break ;; esac
  fi
done

printf '\n== what each step took\n'
printf '%s\n' "${took[@]}"
printf '%6d s  in all\n' "$SECONDS"
if [ "${#failed[@]}" -gt 0 ]; then
  echo "error: failed: ${failed[*]}" >&2
  exit 1
fi
