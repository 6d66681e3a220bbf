//! Inspects the content of a capture, without a GPU.

use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::kernel::{captured_refusal, symbol_of};
use super::text::{shown_bytes, shown_path};
use wavesieve_captures::captures::{Capture, CaptureError, Check, Dispatch, StoredBlob, restore_by};
use wavesieve_model::text::hidden::escape_hidden;
use wavesieve_source::objects::{KernelCode, code_objects};

/// A capture whose files were all read.
#[derive(Debug, Serialize)]
pub struct Inspection {
    pub capture: PathBuf,
    /// The reason why it cannot be replayed anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

#[derive(Debug, Serialize)]
pub struct Content {
    /// The program that wrote it.
    pub origin: &'static str,
    pub dispatch: Dispatch,
    /// The target of its code object, and the facts that it states about the kernel; `None` if it cannot be read.
    pub target: Option<String>,
    pub kernel: Option<KernelCode>,
    pub regions: Vec<InspectedRegion>,
    pub bytes: u64,
    pub variables: Vec<String>,
    /// Notes that do not prevent a replay.
    pub notes: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct InspectedRegion {
    pub base: u64,
    pub size: u64,
    pub file: String,
    /// Bytes that the file uses.
    pub stored: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Reads all files of a capture and compares their hashes.
pub fn inspect(directory: &Path, threads: usize) -> Inspection {
    let (error, content) = match read(directory, threads) {
        Ok((content, refusal)) => (refusal, Some(content)),
        Err(error) => (Some(error.to_string()), None),
    };
    Inspection { capture: directory.to_owned(), error, content }
}

impl Inspection {
    /// Returns whether some regions were not captured.
    pub fn is_incomplete(&self) -> bool {
        self.content.iter().flat_map(|content| &content.regions).any(|region| region.error.is_some())
    }
}

/// The content of a capture, and the reason why it cannot be replayed, if any.
fn read(directory: &Path, threads: usize) -> Result<(Content, Option<String>), CaptureError> {
    let capture = Capture::read(directory)?;
    let hsaco = capture.read_hsaco()?;
    for variable in &capture.variables {
        capture.read_variable(variable)?;
    }
    let symbol = symbol_of(&capture.dispatch);
    let mut notes: Vec<String> = capture.dispatch.contradiction().into_iter().collect();
    let objects = code_objects(&hsaco).unwrap_or_else(|error| {
        notes.push(format!("the captured code object cannot be checked: {error}"));
        Vec::new()
    });
    let refusal = (!objects.is_empty()).then(|| captured_refusal(&capture.dispatch, &objects)).flatten();
    let refusal = refusal.map(|reason| format!("{}: {reason}", capture.hsaco().display()));
    let object = objects.into_iter().next();
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
    let lost = regions.iter().filter(|region| region.error.is_some()).count();
    if lost > 0 {
        notes.push(format!("{lost} of {} regions were not captured: the capture is incomplete", regions.len()));
    }
    let content = Content {
        origin: capture.origin.name(),
        target,
        kernel,
        bytes: regions.iter().map(|region| region.size).sum(),
        regions,
        variables: capture.variables.iter().map(|variable| variable.name.clone()).collect(),
        notes,
        dispatch: capture.dispatch,
    };
    Ok((content, refusal))
}

/// An inspection as lines of text.
pub fn text_of_inspection(inspection: &Inspection) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_inspection(inspection, &mut text);
    text
}

fn write_inspection(inspection: &Inspection, text: &mut String) -> fmt::Result {
    let shown = shown_path(&inspection.capture);
    let error = inspection.error.as_deref().map(escape_hidden);
    let Some(content) = &inspection.content else {
        return writeln!(text, "{shown}\n  failed: {}", error.unwrap_or_default());
    };
    let dispatch = &content.dispatch;
    writeln!(text, "{} of {shown}, by {}", escape_hidden(&dispatch.shown_name()), content.origin)?;
    let target = escape_hidden(content.target.as_deref().unwrap_or(&dispatch.isa_name));
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
        write!(text, "    {:#014x}  {:>10}  {}", region.base, shown_bytes(region.size), escape_hidden(&region.file))?;
        match &region.error {
            Some(error) => writeln!(text, "  not captured: {}", escape_hidden(error))?,
            None => writeln!(text)?,
        }
    }
    if !content.variables.is_empty() {
        writeln!(text, "  variables     {}", escape_hidden(&content.variables.join(", ")))?;
    }
    content.notes.iter().try_for_each(|note| writeln!(text, "  note          {}", escape_hidden(note)))?;
    if let Some(error) = error {
        writeln!(text, "  failed: {error}")?;
    }
    Ok(())
}
