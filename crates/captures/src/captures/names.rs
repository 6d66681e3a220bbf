//! Names of the files of a capture; those of rocm-perf-lab and kerncap, which read each other's.

/// Names and sizes of the dispatch.
pub const DISPATCH: &str = "dispatch.json";
/// The bytes of its kernel arguments.
pub const KERNARG: &str = "kernarg.bin";
/// The code object of its kernel.
pub const HSACO: &str = "kernel.hsaco";
/// Where its memory was.
pub const REGIONS: &str = "memory_regions.json";
/// The directory of what was in it.
pub const MEMORY: &str = "memory";
/// Variables of code objects; of kerncap and us.
pub const VARIABLES: &str = "module_variables.json";
/// The directory of their bytes.
pub(super) const VARIABLE_DIRECTORY: &str = "module_variables";
/// Metadata of a capture, with the program that wrote it; of kerncap and us.
pub const METADATA: &str = "metadata.json";

/// The file of a region of a base, relative to the capture. With zstd the name ends in `.zst`.
pub(crate) fn region_file(base: u64) -> String {
    format!("{MEMORY}/region_{base:x}.bin")
}

/// The file of a variable, relative to the capture, as kerncap names it: 16 digits of the hash of the code object, and the name
/// without characters that paths have. Two names may lead to one file, so a number goes between them.
pub fn variable_file(executable_sha256: &str, number: usize, name: &str) -> String {
    let hash: String = executable_sha256.chars().take(16).collect();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-' | '$');
    let name: String = name.chars().take(100).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    format!("{VARIABLE_DIRECTORY}/{hash}_{number}_{name}.bin")
}
