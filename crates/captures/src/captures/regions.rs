//! `memory_regions.json`.

use serde::{Deserialize, Serialize};

use super::blob::Blob;
use super::names::region_file;

/// Maximum plausible size of a region: 1 TiB, as in kerncap.
const MAX_REGION: u64 = 1 << 40;
/// Addresses of processes have 57 bits at most.
const ADDRESS_END: u64 = 1 << 57;

/// All regions of a capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regions {
    pub regions: Vec<Region>,
}

/// Memory that was allocated when the dispatch was captured. The keys are from rocm-perf-lab; `blob` and `error` were added by wavesieve.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    pub base: u64,
    pub size: u64,
    /// Whether it is from a pool.
    #[serde(default)]
    pub is_pool: bool,
    /// Whether it is mapped virtual memory.
    #[serde(default)]
    pub is_vmem: bool,
    /// Whether the arguments were in it.
    #[serde(default)]
    pub contains_kernarg: bool,
    #[serde(default)]
    pub handle: u64,
    #[serde(default)]
    pub access: u64,
    /// Storage of its bytes; other programs store them unchanged, in `memory/region_BASE.bin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Blob>,
    /// Reason why it has no bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Region {
    /// The address after its last byte.
    pub fn end(&self) -> u64 {
        self.base.saturating_add(self.size)
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: u64) -> bool {
        (self.base..self.end()).contains(&address)
    }

    /// Its file, relative to the capture.
    pub fn file(&self) -> String {
        self.blob.as_ref().map_or_else(|| region_file(self.base), |blob| blob.file.clone())
    }
}

impl Regions {
    /// Sorts the regions by address, and removes empty regions.
    pub(super) fn sort(&mut self) {
        self.regions.retain(|region| region.size > 0);
        self.regions.sort_by_key(|region| (region.base, region.size));
    }

    /// The contradiction in regions that are in order, if there is one.
    pub(super) fn impossibility(&self) -> Option<String> {
        let absurd = |region: &&Region| {
            let end = region.base.checked_add(region.size);
            region.base == 0 || region.size > MAX_REGION || end.is_none_or(|end| end > ADDRESS_END)
        };
        if let Some(region) = self.regions.iter().find(absurd) {
            return Some(format!("the region at {:#x} cannot have {} bytes", region.base, region.size));
        }
        let neighbors = self.regions.iter().zip(self.regions.iter().skip(1));
        let mut overlapping = neighbors.filter(|(first, second)| first.end() > second.base);
        overlapping.next().map(|(first, second)| {
            format!(
                "the regions at {:#x} ({} bytes) and {:#x} ({} bytes) overlap",
                first.base, first.size, second.base, second.size
            )
        })
    }
}
