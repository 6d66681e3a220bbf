//! Selects the code to run, and checks whether it can run.

use std::path::PathBuf;

use super::request::Request;
use super::target::refusal;
use super::worker::Stop;
use wavesieve_captures::captures::{Capture, Dispatch, read_file};
use wavesieve_source::objects::{
    CodeObject, KernelCode, code_objects, kernarg_difference, launch_refusal, lds_refusal,
};

const MOST_HSACO: u64 = 4 << 30;

/// The code object to load, with the resources that the launch adds to its kernel.
pub(super) struct Chosen {
    pub bytes: Vec<u8>,
    pub path: PathBuf,
    /// Whether it differs from the captured one.
    pub is_other: bool,
    /// LDS of the captured kernel itself, if known.
    pub captured_lds: Option<u32>,
    /// Whether scratch depends on the launch.
    pub uses_dynamic_stack: bool,
    /// The captured code object, to which the captured variables belong.
    pub captured: Vec<u8>,
}

impl Chosen {
    /// LDS of a workgroup, its dynamic part, and scratch, for a kernel with these sizes.
    pub(super) fn sizes(&self, dispatch: &Dispatch, group: u32, private: u32) -> [u32; 3] {
        let by_kernel = self.captured_lds.unwrap_or(if self.is_other { dispatch.group_segment_size } else { group });
        let dynamic = dispatch.group_segment_size.saturating_sub(by_kernel);
        let private = if self.is_other && !self.uses_dynamic_stack {
            private
        } else {
            private.max(dispatch.private_segment_size)
        };
        [group.saturating_add(dynamic), dynamic, private]
    }
}

/// Reads the code, and rejects code that cannot run in place of the captured code.
pub(super) fn choose(
    capture: &Capture,
    request: &Request,
    isas: &[String],
    notes: &mut Vec<String>,
) -> Result<Chosen, Stop> {
    let captured = capture.read_hsaco()?;
    let old = code_objects(&captured);
    let symbol = symbol_of(&capture.dispatch);
    let old_kernel = old.as_ref().ok().and_then(|objects| kernel_of(objects, &symbol));
    let captured_lds = capture.dispatch.kernel_group_segment_size.or(old_kernel.map(|kernel| kernel.lds_bytes as u32));
    let Some(path) = &request.hsaco else {
        let target = match &old {
            Ok(objects) => objects.first().map(|object| object.target.clone()).unwrap_or_default(),
            Err(error) => {
                notes.push(format!("the captured code object cannot be checked: {error}"));
                capture.dispatch.isa_name.clone()
            }
        };
        if let Some(reason) = refusal(&target, isas) {
            return Err(Stop::unsupported(format!(
                "{} cannot run here: {reason}; replay it on such a GPU, or give code for this one with --hsaco",
                capture.hsaco().display()
            )));
        }
        if let Some(reason) = old.as_ref().ok().and_then(|objects| captured_refusal(&capture.dispatch, objects)) {
            return Err(Stop::failed(format!("{}: {reason}", capture.hsaco().display())));
        }
        let uses_dynamic_stack = old_kernel.is_some_and(|kernel| kernel.uses_dynamic_stack);
        let (bytes, path) = (captured.clone(), capture.hsaco());
        return Ok(Chosen { bytes, path, is_other: false, captured_lds, uses_dynamic_stack, captured });
    };
    let bytes = read_file(path, MOST_HSACO)?;
    let failed = |reason: String| Stop::failed(format!("{}: {reason}", path.display()));
    let new = code_objects(&bytes).map_err(|error| failed(error.to_string()))?;
    let object = match new.as_slice() {
        [object] if bytes.starts_with(b"\x7fELF") && object.bytes == bytes.len() as u64 => object,
        _ => {
            return Err(failed(
                "it is not a code object for one GPU; unbundle it with clang-offload-bundler, or build it with --no-gpu-bundle-output"
                    .to_owned(),
            ));
        }
    };
    if let Some(reason) = refusal(&object.target, isas) {
        return Err(Stop::unsupported(format!("{} cannot run here: {reason}; build it for this GPU", path.display())));
    }
    let new_kernel = kernel_of(&new, &symbol).ok_or_else(|| {
        let names: Vec<_> = object.kernels.iter().map(KernelCode::demangled).take(5).collect();
        failed(format!("there is no kernel {} in it; it has {}", capture.dispatch.shown_name(), names.join(", ")))
    })?;
    match (old_kernel, &old) {
        (Some(old_kernel), _) => {
            if let Some(difference) = kernarg_difference(old_kernel, new_kernel) {
                return Err(failed(format!("the kernel cannot take the place of the captured one: {difference}")));
            }
        }
        (None, Ok(_)) => return Err(Stop::failed(format!("{} has no kernel {symbol}", capture.hsaco().display()))),
        (None, Err(error)) => {
            let captured = capture.hsaco();
            return Err(failed(format!("its interface cannot be compared with {}: {error}", captured.display())));
        }
    }
    if let Some(reason) = launch_refusal(new_kernel, capture.dispatch.block) {
        return Err(failed(format!("the kernel cannot be launched as it was captured: {reason}")));
    }
    let uses_dynamic_stack = new_kernel.uses_dynamic_stack;
    let (target, own_lds) = (object.target.clone(), u32::try_from(new_kernel.lds_bytes).unwrap_or(u32::MAX));
    let chosen = Chosen { path: path.clone(), is_other: true, captured_lds, uses_dynamic_stack, captured, bytes };
    let [lds, ..] = chosen.sizes(&capture.dispatch, own_lds, 0);
    match lds_refusal(&target, lds.into()) {
        Some(reason) => Err(failed(format!("the kernel cannot be launched as it was captured: {reason}"))),
        None => Ok(chosen),
    }
}

/// The symbol of a dispatch's kernel in code objects.
pub(super) fn symbol_of(dispatch: &Dispatch) -> String {
    format!("{}.kd", dispatch.kernel())
}

/// Why the captured code does not allow its own captured launch; `None` if it does.
pub(super) fn captured_refusal(dispatch: &Dispatch, objects: &[CodeObject]) -> Option<String> {
    let symbol = symbol_of(dispatch);
    let kernels = || objects.iter().flat_map(|object| object.kernels.iter().map(move |kernel| (object, kernel)));
    let Some((object, kernel)) = kernels().find(|(_, kernel)| kernel.symbol == symbol) else {
        return Some(format!("there is no kernel {symbol} in the captured code"));
    };
    let refusal = launch_refusal(kernel, dispatch.block)
        .or_else(|| lds_refusal(&object.target, u64::from(dispatch.group_segment_size)));
    refusal.map(|reason| format!("the captured code does not allow the captured launch: {reason}"))
}

fn kernel_of<'a>(objects: &'a [CodeObject], symbol: &str) -> Option<&'a KernelCode> {
    objects.iter().flat_map(|object| &object.kernels).find(|kernel| kernel.symbol == symbol)
}
