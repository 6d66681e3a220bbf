//! The most similar of known names, for answers to names that nobody knows.

/// Least similarity, from 0 to 1, of a name worth suggesting.
const MIN_SIMILARITY: f64 = 0.7;

/// The candidate most similar to a name, if one is similar at all.
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    best(candidates.map(|candidate| (strsim::jaro_winkler(name, candidate), candidate)))
}

/// As [`closest`], for long names of which people write a part: a candidate is as similar as its most similar word.
pub(crate) fn closest_by_word<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let wanted = name.to_lowercase();
    let similarity = |candidate: &str| {
        let lower = candidate.to_lowercase();
        lower
            .split(|character: char| !character.is_alphanumeric())
            .chain([lower.as_str()])
            .filter(|word| !word.is_empty())
            .map(|word| strsim::jaro_winkler(&wanted, word))
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
    fn similar_names() {
        assert_eq!(closest("kernal", ["kernels", "regions"].into_iter()).as_deref(), Some("kernels"));
        assert_eq!(closest("xyz", ["kernels", "regions"].into_iter()), None);
        let names = ["void at::native::vectorized_elementwise_kernel", "ncclDevKernel_Generic_1"];
        assert_eq!(closest_by_word("elementwize", names.into_iter()).as_deref(), Some(names[0]));
        assert_eq!(closest_by_word("ncclDevKernel", names.into_iter()).as_deref(), Some(names[1]));
    }
}
