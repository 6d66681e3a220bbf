//! What is said to people beside the answer, on standard error.

use super::arguments::GlobalArguments;
use crate::trace::Trace;
use crate::trace::source::Severity;

/// Warns of what the user should know about the inputs before reading an answer.
pub fn warn(trace: &Trace, global: &GlobalArguments) {
    if global.quiet {
        return;
    }
    for note in trace.notes().iter().filter(|note| note.severity <= Severity::Warning) {
        match &note.first_key {
            Some(key) => eprintln!("warning: {key}: {}", note.detail),
            None => eprintln!("warning: {}", note.detail),
        }
    }
}

/// Lists what could not be read, and tells whether there was any.
pub fn report_damage(trace: &Trace) -> bool {
    let damage = trace.damage();
    for part in &damage {
        if part.part.is_empty() {
            eprintln!("damaged: {}: {}", part.path, part.cause);
        } else {
            eprintln!("damaged: {}: {}: {}", part.path, part.part, part.cause);
        }
    }
    if !damage.is_empty() {
        eprintln!("the result is partial");
    }
    !damage.is_empty()
}
