//! `dispatch.json`.

use serde::{Deserialize, Serialize};

/// The most work-items of a group, by far: the packet has 16 bits for each size.
const MAX_BLOCK: u32 = 65_535;
/// The most bytes of arguments that are taken for true; the hardware's limit is 4096 by convention.
const MAX_KERNARG: u64 = 1 << 20;

/// A dispatch and its kernel. The keys are those of rocm-perf-lab; what has a default came later, or is ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The kernel's symbol, with `.kd` or without.
    pub mangled_name: String,
    #[serde(default)]
    pub demangled_name: String,
    /// The agent's name, such as `gfx942`.
    #[serde(default)]
    pub agent_name: String,
    /// Its instruction set, such as `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`.
    #[serde(default)]
    pub isa_name: String,
    #[serde(default)]
    pub wavefront_size: u32,
    /// The kernel's handle when it was captured.
    #[serde(default)]
    pub kernel_object: u64,
    /// Work-items.
    pub grid: [u32; 3],
    /// Work-items of a group.
    pub block: [u32; 3],
    /// LDS of a group, with what the launch added.
    #[serde(default)]
    pub group_segment_size: u32,
    /// Scratch of a work-item.
    #[serde(default)]
    pub private_segment_size: u32,
    /// Bytes of the arguments.
    #[serde(default)]
    pub kernarg_size: u64,
    /// How many dispatches of the kernel went before it.
    #[serde(default)]
    pub dispatch_index: u64,
    /// LDS of a group by the kernel itself; the rest is dynamic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_group_segment_size: Option<u32>,
    /// Where the arguments were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernarg_address: Option<u64>,
}

impl Dispatch {
    /// The kernel's symbol without `.kd`.
    pub fn kernel(&self) -> &str {
        self.mangled_name.strip_suffix(".kd").unwrap_or(&self.mangled_name)
    }

    /// The name to show: demangled, without what compilers add in brackets, or else the symbol.
    pub fn shown_name(&self) -> &str {
        let name = self.demangled_name.split(" [").next().unwrap_or_default();
        if name.is_empty() { self.kernel() } else { name }
    }

    /// What cannot be true of it.
    pub fn impossibility(&self) -> Option<String> {
        if self.kernel().is_empty() {
            return Some("`mangled_name` is empty".to_owned());
        }
        if self.grid.contains(&0) || self.block.contains(&0) {
            return Some(format!("`grid` {:?} or `block` {:?} has a 0", self.grid, self.block));
        }
        if self.block.iter().any(|size| *size > MAX_BLOCK) {
            return Some(format!("`block` {:?} is more than a packet holds", self.block));
        }
        if self.kernarg_size > MAX_KERNARG {
            return Some(format!("`kernarg_size` {} is more than 1 MiB", self.kernarg_size));
        }
        None
    }
}
