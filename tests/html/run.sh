#!/usr/bin/env bash
# Opens pages of `analyze --format html` and of `report`, and time lines, in a browser and uses them: run.sh [--pdf] BINARY
# With --pdf every page is printed, not one. The first call installs node, a browser and poppler; libraries go to the cache.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
every_page=""
if [ "${1:-}" = --pdf ]; then every_page=1; shift; fi
binary="$(realpath "${1:?name the binary: run.sh [--pdf] BINARY}")"
cd "$here/../.."
cache="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve"
. tests/run/tools.sh
need node nodejs npm npm chromium chromium pdftotext poppler-utils python3 python3
modules="$(node_modules html "$here")"

pages="$(mktemp -d)"
trap 'rm -rf "$pages"' EXIT
write() {
  # write NAME INPUT: what is found in an input may be damaged, which exit code 5 reports
  local code=0 form=readable
  # Long names are used in the page of two_nodes.
  [ "$1" != two_nodes ] || form=full
  "$binary" analyze "$2" --name "$form" --format html --quiet --output "$pages/$1.html" 2>"$pages/$1.log" || code=$?
  if [ "$code" -ne 0 ] && [ "$code" -ne 5 ]; then
    echo "error: analyze $2 ended with $code" >&2
    cat "$pages/$1.log" >&2
    exit 1
  fi
}
for name in two_nodes hostile counters thread_trace; do write "$name" "fixtures/$name"; done
python3 "$here/hostile_names.py" fixtures/two_nodes "$pages/named"
write hostile_names "$pages/named"
data="${WAVESIEVE_DATA:-../shared/data}"
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
# That a page has the same bytes when it is written again is a check of tests/documents/validate.py.

export MODULES="$modules" CHROMIUM
CHROMIUM="$(command -v chromium)"
EVERY_PAGE="$every_page" node "$here/check.mjs" "$pages"
# Time lines of made pictures, without the program: what is drawn, how it is used, and how fast it is.
python3 "$here/timeline/pictures.py" "$pages/timeline"
timeout 120 node "$here/timeline/check.mjs" "$pages/timeline"
if FIREFOX="$(command -v firefox-esr || command -v firefox)"; then
  FIREFOX="$FIREFOX" timeout 120 node "$here/timeline/firefox.mjs" "$pages/timeline"
else
  echo "WARNING: firefox-esr is absent: time lines are opened in Chromium only" >&2
fi
# The page that the program serves.
node "$here/view.mjs" "$binary" fixtures/two_nodes
node "$here/windows.mjs" "$binary" fixtures/two_nodes
