//! One question to a real model, such as one that Ollama serves on this machine.

use crate::ask::INPUT;
use crate::common::{finish, program};

/// `WAVESIEVE_TEST_MODEL` is what `--llm` takes, such as `local:qwen3`; `tests/run.sh tests` runs this if it is set.
#[test]
#[ignore = "no model is served; set WAVESIEVE_TEST_MODEL"]
fn a_real_model_answers_by_calling_tools() {
    let model = std::env::var("WAVESIEVE_TEST_MODEL").expect("WAVESIEVE_TEST_MODEL names a model");
    let run = finish(program(&["ask", "Which kernel takes most time, and how long?", INPUT, "--llm", &model]));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("step 1/"), "{}", run.stderr);
    assert!(run.stdout.contains("What the answer rests on") && run.stdout.contains("$ wavesieve "), "{}", run.stdout);
}
