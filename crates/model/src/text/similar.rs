//! The most similar of known names, for messages about unknown names.

/// Minimum similarity, from 0 to 1, of a name worth suggesting.
const MIN_SIMILARITY: f64 = 0.7;
/// Maximum length of a name to compare: users do not mistype longer names, and the time grows with the product of both
/// lengths.
const LONGEST_NAME_BYTES: usize = 512;

/// How alike two names are, from 0 to 1, for words that start alike (Jaro-Winkler).
pub fn alike(one: &str, other: &str) -> f64 {
    if are_names(one, other) { strsim::jaro_winkler(one, other) } else { 0.0 }
}

/// How alike two names are, from 0 to 1, for typing errors (Damerau-Levenshtein).
pub(crate) fn alike_but_for_slips(one: &str, other: &str) -> f64 {
    if are_names(one, other) { strsim::normalized_damerau_levenshtein(one, other) } else { 0.0 }
}

/// Whether one typing error turns one name into another.
pub fn is_one_slip_from(one: &str, other: &str) -> bool {
    are_names(one, other) && strsim::osa_distance(one, other) == 1
}

fn are_names(one: &str, other: &str) -> bool {
    one.len().max(other.len()) <= LONGEST_NAME_BYTES
}

/// The candidate that is most similar to a name, if any is similar enough.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    best(candidates.map(|candidate| (alike(name, candidate), candidate)))
}

/// Like [`closest`], for long names of which people write a part: a candidate is as similar as its most similar word.
pub fn closest_by_word<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let wanted = name.to_lowercase();
    let similarity = |candidate: &str| {
        let lower = candidate.to_lowercase();
        lower
            .split(|character: char| !character.is_alphanumeric())
            .chain([lower.as_str()])
            .filter(|word| !word.is_empty())
            .map(|word| alike(&wanted, word))
            .fold(0.0, f64::max)
    };
    best(candidates.map(|candidate| (similarity(candidate), candidate)))
}

fn best<'a>(scored: impl Iterator<Item = (f64, &'a str)>) -> Option<String> {
    scored
        .filter(|(similarity, _)| *similarity > MIN_SIMILARITY)
        .max_by(|(a, first), (b, second)| a.total_cmp(b).then(second.cmp(first)))
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_names_are_like_nothing() {
        let text = "x".repeat(10_000_000);
        assert_eq!(alike(&text, "kernels"), 0.0);
        assert_eq!(alike_but_for_slips("kernels", &text), 0.0);
        assert!(!is_one_slip_from(&text, "kernels"));
        assert!(is_one_slip_from("kernel", "kernels"));
        assert_eq!(closest_by_word(&text, ["kernels", &text].into_iter()), None);
    }

    #[test]
    fn similar_names() {
        assert_eq!(closest("kernal", ["kernels", "regions"].into_iter()).as_deref(), Some("kernels"));
        assert_eq!(closest("xyz", ["kernels", "regions"].into_iter()), None);
        let names = ["void at::native::vectorized_elementwise_kernel", "ncclDevKernel_Generic_1"];
        assert_eq!(closest_by_word("elementwize", names.into_iter()).as_deref(), Some(names[0]));
        assert_eq!(closest_by_word("ncclDevKernel", names.into_iter()).as_deref(), Some(names[1]));
    }
}
