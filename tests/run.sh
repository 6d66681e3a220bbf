#!/usr/bin/env bash
# Runs every check of the project: format, lints, tests, generated documentation, and the oracle run.
# Builds go to one directory for all checkouts, because polars takes long to build.
set -euo pipefail
cd "$(dirname "$0")/.."

cache="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}"
export WAVESIEVE_DATA="${WAVESIEVE_DATA:-$PWD/../shared/data}"
# A commit is judged by the same drawn cases each time; the fuzz targets are what looks for new ones.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20260101}"

step() { printf '\n== %s (after %d s)\n' "$1" "$SECONDS"; }

need() {
  # need COMMAND PACKAGE: installs a Debian package when a command does not work
  if ! eval "$1" >/dev/null 2>&1; then
    if [ "$(id -u)" -ne 0 ]; then
      echo "error: \`$1\` does not work; install the Debian package $2" >&2
      exit 1
    fi
    apt-get update -qq && apt-get install -y -qq "$2"
  fi
}

need 'cc --version' gcc
need 'c++ --version' g++
need 'python3 -c "import venv, ensurepip"' python3-venv

step "format"
cargo fmt --check

step "lints"
cargo clippy --locked --all-targets -- -D warnings
# What the fuzz targets are built of; a gate that is missing would show late.
cargo check --locked --quiet --no-default-features --features properties --lib

step "tests"
if cargo nextest --version >/dev/null 2>&1; then
  cargo nextest run --locked
  cargo test --locked --doc
else
  cargo test --locked
fi

step "fuzzing"
bash tests/fuzz/run.sh

step "oracle"
requirements="tests/oracle/requirements.txt"
venv="$cache/oracle-$(sha256sum "$requirements" | cut -c1-12)"
if [ ! -x "$venv/bin/duckdb_ready" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
  ln -s python "$venv/bin/duckdb_ready"
fi
# The tests have built the binary; another build with other features would take as long again.
binary="$CARGO_TARGET_DIR/debug/wavesieve"
inputs=(fixtures/two_nodes fixtures/hostile fixtures/merged fixtures/counters)
if [ -d "$WAVESIEVE_DATA" ]; then
  # The folder of markers holds the RPD file it was made from too.
  for name in rocpd-real rocpd-ranks rocpd-markers/rank2_1560_results.db rocpd-pmc; do
    inputs+=("$WAVESIEVE_DATA/$name")
  done
else
  echo "WARNING: $WAVESIEVE_DATA is absent: the oracle runs on the fixtures only (set WAVESIEVE_DATA)" >&2
fi
documents=(fixtures/two_nodes_json fixtures/counters_json fixtures/planted)
if [ -d "$WAVESIEVE_DATA" ]; then documents+=("$WAVESIEVE_DATA"/{rocprofv3-json,rpd-ranks,csv/gfx1151}); fi
status=0
cargo build --locked --quiet --example generate_trace
generator="$CARGO_TARGET_DIR/debug/examples/generate_trace"
python3 tests/hostile/metamorphic.py --binary "$binary" --generator "$generator" || status=1
python3 tests/hostile/mutations.py --binary "$binary" --generator "$generator" || status=1
"$venv/bin/python" tests/oracle/run.py --binary "$binary" --inputs "${inputs[@]}" "${documents[@]}" || status=1
"$venv/bin/python" tests/oracle/statements.py --binary "$binary" || status=1
"$venv/bin/python" tests/documents/validate.py --binary "$binary" \
  --inputs fixtures/{two_nodes,hostile,merged,counters,compute,thread_trace} --source-dir fixtures/source || status=1
"$venv/bin/python" tests/documents/guide_python.py --binary "$binary" || status=1
bash tests/html/run.sh "$binary" || status=1
"$venv/bin/python" tests/documents/xlsx_check.py --binary "$binary" \
  --inputs fixtures/{two_nodes,hostile,counters,thread_trace} \
  --json "$WAVESIEVE_DATA/rocprofv3-json/908_results.json.gz" --answers "$WAVESIEVE_DATA/tracelens-908" || status=1
"$venv/bin/python" tests/oracle/sqlite_check.py --binary "$binary" --inputs "${inputs[@]}" || status=1
derived=(fixtures/two_nodes fixtures/hostile fixtures/counters)
if [ -d "$WAVESIEVE_DATA" ]; then
  for name in rocpd-real rocpd-ranks/rank0_81681_results.db rocpd-markers/rank2_1560_results.db rocpd-pmc; do
    derived+=("$WAVESIEVE_DATA/$name")
  done
fi
"$venv/bin/python" tests/oracle/derived_check.py --binary "$binary" --inputs "${derived[@]}" || status=1
filtered=(fixtures/two_nodes_json fixtures/hostile fixtures/merged fixtures/counters)
if [ -d "$WAVESIEVE_DATA" ]; then
  filtered+=("$WAVESIEVE_DATA/rocpd-markers" "$WAVESIEVE_DATA/rocpd-pmc")
  "$venv/bin/python" tests/oracle/tracelens.py --binary "$binary" \
    --json "$WAVESIEVE_DATA/rocprofv3-json/908_results.json.gz" --answers "$WAVESIEVE_DATA/tracelens-908" || status=1
  "$venv/bin/python" tests/oracle/views.py --binary "$binary" \
    --inputs "$WAVESIEVE_DATA/rocprofv3-json/908_results.json.gz" || status=1
fi
"$venv/bin/python" tests/oracle/filters.py --binary "$binary" --inputs "${filtered[@]}" || status=1
datasets="$(mktemp -d)"
trap 'rm -rf "$datasets"' EXIT
for input in "${inputs[@]}" "${documents[@]}"; do
  "$binary" convert "$input" -o "$datasets/$(basename "$input")" --quiet
done
"$venv/bin/python" tests/oracle/readers.py "$datasets"/* || status=1
exit "$status"
