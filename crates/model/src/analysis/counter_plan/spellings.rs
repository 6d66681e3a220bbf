//! Spellings of a command in the releases of a profiler: `[[spelling]]` and `[[tool.spelling]]` of the tables of flags.

use serde::Deserialize;

use super::rocm_version::{Releases, RocmVersion};

/// Words that some releases need in place of other words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spelling {
    /// Words that are replaced; all of them must be given. An entry may be several consecutive words. If empty, the
    /// words are added.
    words: Vec<String>,
    becomes: Vec<String>,
    /// Nothing changes if one of these is given.
    #[serde(default)]
    unless: Vec<String>,
    since: Option<RocmVersion>,
    until: Option<RocmVersion>,
}

impl Spelling {
    /// Its effect, as a sentence in Markdown.
    pub(super) fn sentence(&self) -> String {
        let code = |words: &[String], separator: &str| {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<String>>().join(separator)
        };
        let releases = Releases { since: self.since, until: self.until };
        let becomes = format!("`{}`", self.becomes.join(" "));
        match self.words.as_slice() {
            [] => format!("Commands have {becomes} {releases}."),
            words => format!("Commands have {becomes} in place of {} {releases}.", code(words, " with ")),
        }
    }

    /// The words between the program, or its mode, and `--`, as a release spells them.
    pub(super) fn apply(&self, own: Vec<String>, version: RocmVersion) -> Vec<String> {
        let releases = Releases { since: self.since, until: self.until };
        if !releases.has(Some(version)) || self.unless.iter().any(|flag| own.contains(flag)) {
            return own;
        }
        let mut rest = own.clone();
        let mut first = None;
        for words in &self.words {
            let words: Vec<&str> = words.split(' ').collect();
            let Some(at) = rest.windows(words.len()).position(|window| window == words) else { return own };
            rest.drain(at..at + words.len());
            first = Some(first.map_or(at, |first: usize| first.min(at)));
        }
        let at = first.unwrap_or(0).min(rest.len());
        rest.splice(at..at, self.becomes.iter().cloned());
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_replaced_only_in_their_releases() {
        let spelling = |words: &[&str], becomes: &[&str]| Spelling {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            becomes: becomes.iter().map(|word| (*word).to_owned()).collect(),
            unless: vec!["--same".to_owned()],
            since: Some(RocmVersion::new(10, 1)),
            until: None,
        };
        let apply = |spelling: &Spelling, line: &str, minor: u32| {
            let own = line.split_whitespace().map(str::to_owned).collect();
            spelling.apply(own, RocmVersion::new(10, minor)).join(" ")
        };
        let both = spelling(&["--trace", "--profile"], &["--output-format", "rocpd"]);
        assert_eq!(apply(&both, "--cpus 1 --trace --profile -o x", 1), "--cpus 1 --output-format rocpd -o x");
        assert_eq!(apply(&both, "--trace --profile", 0), "--trace --profile");
        assert_eq!(apply(&both, "--trace", 1), "--trace");
        assert_eq!(apply(&both, "--trace --profile --same", 1), "--trace --profile --same");
        let values = spelling(&["--output-format rocpd"], &["--output-format", "json"]);
        assert_eq!(apply(&values, "-d a --output-format rocpd", 1), "-d a --output-format json");
        assert_eq!(apply(&values, "--output-format csv rocpd", 1), "--output-format csv rocpd");
        assert_eq!(apply(&spelling(&[], &["--overwrite"]), "--name a", 1), "--overwrite --name a");
    }
}
