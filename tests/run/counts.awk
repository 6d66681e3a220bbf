# Adds up the closing lines of a step's log: PASSED FAILED SKIPPED. Known are ours, nextest's, those of cargo test, and pytest's.
# A log without such a line gives nothing.

function of(text, word) {
  return match(text, "[0-9]+ " word) ? substr(text, RSTART, RLENGTH) + 0 : 0
}

{ gsub(/\033\[[0-9;]*m/, "") }

# 12 passed, 0 failed, 3 skipped
/^([A-Za-z_ ]+: )?[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ {
  add(of($0, "passed"), of($0, "failed"), of($0, "skipped"))
}

# lab outputs: 12 documents, 1 problems
/^([A-Za-z_ ]+: )?[0-9]+ (damaged captures|documents), [0-9]+ problems/ {
  bad = of($0, "problems")
  good = of($0, "(damaged captures|documents)") - bad
  add(good > 0 ? good : 0, bad, 0)
}

# Summary [  12.345s] 12 tests run: 11 passed (1 slow), 1 failed, 2 skipped
/^ *Summary \[ *[0-9.]+s\] .*tests? run: / {
  sub(/.*run: /, "")
  add(of($0, "passed"), of($0, "failed") + of($0, "exec failed") + of($0, "timed out"), of($0, "skipped"))
}

# test result: ok. 11 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.12s
/^test result: / { add(of($0, "passed"), of($0, "failed"), of($0, "ignored")) }

# 1 failed, 11 passed, 2 skipped in 12.34s, with or without a frame
/^(=+ )?([0-9]+ [a-z]+, )*[0-9]+ [a-z]+ in [0-9.]+s( \([0-9:]+\))?( =+)?$/ {
  add(of($0, "passed"), of($0, "failed") + of($0, "errors?"), of($0, "skipped"))
}

function add(more_passed, more_failed, more_skipped) {
  passed += more_passed
  failed += more_failed
  skipped += more_skipped
  found = 1
}

END { if (found) print passed, failed, skipped }
