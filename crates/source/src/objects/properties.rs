//! Properties that the reader of code objects guarantees for any bytes.

use super::demangled;
use super::guard::{launch_refusal, occupancy, static_facts};
use super::interface::{interface_difference, kernarg_difference, launch_difference};
use super::reader::code_objects;

/// Reading ends and is repeatable for any bytes. Kernels that are read can be compared and checked without a panic, and
/// a kernel does not differ from itself.
#[allow(unreachable_pub)]
pub fn code_object(bytes: &[u8]) {
    let Ok(objects) = code_objects(bytes) else { return };
    assert_eq!(Ok(&objects), code_objects(bytes).as_ref().map_err(ToString::to_string));
    assert!(!objects.is_empty());
    for object in &objects {
        for kernel in &object.kernels {
            assert!(!kernel.demangled().is_empty() || kernel.name.is_empty());
            assert_eq!(interface_difference(kernel, kernel), None);
            assert_eq!(kernarg_difference(kernel, kernel), None);
            assert_eq!(launch_difference(kernel, kernel), None);
            let facts = static_facts(&object.target, kernel, kernel, kernel.max_work_items, 0);
            assert!(facts.iter().all(|fact| !fact.is_worse()), "{facts:?}");
            if let Ok(fits) = occupancy(&object.target, kernel, kernel.max_work_items, 0) {
                assert!(fits.waves_per_simd > 0.0 && fits.pct <= 100.0, "{fits:?}");
            }
            if kernel.required_work_items.is_none() {
                assert_eq!(launch_refusal(kernel, [kernel.max_work_items, 1, 1]), None);
            }
        }
        for (one, next) in object.kernels.iter().zip(object.kernels.iter().skip(1)) {
            assert_eq!(interface_difference(one, next).is_none(), interface_difference(next, one).is_none());
        }
    }
}

/// Demangling ends, with or without a result.
pub fn mangled_names(bytes: &[u8]) {
    let name = String::from_utf8_lossy(bytes);
    if let Some(plain) = demangled(&name) {
        assert!(name.starts_with("_Z") && !plain.is_empty());
        assert_eq!(demangled(&name), Some(plain));
    }
}
