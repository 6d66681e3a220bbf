//! Names of sheets.

use std::collections::BTreeSet;

/// Maximum number of characters of a name.
const MAX_CHARACTERS: usize = 31;

/// The names in use, as spreadsheets compare them.
#[derive(Default)]
pub(crate) struct SheetNames {
    taken: BTreeSet<String>,
}

impl SheetNames {
    /// Starts with names that are already in use.
    pub fn without(names: impl IntoIterator<Item = String>) -> Self {
        Self { taken: names.into_iter().map(|name| name.to_lowercase()).collect() }
    }

    /// The name of a table, with its section if the name is in use, and a number if that is in use too.
    pub fn next(&mut self, section: &str, name: &str) -> String {
        let candidates = [fitting(name, ""), fitting(&format!("{section}.{name}"), "")];
        let numbered = (2..).map(|number| fitting(name, &format!("_{number}")));
        let free = candidates.into_iter().chain(numbered).find(|name| self.taken.insert(name.to_lowercase()));
        free.unwrap_or_default()
    }
}

/// The name without characters that names of sheets cannot have, cut so that the ending fits.
fn fitting(name: &str, ending: &str) -> String {
    let most = MAX_CHARACTERS.saturating_sub(ending.chars().count());
    let allowed = name.chars().map(|character| if "[]:*?/\\'".contains(character) { '_' } else { character });
    let mut fitting: String = allowed.take(most).collect();
    fitting.push_str(ending);
    fitting
}

#[cfg(test)]
mod tests {
    use super::SheetNames;

    #[test]
    fn names_are_short_and_differ() {
        let mut names = SheetNames::without(["kernel_summary".to_owned(), "short_kernel_histogram".to_owned()]);
        for (section, name, expected) in [
            ("time", "time_breakdown", "time_breakdown"),
            ("hotspots", "kernel_summary", "hotspots.kernel_summary"),
            ("hotspots", "Kernel_Summary", "Kernel_Summary_2"),
            ("short_kernels", "short_kernel_histogram", "short_kernels.short_kernel_hist"),
            ("a", "what/is [this]?", "what_is _this__"),
            ("a", "a_name_that_is_longer_than_any_sheet", "a_name_that_is_longer_than_any_"),
        ] {
            assert_eq!(names.next(section, name), expected);
        }
    }
}
