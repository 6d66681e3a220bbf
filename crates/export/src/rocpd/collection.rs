//! Whether databases can be copied into one: each process once, and one major version of the schema.

use std::collections::BTreeMap;

use wavesieve_input::{PartitionFacts, RocpdFile};

/// The version that AMD's tools write without one.
const UNVERSIONED: &str = "3";

/// Checks that no capture occurs twice and that versions fit together. Returns a note for the user.
///
/// # Errors
/// A message that says what to do instead.
pub fn check_inputs(files: &[RocpdFile]) -> Result<Option<String>, String> {
    let mut seen: BTreeMap<&str, (&RocpdFile, &PartitionFacts)> = BTreeMap::new();
    for file in files {
        for partition in &file.partitions {
            for key in [partition.suffix.as_str(), partition.guid.as_str()] {
                if let Some((other, _)) = seen.get(key).filter(|(other, _)| !std::ptr::eq(*other, file)) {
                    return Err(twice(&partition.guid, other, file));
                }
                seen.insert(key, (file, partition));
            }
        }
    }
    let all = || files.iter().flat_map(|file| file.partitions.iter().map(move |partition| (file, partition)));
    let mut versions: BTreeMap<&str, &RocpdFile> = BTreeMap::new();
    for (file, partition) in all() {
        versions.entry(partition.version.as_deref().unwrap_or(UNVERSIONED)).or_insert(file);
    }
    let mut majors: BTreeMap<&str, (&str, &RocpdFile)> = BTreeMap::new();
    for (version, file) in &versions {
        majors.entry(version.split('.').next().unwrap_or(version)).or_insert((version, file));
    }
    let mut of_majors = majors.values();
    if let (Some((one, first)), Some((other, second))) = (of_majors.next(), of_majors.next()) {
        return Err(format!(
            "{} has schema version {one} and {} has {other}, whose tables differ; use one output for each",
            first.shown(),
            second.shown()
        ));
    }
    let words: Vec<&str> = versions.keys().copied().collect();
    Ok((words.len() > 1).then(|| {
        format!(
            "schema versions {} are joined: in views, a column that a version lacks has its default or is null",
            words.join(", ")
        )
    }))
}

/// The message about a guid that two files have.
fn twice(guid: &str, one: &RocpdFile, other: &RocpdFile) -> String {
    format!("{} and {} both contain guid {guid}; remove one of them", one.shown(), other.shown())
}

/// The numbers of a version, to order versions by.
pub(super) fn version_key(version: Option<&str>) -> Vec<u64> {
    version.unwrap_or(UNVERSIONED).split('.').map(|number| number.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        assert!(version_key(None) < version_key(Some("3.0.0")));
        assert!(version_key(Some("3.0.9")) < version_key(Some("3.0.10")));
    }
}
