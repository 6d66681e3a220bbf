//! Names of folders.

use wavesieve_captures::captures::last_word;

/// A short name for a kernel: `blas_copy` for `void blas::copy<float>(float*)`.
pub(crate) fn short_name(shown: &str) -> String {
    let mut name = String::new();
    for letter in last_word(shown, &['(', '[']).chars().take(60) {
        if letter.is_ascii_alphanumeric() {
            name.push(letter);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_matches('_');
    if name.is_empty() { "kernel".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn names_are_short_and_fit_a_path() {
        for (shown, name) in [
            ("add", "add"),
            ("void copy<float>(float*, float const*, int)", "copy"),
            ("blas::saxpy(float*, float const*, float, int)", "blas_saxpy"),
            ("void (anonymous namespace)::go<int>(int)", "anonymous_go"),
            ("_Z4copyIfEvPT_PKS0_i", "Z4copyIfEvPT_PKS0_i"),
            ("../../x", "x"),
            ("", "kernel"),
            ("<>", "kernel"),
        ] {
            assert_eq!(short_name(shown), name, "{shown}");
        }
    }
}
