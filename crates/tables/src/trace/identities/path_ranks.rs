//! Ranks in the names of files and folders.

use std::collections::BTreeSet;

/// Maximum number of digits of a rank; a longer number is not a rank.
const LONGEST_RANK: usize = 6;

/// The rank in a path such as `rank4_results.db`, `run/RANK_4/x.db` or `rank=4/x.db`; `None` unless exactly one number follows the word
/// `rank`. Local ranks repeat on every node and do not count.
pub fn rank_in_names(path: &str) -> Option<i64> {
    let path = path.to_ascii_lowercase();
    let ranks: BTreeSet<i64> = path.match_indices("rank").filter_map(|(at, word)| rank_at(&path, at, word)).collect();
    ranks.first().copied().filter(|_| ranks.len() == 1)
}

fn rank_at(path: &str, at: usize, word: &str) -> Option<i64> {
    let (before, rest) = (path.get(..at)?, path.get(at + word.len()..)?);
    let is_within_word = before.ends_with(|last: char| last.is_alphanumeric());
    if is_within_word || before.trim_end_matches(['_', '-', '.', ' ']).ends_with("local") {
        return None;
    }
    let rest = rest.strip_prefix(['_', '-', '.', '=', ' ']).unwrap_or(rest);
    let (digits, after) = rest.split_at_checked(rest.bytes().take_while(u8::is_ascii_digit).count())?;
    let goes_on = after.starts_with(char::is_alphabetic) && !after.starts_with("of");
    if goes_on || digits.len() > LONGEST_RANK { None } else { digits.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_after_the_word_is_a_rank() {
        for path in
            ["rank4_81681_results.db", "x/rank_4/1.db", "RANK-04.json", "rank=4/p.csv", "node0/rank.4/rank4_results.db"]
        {
            assert_eq!(rank_in_names(path), Some(4), "{path}");
        }
        assert_eq!(rank_in_names("rank0of8.json"), Some(0));
    }

    #[test]
    fn other_numbers_are_no_ranks() {
        for path in [
            "trace_4.rpd",
            "node0/4100_results.db",
            "r4.db",
            "frank4.db",
            "local_rank4.db",
            "localrank4.db",
            "rank4x.db",
            "rank1234567.db",
            "rank_results_4.db",
            "rank",
            "rank16/rank4.db",
        ] {
            assert_eq!(rank_in_names(path), None, "{path}");
        }
    }
}
