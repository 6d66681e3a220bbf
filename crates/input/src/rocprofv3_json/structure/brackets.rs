//! The open brackets at a position in a text.

/// Brackets deeper than this are only counted.
const REMEMBERED: usize = 1 << 16;
/// Maximum number of open brackets that are searched for the partner of a bracket.
const SEARCHED: usize = 256;

/// Kind of a bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bracket {
    /// `{` and `}`.
    Object,
    /// `[` and `]`.
    Array,
}

/// A stack of open brackets whose memory is bounded.
#[derive(Debug, Default)]
pub struct Brackets {
    open: Vec<Bracket>,
    deeper: usize,
}

impl Brackets {
    /// Number of open brackets.
    pub fn depth(&self) -> usize {
        self.open.len().saturating_add(self.deeper)
    }

    /// Opens a bracket.
    pub fn push(&mut self, bracket: Bracket) {
        if self.open.len() < REMEMBERED {
            self.open.push(bracket);
        } else {
            self.deeper = self.deeper.saturating_add(1);
        }
    }

    /// Closes the nearest open bracket of this kind, but none below the position `outermost`. Returns the number of other brackets that
    /// were closed with it; `None` if no such bracket is open and nothing was closed.
    pub fn pop(&mut self, bracket: Bracket, outermost: usize) -> Option<usize> {
        if self.deeper > 0 {
            self.deeper -= 1;
            return Some(0);
        }
        let candidates = self.open.get(outermost..)?;
        let others = candidates.iter().rev().take(SEARCHED).position(|open| *open == bracket)?;
        self.open.truncate(self.open.len().saturating_sub(others + 1));
        Some(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partner_is_found_behind_unclosed_ones() {
        let mut brackets = Brackets::default();
        for bracket in [Bracket::Object, Bracket::Array, Bracket::Object, Bracket::Object] {
            brackets.push(bracket);
        }
        assert_eq!(brackets.pop(Bracket::Array, 2), None);
        assert_eq!(brackets.pop(Bracket::Array, 1), Some(2));
        assert_eq!(brackets.depth(), 1);
        assert_eq!(brackets.pop(Bracket::Object, 0), Some(0));
        assert_eq!(brackets.pop(Bracket::Object, 0), None);
    }

    #[test]
    fn great_depth_is_counted() {
        let mut brackets = Brackets::default();
        for _ in 0..REMEMBERED + 10 {
            brackets.push(Bracket::Array);
        }
        assert_eq!(brackets.depth(), REMEMBERED + 10);
        for _ in 0..REMEMBERED + 10 {
            assert_eq!(brackets.pop(Bracket::Array, 0), Some(0));
        }
        assert_eq!(brackets.depth(), 0);
    }
}
