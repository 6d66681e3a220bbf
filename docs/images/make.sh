#!/usr/bin/env bash
# Takes the picture of a report that the README shows. Needs chromium and pngquant; WAVESIEVE names a binary that is built already.
set -euo pipefail
cd "$(dirname "$0")/../.."

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
if [ -n "${WAVESIEVE:-}" ]; then program=("$WAVESIEVE"); else program=(cargo run --locked --quiet --); fi
"${program[@]}" analyze fixtures/planted -o "$work/report.html" --quiet
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --hide-scrollbars \
  --user-data-dir="$work/profile" --window-size=1280,1120 --screenshot="$work/report.png" "file://$work/report.html" 2>/dev/null
pngquant --force --strip 64 --output docs/images/report.png "$work/report.png"
