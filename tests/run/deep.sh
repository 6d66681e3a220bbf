# Read by tests/run.sh: what `deep` has beside the steps of `all` with other seeds and larger sizes, and the page of its last result.

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

write_deep() {
  # The page is the same whatever the machine's paths; its table is what the last lines of the run print.
  local passed failed skipped
  read -r passed failed skipped < <(sums)
  {
    echo "# The last deep run"
    echo
    echo "\`tests/run.sh deep\` writes this page. It looks for cases that no other run has seen; \`tests/run.sh all\` prints how old it is."
    echo
    echo "- Date: $(date -u +%F)"
    echo "- Seed: $seed (\`WAVESIEVE_SEED=$seed bash tests/run.sh deep STEP\` repeats a step)"
    echo "- Result: $passed passed, $failed failed, $skipped skipped in $((SECONDS / 60)) minutes on $(nproc) processors"
    echo
    echo "| Step | Result | Passed | Failed | Skipped | Wall s | CPU s |"
    echo "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    awk -F'|' '{ printf "| `%s` | %s | %d | %d | %d | %.0f | %.0f |\n", $1, $2, $5, $6, $7, $3, $4 }' "$work/results"
    echo
    echo "Skipped:"
    echo
    list_skips | sed -n 's/^\([a-z].*\)/- \1/p' | sed "s#$PWD/##g; s#$WAVESIEVE_DATA#\$WAVESIEVE_DATA#g"
  } >"$DEEP_PAGE.new"
  mv "$DEEP_PAGE.new" "$DEEP_PAGE"
}

age_of_deep() {
  local date result days
  if [ ! -e "$DEEP_PAGE" ]; then
    printf '\ndeep: %s is absent; run tests/run.sh deep and commit it\n' "$DEEP_PAGE"
    return
  fi
  date="$(sed -n 's/^- Date: //p' "$DEEP_PAGE")"
  result="$(sed -n 's/^- Result: //p' "$DEEP_PAGE")"
  days=$((($(date -u +%s) - $(date -u -d "$date" +%s)) / 86400))
  printf '\ndeep: last run %d days ago, on %s: %s\n' "$days" "$date" "$result"
}
