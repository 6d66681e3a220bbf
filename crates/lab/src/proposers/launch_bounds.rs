//! `__launch_bounds__` with the workgroup size that the program launches with.

use super::code::{Code, edited};
use super::facts::KernelFacts;
use super::transform::{Refusal, Transformed};
use wavesieve_source::kernels::SourceKernel;

/// The workgroup bound that compilers assume by default.
const USUAL: u32 = 1024;

/// States the maximum number of work-items of a workgroup, so that the compiler may use more registers.
pub(super) fn apply(text: &str, kernel: &SourceKernel, facts: &KernelFacts) -> Result<Transformed, Refusal> {
    if let Some(bounds) = &kernel.launch_bounds {
        return Err(Refusal::new(format!("the kernel has __launch_bounds__({bounds})")));
    }
    let work_items = facts.work_items.ok_or_else(|| Refusal::new("the size of its workgroups is not known"))?;
    if work_items == 0 || work_items >= USUAL {
        return Err(Refusal::new(format!("workgroups of {work_items} are what the compiler assumes")));
    }
    let code = Code::new(text, &kernel.signature)?;
    let is_name = |place: &usize| code.at(*place) == kernel.name && matches!(code.at(place + 1), "(" | "<");
    let name = (0..code.len()).rev().find(is_name).ok_or_else(|| Refusal::new("the name is not in the signature"))?;
    let at = code.range(name).start;
    let text = edited(text, vec![(at..at, format!("__launch_bounds__({work_items}) "))])?;
    let reason = format!("states workgroups of at most {work_items} work-items; a larger launch would fail");
    Ok(Transformed { text, reason })
}
