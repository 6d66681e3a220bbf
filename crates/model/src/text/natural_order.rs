//! Order of paths in which numbers count by value: `rank2` comes before `rank10`.

/// A piece of a path: text, or a run of digits with its length as tie-breaker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    /// Digits without leading zeros, compared by length, then by text; then the number of leading zeros.
    Number(usize, String, usize),
    /// Anything else.
    Text(String),
}

/// A key that sorts text in natural order.
pub fn natural_key(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
        let (head, tail) = rest.split_at(end);
        if digits {
            let significant = head.trim_start_matches('0');
            pieces.push(Piece::Number(significant.len(), significant.to_owned(), head.len()));
        } else {
            pieces.push(Piece::Text(head.to_owned()));
        }
        rest = tail;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::natural_key;

    #[test]
    fn numbers_count_by_value() {
        assert!(natural_key("rank2/x") < natural_key("rank10/x"));
        assert!(natural_key("a/rank02") < natural_key("a/rank3"));
        assert_ne!(natural_key("rank02"), natural_key("rank2"));
    }
}
