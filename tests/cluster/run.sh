#!/usr/bin/env bash
# Runs every named query on a cluster of Apache DataFusion Ballista (a scheduler and two executors on this machine), compares
# with local answers, makes the cluster fail, and writes results.md. `tests/run.sh deep` runs it: DataFusion takes long to build.
#   tests/cluster/run.sh [DISPATCHES OF THE LARGER TRACE PER RANK]
set -euo pipefail
cd "$(dirname "$0")/../.."
cache="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}"
. tests/run/tools.sh
venv="$(environment_of deep tests/requirements-deep.txt)"
make_environment "$venv" tests/requirements-deep.txt
cargo build --locked --quiet --bin wavesieve --example generate_trace
cargo build --locked --quiet -p wavesieve-ballista
exec "$venv/bin/python" tests/cluster/check.py --programs "$CARGO_TARGET_DIR/debug" \
  --generator "$CARGO_TARGET_DIR/debug/examples/generate_trace" --dispatches "${1:-8000}" --output tests/cluster/results.md
