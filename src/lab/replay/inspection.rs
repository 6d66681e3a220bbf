//! What a capture holds, without a GPU.

use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::text::shown_bytes;
use crate::lab::captures::{Capture, CaptureError, Check, Dispatch, StoredBlob, restore_by};
use crate::source::objects::{KernelCode, code_objects};

/// A capture that was read whole.
#[derive(Debug, Serialize)]
pub(crate) struct Inspection {
    pub capture: PathBuf,
    /// Why it cannot be replayed anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

/// What is in it.
#[derive(Debug, Serialize)]
pub(crate) struct Content {
    /// What wrote it.
    pub origin: &'static str,
    pub dispatch: Dispatch,
    /// The target of its code object, and what that states about the kernel; nothing if it cannot be read.
    pub target: Option<String>,
    pub kernel: Option<KernelCode>,
    pub regions: Vec<InspectedRegion>,
    pub bytes: u64,
    pub variables: Vec<String>,
}

/// A region.
#[derive(Debug, Serialize)]
pub(crate) struct InspectedRegion {
    pub base: u64,
    pub size: u64,
    /// The file of its bytes.
    pub file: String,
    /// Bytes of the file that are used.
    pub stored: u64,
    /// Why it has no bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Reads all files of a capture and compares their hashes.
pub(crate) fn inspect(directory: &Path, threads: usize) -> Inspection {
    let (error, content) = match read(directory, threads) {
        Ok(content) => (None, Some(content)),
        Err(error) => (Some(error.to_string()), None),
    };
    Inspection { capture: directory.to_owned(), error, content }
}

fn read(directory: &Path, threads: usize) -> Result<Content, CaptureError> {
    let capture = Capture::read(directory)?;
    let hsaco = capture.read_hsaco()?;
    for variable in &capture.variables {
        capture.read_variable(variable)?;
    }
    let symbol = format!("{}.kd", capture.dispatch.kernel());
    let object = code_objects(&hsaco).ok().and_then(|objects| objects.into_iter().next());
    let target = object.as_ref().map(|object| object.target.clone());
    let kernel = object.and_then(|object| object.kernels.into_iter().find(|kernel| kernel.symbol == symbol));
    let mut regions = Vec::new();
    let mut blobs = Vec::new();
    for region in &capture.regions.regions {
        let stored = match (&region.error, &region.blob) {
            (Some(_), _) => 0,
            (None, Some(blob)) => blob.chunks.iter().map(|chunk| chunk.0).sum(),
            (None, None) => region.size,
        };
        if region.error.is_none() {
            blobs.push(capture.open_region(region)?);
        }
        let (base, size, file) = (region.base, region.size, region.file());
        regions.push(InspectedRegion { base, size, file, stored, error: region.error.clone() });
    }
    let all: Vec<&StoredBlob> = blobs.iter().collect();
    restore_by(&all, Check::Hashes, threads, &|_, _, _| Ok(()))?;
    Ok(Content {
        origin: capture.origin.name(),
        target,
        kernel,
        bytes: regions.iter().map(|region| region.size).sum(),
        regions,
        variables: capture.variables.iter().map(|variable| variable.name.clone()).collect(),
        dispatch: capture.dispatch,
    })
}

/// An inspection, in lines.
pub(crate) fn text_of_inspection(inspection: &Inspection) -> String {
    let mut text = String::new();
    // Writing into a text cannot fail.
    let _ = write_inspection(inspection, &mut text);
    text
}

fn write_inspection(inspection: &Inspection, text: &mut String) -> fmt::Result {
    let shown = inspection.capture.display();
    let Some(content) = &inspection.content else {
        return writeln!(text, "{shown}\n  failed: {}", inspection.error.as_deref().unwrap_or_default());
    };
    let dispatch = &content.dispatch;
    writeln!(text, "{} of {shown}, by {}", dispatch.shown_name(), content.origin)?;
    let target = content.target.as_deref().unwrap_or(&dispatch.isa_name);
    writeln!(text, "  code          {target}, dispatch {}", dispatch.dispatch_index)?;
    let [grid, block] = [dispatch.grid, dispatch.block].map(|[x, y, z]| format!("{x}x{y}x{z}"));
    let lds = dispatch.group_segment_size;
    writeln!(
        text,
        "  launch        {grid} work-items in groups of {block}, {lds} B LDS, {} B arguments",
        dispatch.kernarg_size
    )?;
    let stored: u64 = content.regions.iter().map(|region| region.stored).sum();
    let (bytes, stored) = (shown_bytes(content.bytes), shown_bytes(stored));
    writeln!(text, "  memory        {} regions, {bytes}, stored in {stored}", content.regions.len())?;
    for region in &content.regions {
        write!(text, "    {:#014x}  {:>10}  {}", region.base, shown_bytes(region.size), region.file)?;
        match &region.error {
            Some(error) => writeln!(text, "  not captured: {error}")?,
            None => writeln!(text)?,
        }
    }
    if !content.variables.is_empty() {
        writeln!(text, "  variables     {}", content.variables.join(", "))?;
    }
    Ok(())
}
