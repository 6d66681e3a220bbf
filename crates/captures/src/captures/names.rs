//! Names of the files of a capture, as in rocm-perf-lab and kerncap, which read each other's captures.

/// Names and sizes of the dispatch.
pub const DISPATCH: &str = "dispatch.json";
/// The bytes of its kernel arguments.
pub const KERNARG: &str = "kernarg.bin";
/// The code object of its kernel.
pub const HSACO: &str = "kernel.hsaco";
/// The regions of its memory.
pub const REGIONS: &str = "memory_regions.json";
/// The directory with the bytes of its memory.
pub const MEMORY: &str = "memory";
/// Variables of code objects; in captures by kerncap and wavesieve.
pub const VARIABLES: &str = "module_variables.json";
/// The directory of their bytes.
pub(super) const VARIABLE_DIRECTORY: &str = "module_variables";
/// Metadata of a capture, with the program that wrote it; in captures by kerncap and wavesieve.
pub const METADATA: &str = "metadata.json";

/// The file of the region at a base address, relative to the capture. With zstd the name ends in `.zst`.
pub(crate) fn region_file(base: u64) -> String {
    format!("{MEMORY}/region_{base:x}.bin")
}

/// The file of a variable, relative to the capture, as kerncap names it: 16 digits of the hash of the code object, and the name without
/// special characters. Two names may then be the same, so a number goes between hash and name.
pub fn variable_file(executable_sha256: &str, number: usize, name: &str) -> String {
    let hash: String = executable_sha256.chars().take(16).collect();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-' | '$');
    let name: String = name.chars().take(100).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    format!("{VARIABLE_DIRECTORY}/{hash}_{number}_{name}.bin")
}
