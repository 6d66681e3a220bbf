//! No panic leaves the library.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `act`, and returns `otherwise` if it panics.
pub(crate) fn caught<T>(otherwise: T, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    #[allow(clippy::panic)]
    fn panics_become_the_other_value() {
        assert_eq!(caught(1, || 2), 2);
        assert_eq!(caught(1, || panic!("on purpose")), 1);
    }
}
