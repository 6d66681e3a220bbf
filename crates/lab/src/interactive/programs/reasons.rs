//! Explains why a command failed.

use super::run::End;

/// Exit code of rocprofv3 if counters do not fit into one pass.
const TOO_MANY_COUNTERS: i32 = 38;

/// The profiler, which users start without naming it.
const PROFILER: &str = "rocprofv3";

pub fn why(end: &End, limit_s: Option<u64>) -> String {
    match end {
        End::Code(TOO_MANY_COUNTERS) => format!(
            "the command ended with {TOO_MANY_COUNTERS}: the counters do not fit into one pass; let `wavesieve plan` split them"
        ),
        End::Code(code) => format!("the command ended with {code}"),
        End::Signal(signal) => format!("signal {signal} ended the command"),
        End::NotFound(program) => not_found(program),
        End::NotStarted(reason) => format!("the program cannot be started: {reason}"),
        End::TimeLimit => {
            let limit = limit_s.map(|seconds| format!(" of {seconds} s")).unwrap_or_default();
            format!("the command was stopped at its limit{limit}; raise --time-limit, or shorten the run")
        }
        End::Interrupted => "the command was interrupted".to_owned(),
    }
}

fn not_found(program: &str) -> String {
    match program {
        "" => "the command is empty; name a program".to_owned(),
        PROFILER => format!("{PROFILER} not found in PATH; install ROCm, or add its bin folder to PATH"),
        path if path.contains('/') => format!("{path} does not exist; check the path"),
        name => format!("{name} not found in PATH; check its name"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_found_is_named() {
        for (program, expected) in [
            ("rocprofv3", "rocprofv3 not found in PATH; install ROCm, or add its bin folder to PATH"),
            ("./app", "./app does not exist; check the path"),
            ("mpirun", "mpirun not found in PATH; check its name"),
            ("", "the command is empty; name a program"),
        ] {
            assert_eq!(why(&End::NotFound(program.to_owned()), None), expected);
        }
    }
}
