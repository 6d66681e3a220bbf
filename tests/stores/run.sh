#!/usr/bin/env bash
# Compares answers over a dataset in an object store with those over the same dataset in a folder, for many verbs. The store is
# moto, a server of S3's protocol on loopback. Run by hand: run.sh BINARY [INPUT…]; writes a table for results.md to standard output.
set -euo pipefail
cd "$(dirname "$0")/../.."

binary="$(realpath "${1:?name the binary}")"
shift
inputs=("$@")
[ "${#inputs[@]}" -gt 0 ] || inputs=(fixtures/two_nodes)
moto="${XDG_CACHE_HOME:-$HOME/.cache}/wavesieve/moto"
if [ ! -x "$moto/bin/moto_server" ]; then
  python3 -m venv "$moto"
  "$moto/bin/pip" install --quiet --disable-pip-version-check "moto[server]==5.*"
fi

work="$(mktemp -d)"
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
"$moto/bin/moto_server" -H 127.0.0.1 -p "$port" >"$work/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
export AWS_ACCESS_KEY_ID=testing AWS_SECRET_ACCESS_KEY=very-secret-key AWS_REGION=us-east-1
export AWS_ENDPOINT_URL="http://127.0.0.1:$port" AWS_ALLOW_HTTP=true
for _ in $(seq 100); do curl -s -o /dev/null "$AWS_ENDPOINT_URL" && break; sleep 0.1; done
curl -s -o /dev/null -X PUT "$AWS_ENDPOINT_URL/traces"

"$binary" convert "${inputs[@]}" -o "$work/local" --with all 2>"$work/local.log"
"$binary" convert "${inputs[@]}" -o s3://traces/run --with all 2>"$work/sent.log"
"$binary" convert "${inputs[@]}" -o s3://traces/run --with all 2>"$work/again.log"

failed=0
echo "| command | exit | equal |"
echo "| --- | --- | --- |"
compare() {
  # compare VERB…: the same command over both, and what both print
  local local_code=0 store_code=0 equal=yes
  "$binary" "$@" "$work/local" >"$work/local.out" 2>"$work/local.err" || local_code=$?
  "$binary" "$@" s3://traces/run >"$work/store.out" 2>"$work/store.err" || store_code=$?
  sed -i "s#$work/local#s3://traces/run#g" "$work"/local.{out,err}
  if [ "$local_code" != "$store_code" ] || ! cmp -s "$work/local.out" "$work/store.out"; then
    equal=no
    failed=$((failed + 1))
    diff "$work/local.out" "$work/store.out" | head -n 6 >&2 || true
    head -n 3 "$work/store.err" >&2
  fi
  if grep -q very-secret-key "$work"/store.{out,err}; then
    equal="no: a secret is printed"
    failed=$((failed + 1))
  fi
  echo "| \`$*\` | $store_code | $equal |"
}
compare info
compare check
compare analyze -f json
compare analyze
compare report -f json
compare tables
compare sql "SELECT short_name, COUNT(*) AS n, SUM(duration_ns) AS ns FROM kernels GROUP BY short_name ORDER BY short_name"
compare table kernel_summary --rank 1
compare table kernel_summary --from 20% --to 60%
for query in $("$binary" table --list -f csv | tail -n +2 | cut -d, -f1); do
  compare table "$query" -f csv
done
"$binary" convert s3://traces/run -o "$work/back" --with all 2>"$work/back.log"
"$binary" convert "$work/local" -o "$work/copy" --with all 2>>"$work/back.log"
again=yes
diff -r -q --exclude=_conversion.json "$work/copy" "$work/back" >&2 || { again=no; failed=$((failed + 1)); }
echo "| \`convert s3://… -o back\`: the files of \`convert DIRECTORY\` | 0 | $again |"
echo
sed 's/^/    /' "$work/sent.log" "$work/again.log"
echo
echo "$failed failed"
[ "$failed" -eq 0 ]
