//! Compares variables of the code object.

use super::regions::Differences;
use super::result::{RegionComparison, VariableComparison};
use super::tolerance::Tolerances;
use wavesieve_captures::captures::Variable;

/// Prefix of the variable that compilers add to identify a source file. No kernel reads it.
pub(in super::super) const FILE_NUMBER: &str = "__hip_cuid_";

/// A variable after the last dispatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct FoundVariable {
    /// The SHA-256 of the captured code object.
    pub executable_sha256: String,
    pub name: String,
    /// The address at which it was captured.
    pub address: Option<u64>,
    /// Whether the loaded code has it. A variable that it does not have keeps its captured value.
    pub is_loaded: bool,
    pub bytes: Vec<u8>,
}

/// Compares variables by name. Variables of other code objects of the program do not belong to this replay.
pub(super) fn compare_variables(
    expected: &[(Variable, Vec<u8>)],
    found: &[FoundVariable],
    tolerances: &Tolerances,
    not_compared: &mut Vec<String>,
) -> Vec<VariableComparison> {
    let mut compared = Vec::new();
    for variable in found {
        let name = &variable.name;
        let of_name = || expected.iter().filter(|(other, _)| other.name == *name);
        let is_same_code = |other: &Variable| other.executable_sha256.eq_ignore_ascii_case(&variable.executable_sha256);
        let Some((_, bytes)) = of_name().find(|(other, _)| is_same_code(other)).or_else(|| of_name().next()) else {
            not_compared.push(format!("the variable {name} is not among what is expected"));
            continue;
        };
        if bytes.len() != variable.bytes.len() {
            let (own, other) = (variable.bytes.len(), bytes.len());
            not_compared.push(format!("the variable {name} has {own} bytes, and {other} are expected"));
            continue;
        }
        let (base, size) = (variable.address.unwrap_or(0), bytes.len() as u64);
        let tolerance = tolerances.of_region(base, size);
        let mut result = RegionComparison::new(base, size, tolerance);
        Differences::find(bytes, &variable.bytes, 0, tolerance).add_to(&mut result);
        compared.push(VariableComparison { name: name.clone(), bytes: result });
    }
    let is_own = |variable: &Variable| {
        let sha256 = &variable.executable_sha256;
        sha256.is_empty() || found.first().is_none_or(|own| own.executable_sha256.eq_ignore_ascii_case(sha256))
    };
    for (variable, _) in expected {
        let is_found = found.iter().any(|own| own.name == variable.name);
        if !is_found && is_own(variable) && !variable.name.starts_with(FILE_NUMBER) {
            not_compared.push(format!("the variable {} is not in the capture", variable.name));
        }
    }
    compared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, bytes: &[u8]) -> FoundVariable {
        let (executable_sha256, bytes) = ("ab".to_owned(), bytes.to_vec());
        FoundVariable { executable_sha256, name: name.to_owned(), address: Some(0x1000), is_loaded: true, bytes }
    }

    fn expected(name: &str, sha256: &str, bytes: &[u8]) -> (Variable, Vec<u8>) {
        let (executable_sha256, name, blob) = (sha256.to_owned(), name.to_owned(), String::new());
        let size = bytes.len() as u64;
        (Variable { executable_sha256, name, size, blob, xxh3: None, address: None }, bytes.to_vec())
    }

    #[test]
    fn each_is_compared_or_named() {
        let mut not_compared = Vec::new();
        let all = [
            expected("same", "ab", &[1, 0, 0, 0]),
            expected("other", "", &[2, 0, 0, 0]),
            expected("short", "ab", &[2]),
            expected("gone", "AB", &[2]),
            expected("foreign", "cd", &[2]),
            expected("__hip_cuid_1", "ab", &[2]),
        ];
        let own =
            [found("same", &[1, 0, 0, 0]), found("other", &[3, 0, 0, 0]), found("short", &[1, 2]), found("new", &[1])];
        let compared = compare_variables(&all, &own, &Tolerances::default(), &mut not_compared);
        let found: Vec<_> = compared.iter().map(|one| (one.name.as_str(), one.bytes.mismatched)).collect();
        assert_eq!(found, [("same", 0), ("other", 1)]);
        assert_eq!(
            not_compared,
            [
                "the variable short has 2 bytes, and 1 are expected",
                "the variable new is not among what is expected",
                "the variable gone is not in the capture"
            ]
        );
        let within: Tolerances = "i32:0:1".parse().unwrap();
        let compared = compare_variables(&all, &own, &within, &mut Vec::new());
        assert!(compared.iter().all(|one| one.bytes.mismatched == 0), "{compared:?}");
    }
}
