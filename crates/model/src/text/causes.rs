//! Errors with their causes, in a line.

/// The error and its causes, outermost first, without causes that repeat the text before.
pub fn with_causes(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let (text, folded) = (cause.to_string(), cause.to_string().to_lowercase());
        let last = parts.last().map(|last| last.to_lowercase()).unwrap_or_default();
        // SQLite appends its own text to its message, as in "Error code 11: The …".
        if last.is_empty() || !last.contains(&folded) && !folded.ends_with(&last) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::with_causes;

    #[test]
    fn nothing_is_said_twice() {
        let error = anyhow!("no space left").context("cannot write a.csv");
        assert_eq!(with_causes(&error), "cannot write a.csv: no space left");
        let error = anyhow!("No space left").context("cannot write a.csv: no space left").context("cannot convert");
        assert_eq!(with_causes(&error), "cannot convert: cannot write a.csv: no space left");
        let error = anyhow!("Error code 11: The image is malformed").context("image is malformed");
        assert_eq!(with_causes(&error), "image is malformed");
    }
}
