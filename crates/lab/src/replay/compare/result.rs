//! Results of comparisons.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::tolerance::Tolerance;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub expected: PathBuf,
    /// Whether all differences are within the tolerance.
    pub equal: bool,
    /// Regions in the order of addresses.
    pub regions: Vec<RegionComparison>,
    /// Variables in the order in which they were restored.
    pub variables: Vec<VariableComparison>,
    /// Sentences about regions and variables that only one side has, or whose sizes differ.
    pub not_compared: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegionComparison {
    pub base: u64,
    pub size: u64,
    /// The tolerance for elements; `None` for a comparison byte for byte.
    pub tolerance: Option<Tolerance>,
    /// Elements, or bytes, that differ in any way.
    pub different: u64,
    /// Differing elements beyond the tolerance.
    pub mismatched: u64,
    /// The largest difference of elements, if it is a number.
    pub max_absolute: Option<f64>,
    /// The largest difference relative to the expected value.
    pub max_relative: Option<f64>,
    /// The first mismatches.
    pub mismatches: Vec<Mismatch>,
}

/// A variable of the code object; its base is the captured address, or 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariableComparison {
    pub name: String,
    #[serde(flatten)]
    pub bytes: RegionComparison,
}

impl RegionComparison {
    /// Starts the comparison of a region.
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
    /// Returns whether everything was compared, and all differences are within the tolerance.
    pub(in super::super) fn is_whole(&self) -> bool {
        self.equal && self.not_compared.is_empty()
    }
}

/// An element, or word, that differs from the expected one. Values are texts, because JSON has no NaN.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// Offset from the base of the region.
    pub offset: u64,
    pub expected: String,
    pub found: String,
}
