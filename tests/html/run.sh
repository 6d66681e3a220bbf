#!/usr/bin/env bash
# Opens pages of `analyze --format html` and of `report` in a browser and uses them: run.sh BINARY
# The first call installs what it needs: node, a browser, poppler; libraries go to the cache.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
binary="$(realpath "${1:?name the binary: run.sh BINARY}")"

need() {
  # need COMMAND PACKAGE: installs a Debian package when a command is missing
  if ! command -v "$1" >/dev/null; then
    if [ "$(id -u)" -ne 0 ]; then
      echo "error: $1 is missing; install the Debian package $2" >&2
      exit 1
    fi
    apt-get update -qq && apt-get install -y -qq "$2" >/dev/null
  fi
}

need node nodejs
need npm npm
need chromium chromium
need pdftotext poppler-utils
need python3 python3

modules="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve/html-$(sha256sum "$here/package-lock.json" | cut -c1-12)"
if [ ! -e "$modules/ready" ]; then
  rm -rf "$modules"
  mkdir -p "$modules"
  cp "$here/package.json" "$here/package-lock.json" "$modules"
  (cd "$modules" && npm ci --silent --no-fund --no-audit)
  touch "$modules/ready"
fi

pages="$(mktemp -d)"
trap 'rm -rf "$pages"' EXIT
write() {
  # write NAME INPUT: what is found in an input may be damaged, which is told by 5
  local code=0
  "$binary" analyze "$2" --format html --quiet --output "$pages/$1.html" 2>"$pages/$1.log" || code=$?
  if [ "$code" -ne 0 ] && [ "$code" -ne 5 ]; then
    echo "error: analyze $2 ended with $code" >&2
    cat "$pages/$1.log" >&2
    exit 1
  fi
}
cd "$root"
for name in two_nodes hostile counters thread_trace; do write "$name" "fixtures/$name"; done
python3 "$here/hostile_names.py" fixtures/two_nodes "$pages/named"
write hostile_names "$pages/named"
data="${WAVESIEVE_DATA:-$root/../shared/data}"
if [ -d "$data" ]; then
  write rocpd-ranks "$data/rocpd-ranks"
  write rocpd-markers "$data/rocpd-markers/rank2_1560_results.db"
else
  echo "WARNING: $data is absent: pages are made of the fixtures only (set WAVESIEVE_DATA)" >&2
fi
# Runs with hostile names, of which one is damaged and one has written nothing.
mkdir -p "$pages/runs/<b onclick=alert(1)>&\"'" "$pages/runs/damaged" "$pages/runs/empty" "$pages/runs/two nodes"
cp fixtures/merged/merged.db "$pages/runs/<b onclick=alert(1)>&\"'"
cp fixtures/two_nodes/node0/4100_results.db "$pages/runs/two nodes"
head -c 3000 fixtures/two_nodes/node0/4140_results.db >"$pages/runs/damaged/4140_results.db"
code=0
"$binary" report "$pages/runs" --group-by folder --quiet --dir "$pages/batch" 2>"$pages/batch.log" || code=$?
[ "$code" -eq 6 ] || { echo "error: report ended with $code" >&2; cat "$pages/batch.log" >&2; exit 1; }
POLARS_MAX_THREADS=1 RAYON_NUM_THREADS=1 "$binary" analyze fixtures/two_nodes --format webview --quiet >"$pages/again"
cmp "$pages/again" "$pages/two_nodes.html" || { echo "error: the same input gives different pages" >&2; exit 1; }

MODULES="$modules" CHROMIUM="$(command -v chromium)" node "$here/check.mjs" "$pages"
