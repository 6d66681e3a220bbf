#!/usr/bin/env bash
# Compares answers over a dataset in an object store with those over the same dataset in a folder, for many verbs. Run by hand:
#
#   run.sh STORE BINARY [INPUT…]    writes a table for results.md to standard output
#
# STORE is `s3` (moto), `gcs` (moto behind the signature of gcs_server.py) or `azure` (Azurite, which needs npm): servers of these
# protocols on loopback.
set -euo pipefail
cd "$(dirname "$0")/../.."

store="${1:?name the store: s3, gcs or azure}"
binary="$(realpath "${2:?name the binary}")"
shift 2
inputs=("$@")
[ "${#inputs[@]}" -gt 0 ] || inputs=(fixtures/two_nodes)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve"
. tests/run/tools.sh
venv="$(environment_of deep tests/requirements-deep.txt)"
work="$(mktemp -d)"
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
server=
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

answers() { for _ in $(seq 100); do curl -s -o /dev/null "$1" && return; sleep 0.1; done; }

start_s3() {
  make_environment "$venv" tests/requirements-deep.txt
  "$venv/bin/moto_server" -H 127.0.0.1 -p "$port" >"$work/server.log" 2>&1 &
  server=$!
  address=s3://traces/run
  secret=very-secret-key
  export AWS_ACCESS_KEY_ID=testing AWS_SECRET_ACCESS_KEY="$secret" AWS_REGION=us-east-1
  export AWS_ENDPOINT_URL="http://127.0.0.1:$port" AWS_ALLOW_HTTP=true
  answers "$AWS_ENDPOINT_URL"
  curl -s -o /dev/null -X PUT "$AWS_ENDPOINT_URL/traces"
}

start_gcs() {
  make_environment "$venv" tests/requirements-deep.txt
  "$venv/bin/python" tests/stores/gcs_server.py "$port" >"$work/server.log" 2>&1 &
  server=$!
  address=gs://traces/run
  secret=very-secret-key
  printf '{"gcs_base_url": "http://127.0.0.1:%s", "disable_oauth": true, "client_email": "", "private_key": "%s", "private_key_id": ""}' \
    "$port" "$secret" >"$work/account.json"
  export GOOGLE_SERVICE_ACCOUNT="$work/account.json"
  answers "http://127.0.0.1:$port"
  curl -s -o /dev/null -X PUT "http://127.0.0.1:$port/traces"
}

start_azure() {
  if [ ! -x "$cache/azurite/node_modules/.bin/azurite-blob" ]; then
    npm install --no-audit --no-fund --silent --prefix "$cache/azurite" azurite@3
  fi
  "$cache/azurite/node_modules/.bin/azurite-blob" --inMemoryPersistence --skipApiVersionCheck --blobPort "$port" >"$work/server.log" 2>&1 &
  server=$!
  address=az://traces/run
  # The account and the key of every such server, which Microsoft publishes.
  secret='Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
  export AZURE_STORAGE_USE_EMULATOR=true AZURITE_BLOB_STORAGE_URL="http://127.0.0.1:$port"
  answers "$AZURITE_BLOB_STORAGE_URL"
  python3 tests/stores/azure_container.py "$AZURITE_BLOB_STORAGE_URL" traces "$secret"
}

case "$store" in
  s3) start_s3 ;;
  gcs) start_gcs ;;
  azure) start_azure ;;
  *) echo "error: $store is none of the stores; name s3, gcs or azure" >&2; exit 2 ;;
esac

"$binary" convert "${inputs[@]}" -o "$work/local" --with all 2>"$work/local.log"
"$binary" convert "${inputs[@]}" -o "$address" --with all 2>"$work/sent.log"
"$binary" convert "${inputs[@]}" -o "$address" --with all 2>"$work/again.log"

passed=0
failed=0
echo "| command | exit | equal |"
echo "| --- | --- | --- |"
count() {
  case "$1" in yes) passed=$((passed + 1)) ;; *) failed=$((failed + 1)) ;; esac
}

compare() {
  # compare VERB…: the same command over both, and what both print
  local local_code=0 store_code=0 equal=yes
  "$binary" "$@" "$work/local" >"$work/local.out" 2>"$work/local.err" || local_code=$?
  "$binary" "$@" "$address" >"$work/store.out" 2>"$work/store.err" || store_code=$?
  sed -i "s#$work/local#$address#g" "$work"/local.{out,err}
  if [ "$local_code" != "$store_code" ] || ! cmp -s "$work/local.out" "$work/store.out"; then
    equal=no
    diff "$work/local.out" "$work/store.out" | head -n 6 >&2 || true
    head -n 3 "$work/store.err" >&2
  fi
  if [ "$store_code" = 2 ]; then
    equal="no: not understood"
  fi
  if grep -qF "$secret" "$work"/store.{out,err}; then
    equal="no: a secret is printed"
  fi
  count "$equal"
  echo "| \`$*\` | $store_code | $equal |"
}
compare info
compare check
compare analyze -f json
compare analyze
compare report -f json -o -
compare sql "SELECT short_name, COUNT(*) AS n, SUM(duration_ns) AS ns FROM kernels GROUP BY short_name ORDER BY short_name"
compare table kernel_summary --rank 1
compare table kernel_summary --window 20%:60%
for query in $("$binary" table --list -f csv | tail -n +2 | cut -d, -f1); do
  compare table "$query" -f csv
done
"$binary" convert "$address" -o "$work/back" --with all 2>"$work/back.log"
"$binary" convert "$work/local" -o "$work/copy" --with all 2>>"$work/back.log"
again=yes
diff -r -q --exclude=_conversion.json "$work/copy" "$work/back" >&2 || again=no
count "$again"
echo "| \`convert $address -o back\`: the files of \`convert DIRECTORY\` | 0 | $again |"
echo
sed 's/^/    /' "$work/sent.log" "$work/again.log"
echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
