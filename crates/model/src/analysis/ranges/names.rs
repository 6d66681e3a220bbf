//! Names of ranges that a program opens again and again, with a number at the end or without.

/// A text without the number at its end, and whether it had one.
pub fn numbered(text: &str) -> (&str, bool) {
    let name = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    (name, name.len() < text.len())
}

/// Whether a range with this text has a name, which may end in `*` for a number.
pub fn is_named(text: &str, name: &str) -> bool {
    text == name || name.strip_suffix('*').is_some_and(|name| numbered(text) == (name, true))
}

/// The name of a range with this text: `*` stands for the number at its end.
pub fn name_of(text: &str) -> String {
    match numbered(text) {
        (name, true) => format!("{name}*"),
        (name, false) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_at_the_end_of_a_name_is_a_number() {
        for text in ["ProfilerStep#5", "ProfilerStep#120", "ProfilerStep#*"] {
            assert!(is_named(text, "ProfilerStep#*"), "{text}");
        }
        for text in ["ProfilerStep#", "ProfilerStep#5 ", "ProfilerStep#x", "MyProfilerStep#5", "ProfilerStep#5/mm"] {
            assert!(!is_named(text, "ProfilerStep#*"), "{text}");
        }
        assert!(is_named("step", "step") && !is_named("step 1", "step") && is_named("train/step 1", "train/step *"));
        assert_eq!([name_of("step 12"), name_of("step")], ["step *", "step"]);
    }
}
