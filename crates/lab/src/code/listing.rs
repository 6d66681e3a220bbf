//! Code objects with the occupancy and source locations of their kernels.

use serde::Serialize;

use super::comparison::Comparison;
use super::sources::{KernelPlace, Sources};
use wavesieve_source::objects::{CodeObject, KernelCode, launch_refusal, occupancy};

/// The kernels to list.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Texts to look for in kernel names; empty for all kernels.
    pub kernels: Vec<String>,
    /// Work-items of a workgroup; by default the maximum that a kernel may be launched with.
    pub work_items: Option<u32>,
    /// LDS that a launch adds.
    pub dynamic_lds_bytes: u64,
}

/// Everything that is shown.
#[derive(Debug, Serialize)]
pub struct Listing {
    pub schema_version: &'static str,
    pub files: Vec<ListedFile>,
    /// Differences from other code objects, if there are others to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
}

#[derive(Debug, Serialize)]
pub struct ListedFile {
    pub file: String,
    pub code_objects: Vec<ListedObject>,
}

#[derive(Debug, Serialize)]
pub struct ListedObject {
    pub target: String,
    pub metadata_version: String,
    pub bytes: u64,
    /// Kernels in the code object, listed or not.
    pub kernel_count: usize,
    pub kernels: Vec<Listed>,
}

/// A kernel.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// The name in C++ spelling; the name itself if it is not mangled.
    pub demangled: String,
    #[serde(flatten)]
    pub kernel: KernelCode,
    /// `None` if `occupancy_unknown` has a reason.
    pub occupancy: Option<Fits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy_unknown: Option<String>,
    /// Definitions that the kernel may come from, if source files were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Vec<KernelPlace>>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Fits {
    /// Work-items of a workgroup.
    pub work_items: u32,
    pub waves_per_simd: f64,
    /// Share of the wavefront slots in percent.
    pub pct: f64,
    pub limited_by: &'static str,
    /// Registers or bytes to save of the limiting resource so that one more workgroup fits, and wavefronts per SIMD
    /// unit without them.
    pub saved_for_more: Option<i64>,
    pub waves_per_simd_then: Option<f64>,
}

impl Wanted {
    pub(super) fn has(&self, kernel: &KernelCode) -> bool {
        self.kernels.is_empty()
            || self.kernels.iter().any(|text| kernel.name.contains(text))
            || self.kernels.iter().any(|text| kernel.demangled().contains(text))
    }

    pub(super) fn work_items(&self, kernel: &KernelCode) -> u32 {
        let required = kernel.required_work_items.map(|sizes| sizes.into_iter().fold(1_u32, u32::saturating_mul));
        self.work_items.or(required).unwrap_or(kernel.max_work_items)
    }
}

/// Why a kernel cannot be launched with this many work-items in a workgroup; `None` if it can.
pub(super) fn impossible_launch(kernel: &KernelCode, work_items: u32) -> Option<String> {
    if let Some(sizes) = kernel.required_work_items
        && sizes.into_iter().fold(1_u32, u32::saturating_mul) != work_items
    {
        let [x, y, z] = sizes;
        return Some(format!("it only runs in workgroups of {x}x{y}x{z}, not of {work_items} work-items"));
    }
    launch_refusal(kernel, kernel.required_work_items.unwrap_or([work_items, 1, 1]))
}

/// The listing of a file.
pub fn listed(file: String, objects: Vec<CodeObject>, wanted: &Wanted, sources: &Sources) -> ListedFile {
    let code_objects = objects
        .into_iter()
        .map(|object| ListedObject {
            kernel_count: object.kernels.len(),
            kernels: object
                .kernels
                .into_iter()
                .filter(|kernel| wanted.has(kernel))
                .map(|kernel| listed_kernel(&object.target, kernel, wanted, sources))
                .collect(),
            target: object.target,
            metadata_version: object.metadata_version,
            bytes: object.bytes,
        })
        .collect();
    ListedFile { file, code_objects }
}

fn listed_kernel(target: &str, kernel: KernelCode, wanted: &Wanted, sources: &Sources) -> Listed {
    let work_items = wanted.work_items(&kernel);
    let computed = match impossible_launch(&kernel, work_items) {
        Some(reason) => Err(reason),
        None => occupancy(target, &kernel, work_items, wanted.dynamic_lds_bytes).map_err(ToOwned::to_owned),
    };
    Listed {
        demangled: kernel.demangled().into_owned(),
        occupancy_unknown: computed.as_ref().err().cloned(),
        occupancy: computed.ok().map(|fits| Fits {
            work_items,
            waves_per_simd: fits.waves_per_simd,
            pct: fits.pct,
            limited_by: fits.limited_by.word(),
            saved_for_more: fits.next.map(|next| next.less),
            waves_per_simd_then: fits.next.map(|next| next.waves_per_simd),
        }),
        source: sources.places(&kernel.name),
        kernel,
    }
}
