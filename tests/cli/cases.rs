//! Long lists of cases: a run takes some of them, and `tests/run.sh deep` takes all.

/// Is set where every case is wanted.
pub const EVERY_CASE: &str = "WAVESIEVE_EVERY_CASE";

/// The first of many cases, and every `nth` after it.
pub fn every<T>(nth: usize, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let is_wanted = std::env::var_os(EVERY_CASE).is_some();
    cases.into_iter().step_by(if is_wanted { 1 } else { nth })
}
