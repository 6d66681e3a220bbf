//! Wanted values of a section's records.

/// An integer of a record.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Where it may stand, in order of preference: keys joined by `.`. A `?` instead of the last dot stands behind a
    /// member that counts as empty when it is not an object; a `!` at the end allows a bare number only, not an object with
    /// a handle.
    pub paths: &'static [&'static str],
    /// Whether 0 stands for none.
    pub zero_is_none: bool,
    /// Whether the number of elements of an array is wanted instead.
    pub counts: bool,
}

/// Reads one record at the start of a text by the general parser: fills in the wanted values and gives its length;
/// `None` if it is not understood, or not plain UTF-8.
pub type General<'a> = &'a (dyn Fn(&[u8], &mut [Option<i64>]) -> Option<usize> + Sync);

/// The wanted values of a section's records, and the general parser that decides in doubt.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    /// Columns.
    pub wanted: &'a [Wanted],
    /// Members that the general parser takes as objects, or null, only.
    pub objects: &'a [&'a str],
    /// Columns of start and end, and whether records are kept whose start and end differ, or those where they are equal.
    pub times: Option<(usize, usize, bool)>,
    /// The general parser.
    pub general: General<'a>,
}

impl Shape<'_> {
    /// Whether a record with these values is kept. One without times has a length.
    #[inline]
    pub fn keeps(&self, values: &[Option<i64>]) -> bool {
        let Some((start, end, with_length)) = self.times else { return true };
        let time = |column: usize| values.get(column).copied().flatten();
        let has_length = match (time(start), time(end)) {
            (Some(start), Some(end)) => start != end,
            _ => true,
        };
        has_length == with_length
    }
}
