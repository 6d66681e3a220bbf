//! Texts of errors.

/// An error with its causes in one line.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        // A wrapping error often repeats its cause.
        if !causes.iter().any(|known| known.contains(&cause)) {
            causes.push(cause);
        }
    }
    causes.join(": ").split_whitespace().collect::<Vec<_>>().join(" ")
}
