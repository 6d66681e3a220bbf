//! Why a command did not end well.

use super::run::End;

/// How rocprofv3 ends if counters do not fit into one pass.
const TOO_MANY_COUNTERS: i32 = 38;

/// Why a command did not end well.
pub(crate) fn why(end: &End, limit_s: Option<u64>) -> String {
    match end {
        End::Code(TOO_MANY_COUNTERS) => format!(
            "the command ended with {TOO_MANY_COUNTERS}: the counters do not fit into one pass; let `wavesieve plan` split them"
        ),
        End::Code(code) => format!("the command ended with {code}"),
        End::Signal(signal) => format!("signal {signal} ended the command"),
        End::NotFound => "the program does not exist; check its name and PATH".to_owned(),
        End::NotStarted(reason) => format!("the program cannot be started: {reason}"),
        End::TimeLimit => {
            let limit = limit_s.map(|seconds| format!(" of {seconds} s")).unwrap_or_default();
            format!("the command was stopped at its limit{limit}; raise --time-limit, or shorten the run")
        }
        End::Interrupted => "the command was interrupted".to_owned(),
    }
}
