//! Texts of errors.

/// An error with its causes in one line.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        // What wraps an error often repeats it.
        if !causes.iter().any(|known| known.contains(&cause)) {
            causes.push(cause);
        }
    }
    causes.join(": ").split_whitespace().collect::<Vec<_>>().join(" ")
}
