//! Results of comparisons.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::tolerance::Tolerance;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub expected: PathBuf,
    /// Whether nothing differs by more than it may.
    pub equal: bool,
    /// In the order of addresses.
    pub regions: Vec<RegionComparison>,
    /// In the order in which they were restored.
    pub variables: Vec<VariableComparison>,
    /// Regions and variables that only one side has, or that differ in size, as sentences.
    pub not_compared: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegionComparison {
    pub base: u64,
    pub size: u64,
    /// How elements were compared; nothing means byte for byte.
    pub tolerance: Option<Tolerance>,
    /// Elements, or bytes, that differ in any way.
    pub different: u64,
    /// Those of them that differ by more than they may.
    pub mismatched: u64,
    /// The largest difference of elements, where it is a number.
    pub max_absolute: Option<f64>,
    /// The same by what was expected.
    pub max_relative: Option<f64>,
    /// The first.
    pub mismatches: Vec<Mismatch>,
}

/// A variable of the code object; its base is where it was captured, or 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariableComparison {
    pub name: String,
    #[serde(flatten)]
    pub bytes: RegionComparison,
}

impl RegionComparison {
    /// Takes a region of which no bytes were compared yet.
    pub(super) fn new(base: u64, size: u64, tolerance: Option<Tolerance>) -> Self {
        Self {
            base,
            size,
            tolerance,
            different: 0,
            mismatched: 0,
            max_absolute: None,
            max_relative: None,
            mismatches: Vec::new(),
        }
    }
}

impl Comparison {
    /// Whether all was compared, and nothing differs by more than it may.
    pub(in super::super) fn is_whole(&self) -> bool {
        self.equal && self.not_compared.is_empty()
    }
}

/// An element, or word, that is not what it should be. Values are texts, since JSON has no NaN.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// From the base of the region.
    pub offset: u64,
    pub expected: String,
    pub found: String,
}
