//! Releases of ROCm, and ranges of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Highest number in a release.
const HIGHEST: u32 = 999;

/// A release of ROCm by its first two numbers: options do not change between patches of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RocmVersion {
    major: u32,
    minor: u32,
}

/// A text that does not name a release.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a release of ROCm; give it as in 7.2 or 10.0.1")]
pub struct RocmVersionError(String);

impl RocmVersion {
    /// The release with these numbers.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The release in a text such as `7.2.1`, `ROCm 7.2`, `rocm-6.4.1` or `7.0.0-38`; `None` if there is none.
    pub fn recorded(text: &str) -> Option<Self> {
        let start = text.find(|character: char| character.is_ascii_digit())?;
        text.get(start..)?.parse().ok()
    }
}

impl FromStr for RocmVersion {
    type Err = RocmVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || RocmVersionError(text.to_owned());
        let is_part = |character: char| character.is_ascii_digit() || character == '.';
        let trimmed = text.trim();
        let end = trimmed.find(|character| !is_part(character)).unwrap_or(trimmed.len());
        let (numbers, rest) = trimmed.split_at(end);
        // A build follows the numbers of some releases: `7.0.0-38`.
        if !(rest.is_empty() || rest.starts_with(['-', '+', '~', ' '])) {
            return Err(refused());
        }
        let parts: Vec<u32> = numbers.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| refused())?;
        match parts.as_slice() {
            [major, others @ ..] if *major > 0 && others.len() <= 3 && parts.iter().all(|part| *part <= HIGHEST) => {
                Ok(Self { major: *major, minor: others.first().copied().unwrap_or(0) })
            }
            _ => Err(refused()),
        }
    }
}

impl TryFrom<String> for RocmVersion {
    type Error = RocmVersionError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RocmVersion> for String {
    fn from(version: RocmVersion) -> Self {
        version.to_string()
    }
}

impl fmt::Display for RocmVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// A range of releases, from `since` up to but without `until`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Releases {
    pub since: Option<RocmVersion>,
    pub until: Option<RocmVersion>,
}

impl Releases {
    /// All releases from one on.
    pub fn since(version: RocmVersion) -> Self {
        Self { since: Some(version), until: None }
    }

    /// Whether a release is among them; an unknown release may be any of them.
    pub fn has(self, version: Option<RocmVersion>) -> bool {
        version.is_none_or(|version| {
            self.since.is_none_or(|since| version >= since) && self.until.is_none_or(|until| version < until)
        })
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.since, self.until) {
            (None, None) => write!(formatter, "in all releases"),
            (Some(since), None) => write!(formatter, "since ROCm {since}"),
            (None, Some(until)) => write!(formatter, "before ROCm {until}"),
            (Some(since), Some(until)) => write!(formatter, "from ROCm {since} to before {until}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_and_compared_by_number() {
        for (text, shown) in [
            ("7.2", "7.2"),
            ("7.2.1", "7.2"),
            (" 10.0.1 ", "10.0"),
            ("10", "10.0"),
            ("7.0.0-38", "7.0"),
            ("7.13.0~preview", "7.13"),
        ] {
            assert_eq!(text.parse::<RocmVersion>().map(|version| version.to_string()), Ok(shown.to_owned()), "{text}");
        }
        for text in ["", "rocm", "0.1", "7.x", "7..2", "-7.2", "7.2a", "7.2.1.1.1", "99999.1"] {
            assert!(text.parse::<RocmVersion>().is_err(), "{text}");
        }
        for (text, version) in [("rocm-6.4.1", Some((6, 4))), ("ROCm 7.2", Some((7, 2))), ("unknown", None)] {
            let version = version.map(|(major, minor)| RocmVersion::new(major, minor));
            assert_eq!(RocmVersion::recorded(text), version, "{text}");
        }
        assert!(RocmVersion::new(10, 0) > RocmVersion::new(7, 14) && RocmVersion::new(7, 14) > RocmVersion::new(7, 2));
    }

    #[test]
    fn ranges_end_before_the_release_without_it() {
        let releases = Releases { since: Some(RocmVersion::new(6, 3)), until: Some(RocmVersion::new(7, 14)) };
        let has = |major, minor| releases.has(Some(RocmVersion::new(major, minor)));
        assert_eq!([has(6, 2), has(6, 3), has(7, 13), has(7, 14), has(10, 0)], [false, true, true, false, false]);
        assert!(releases.has(None) && Releases::default().has(Some(RocmVersion::new(1, 0))));
    }
}
