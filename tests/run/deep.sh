# Read by tests/run.sh: what `deep` adds to the steps of `all` with other seeds and larger sizes, and the page of its last result.

readonly DEEP_PAGE=tests/deep.md
deep_venv="$(environment_of deep tests/requirements-deep.txt)"

# Tests with a new seed where they draw cases, more of these, and all cases of long lists.
properties() { WAVESIEVE_EVERY_CASE=1 cargo_tests; }

spark() { python tests/oracle/open_anywhere.py --binary "$binary" --spark "$deep_venv/bin/python"; }

hta() {
  local traces="$WAVESIEVE_DATA/kineto/nvidia-2ranks" pytorch=()
  if [ -d "$traces" ]; then
    pytorch=(--pytorch "$traces" '@ProfilerStep#551')
  else
    skip "traces of PyTorch" "without real traces: $traces"
  fi
  "$deep_venv/bin/python" tests/oracle/hta_check.py --binary "$binary" --inputs fixtures/planted "${pytorch[@]}"
}

stores() {
  local store code=0
  for store in s3 gcs azure; do
    bash tests/stores/run.sh "$store" "$binary" || code=1
  done
  return "$code"
}

cluster() {
  cargo clippy --locked --quiet -p wavesieve-ballista --all-targets -- -D warnings
  bash tests/cluster/run.sh
}

packages() {
  bash tests/release/build.sh
  bash tests/release/check.sh
}

# Links of the docs of crates that lead nowhere, and markup that rustdoc cannot read.
api_docs() { RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet --no-deps --document-private-items "${packages[@]}"; }

dependencies() {
  # Licenses, sources and versions of all crates, and what is known against them. The list of that is fetched from elsewhere.
  local root="$cache/cargo-deny"
  [ -e "$root/bin/cargo-deny" ] || cargo install --locked --quiet --root "$root" cargo-deny
  local deny=("$root/bin/cargo-deny" --workspace)
  "${deny[@]}" check --hide-inclusion-graph licenses bans sources
  if "${deny[@]}" fetch db; then
    "${deny[@]}" check --disable-fetch advisories
  else
    skip advisories "the database of advisories cannot be fetched"
  fi
}

deep_rows() {
  # The row of each step: of this run, otherwise the one that the page has, otherwise that it was never run.
  local today step
  today="$(date -u +%F)"
  for step in $deep_steps; do
    awk -F'|' -v step="$step" -v today="$today" -v seed="$seed" '$1 == step {
      printf "| `%s` | %s | %s | %s | %d | %d | %d | %.0f | %.0f |\n", $1, today, seed, $2, $5, $6, $7, $3, $4
    }' "$work/results" | grep . || grep -F "| \`$step\` |" "$DEEP_PAGE" 2>/dev/null || echo "| \`$step\` | never | | | | | | | |"
  done
}

write_deep() {
  # The page is the same whatever the machine's paths.
  {
    echo "# The last deep runs"
    echo
    echo "\`tests/run.sh deep [STEP...]\` writes a row for each step that it ran. It looks for cases that no other run has seen;"
    echo "\`tests/run.sh all\` prints how old the rows are. \`WAVESIEVE_SEED=SEED bash tests/run.sh deep STEP\` repeats a step."
    echo
    echo "| Step | Date | Seed | Result | Passed | Failed | Skipped | Wall s | CPU s |"
    echo "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
    deep_rows
  } >"$DEEP_PAGE.new"
  mv "$DEEP_PAGE.new" "$DEEP_PAGE"
}

age_of_deep() {
  # age_of_deep PAGE: the oldest step, those that never ran, and those that failed
  if [ ! -e "$1" ]; then
    printf '\ndeep: %s is absent; run tests/run.sh deep and commit it\n' "$1"
    return
  fi
  local never oldest
  never="$(sed -n 's/^| `\([a-z_]*\)` | never .*/\1/p' "$1" | paste -s -d ' ')"
  oldest="$(sed -n 's/^| `\([a-z_]*\)` | \([0-9-]*\) .*/\2 (\1)/p' "$1" | sort | head -n 1)"
  printf '\ndeep: the oldest result is of %s' "${oldest:-no step}"
  [ -z "$never" ] || printf '; never run: %s' "$never"
  sed -n '/| failed |/s/^| `\([a-z_]*\)` .*/; \1 failed/p' "$1" | tr -d '\n'
  printf '\n'
}
