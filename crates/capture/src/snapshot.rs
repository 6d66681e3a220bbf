//! Writes a dispatch with its code and memory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wavesieve_captures::captures::{
    CaptureError, DISPATCH, Dispatch, FORMAT, FORMAT_VERSION, HSACO, Hash, KERNARG, MEMORY, METADATA, Metadata,
    REGIONS, Region, Regions, StoredFile, VARIABLES, Variable, Variables, variable_file, write_blob, write_file,
    write_json,
};
use wavesieve_captures::hsa::KernelDispatchPacket;

use crate::calls;
use crate::code::Module;
use crate::file_size::BlockedSignal;
use crate::kernels::Counted;
use crate::memory::{Origin, Tracked};
use crate::names::short_name;
use crate::reach::Reach;
use crate::recorder::Recorder;

/// Maximum plausible size of a region.
const MOST_REGION: u64 = 1 << 40;

pub(crate) struct Written {
    /// Name of its folder in the output.
    pub directory: String,
    pub regions: u64,
    /// Regions whose bytes could not be read.
    pub failed_regions: u64,
    /// Reason for the first of them.
    pub reason: Option<String>,
    pub bytes: u64,
    /// Stored bytes, without zeros.
    pub stored_bytes: u64,
}

/// Writes a dispatch that has not run. A failure leaves no files.
pub(crate) fn write(recorder: &Recorder, packet: &KernelDispatchPacket, counted: &Counted) -> Result<Written, String> {
    let _signal = BlockedSignal::of_file_size();
    let output = &recorder.settings.output;
    let name = format!("{}.{}", short_name(counted.shown_name()), counted.index);
    let unfinished = output.join(format!(".{name}.{}", std::process::id()));
    fs::create_dir_all(unfinished.join(MEMORY)).map_err(|error| format!("{}: {error}", unfinished.display()))?;
    let written = fill(recorder, packet, counted, &unfinished).and_then(|mut written| {
        let place = free_place(output, &name)?;
        fs::rename(&unfinished, &place).map_err(|error| format!("{}: {error}", place.display()))?;
        written.directory = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(written)
    });
    written.map_err(|reason| {
        let _ = fs::remove_dir_all(&unfinished);
        // The user does not know the folder by its temporary name.
        reason.replace(&unfinished.display().to_string(), &output.join(&name).display().to_string())
    })
}

/// A new folder: other processes, and kernels with the same short name, have their own.
fn free_place(output: &Path, name: &str) -> Result<PathBuf, String> {
    let pid = std::process::id();
    let mut places = std::iter::once(name.to_owned())
        .chain((0..1000).map(|number| match number {
            0 => format!("{name}.pid{pid}"),
            _ => format!("{name}.pid{pid}.{number}"),
        }))
        .map(|name| output.join(name));
    // Only one process can create the folder; renaming replaces an empty folder.
    places
        .find(|place| fs::create_dir(place).is_ok())
        .ok_or_else(|| format!("{}: no free name", output.join(name).display()))
}

fn fill(
    recorder: &Recorder,
    packet: &KernelDispatchPacket,
    counted: &Counted,
    directory: &Path,
) -> Result<Written, String> {
    let failed = |error: CaptureError| error.to_string();
    let originals = &recorder.originals;
    let kernel = &counted.kernel;
    let module = recorder.code.lock().modules.get(&kernel.executable).cloned().unwrap_or_default();
    let code = module.code_of(kernel.agent, &kernel.symbol).ok_or("the code object of the kernel is not known")?;

    let kernarg_address = packet.kernarg_address as u64;
    let mut kernarg = vec![0; kernel.kernarg_size as usize];
    if !kernarg.is_empty() {
        calls::copy_out(originals, kernarg_address, &mut kernarg)?;
    }
    write_file(&directory.join(KERNARG), &kernarg).map_err(failed)?;
    write_file(&directory.join(HSACO), &code.bytes).map_err(failed)?;

    let ranges = recorder.memory.lock().all();
    let reach = Reach::new(&ranges);
    if recorder.settings.reachable_only {
        reach.scan(0, &kernarg);
    } else {
        reach.find_all();
    }
    write_variables(recorder, &module, counted, &code.bytes, directory, &reach)?;
    let regions = write_regions(recorder, &ranges, &reach, kernarg_address, directory);

    let written = Written {
        directory: String::new(),
        regions: regions.len() as u64,
        reason: regions.iter().find_map(|region| region.error.clone()),
        failed_regions: regions.iter().filter(|region| region.error.is_some()).count() as u64,
        bytes: regions.iter().map(|region| region.size).sum(),
        stored_bytes: regions
            .iter()
            .flat_map(|region| &region.blob)
            .flat_map(|blob| &blob.chunks)
            .map(|chunk| chunk.0)
            .sum(),
    };
    write_json(&directory.join(REGIONS), &Regions { regions }).map_err(failed)?;
    let metadata = Metadata {
        format: FORMAT.to_owned(),
        format_version: FORMAT_VERSION,
        captured_by: format!("wavesieve {}", env!("CARGO_PKG_VERSION")),
        pid: Some(std::process::id()),
        reachable_only: recorder.settings.reachable_only,
        kernarg: Some(StoredFile::from_bytes(&kernarg)),
        hsaco: Some(StoredFile::from_bytes(&code.bytes)),
        ..Metadata::default()
    };
    write_json(&directory.join(METADATA), &metadata).map_err(failed)?;
    write_json(&directory.join(DISPATCH), &dispatch(recorder, packet, counted)).map_err(failed)?;
    Ok(written)
}

fn dispatch(recorder: &Recorder, packet: &KernelDispatchPacket, counted: &Counted) -> Dispatch {
    let originals = &recorder.originals;
    let kernel = &counted.kernel;
    // Sizes of dimensions that the launch does not have are meaningless.
    let dimensions = usize::from(packet.setup & 3).max(1);
    let sized = |sizes: [u32; 3]| {
        let mut number = 0;
        sizes.map(|size| {
            number += 1;
            if number <= dimensions { size.max(1) } else { 1 }
        })
    };
    Dispatch {
        mangled_name: kernel.symbol.clone(),
        demangled_name: counted.shown_name().to_owned(),
        agent_name: calls::agent_name(originals, kernel.agent),
        isa_name: calls::isa_name(originals, kernel.agent),
        wavefront_size: calls::wavefront_size(originals, kernel.agent),
        kernel_object: packet.kernel_object,
        grid: sized([packet.grid_size_x, packet.grid_size_y, packet.grid_size_z]),
        block: sized([packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z].map(u32::from)),
        group_segment_size: packet.group_segment_size,
        private_segment_size: packet.private_segment_size,
        kernarg_size: u64::from(kernel.kernarg_size),
        dispatch_index: counted.index,
        kernel_group_segment_size: Some(kernel.group_size),
        kernarg_address: Some(packet.kernarg_address as u64),
    }
}

/// Writes the variables of the kernel's executable. Memory that they point to is reachable.
fn write_variables(
    recorder: &Recorder,
    module: &Module,
    counted: &Counted,
    code: &[u8],
    directory: &Path,
    reach: &Reach,
) -> Result<(), String> {
    let sha256: String = Sha256::digest(code).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut variables = Vec::new();
    let own = module.variables.iter().filter(|variable| variable.agent == counted.kernel.agent && variable.size > 0);
    for (number, variable) in own.enumerate() {
        let mut bytes = vec![0; usize::try_from(variable.size).unwrap_or(0)];
        if calls::copy_out(&recorder.originals, variable.address, &mut bytes).is_err() {
            continue;
        }
        reach.scan(variable.address, &bytes);
        let blob = variable_file(&sha256, number, &variable.name);
        let path = directory.join(&blob);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| error.to_string());
        written.and_then(|()| write_file(&path, &bytes).map_err(|error| error.to_string()))?;
        variables.push(Variable {
            executable_sha256: sha256.clone(),
            name: variable.name.clone(),
            size: variable.size,
            blob,
            xxh3: Some(Hash::from_bytes(&bytes)),
            address: Some(variable.address),
        });
    }
    write_json(&directory.join(VARIABLES), &Variables { variables }).map_err(|error| error.to_string())
}

/// Writes the reached ranges, and notes ranges whose bytes cannot be read.
fn write_regions(
    recorder: &Recorder,
    ranges: &[Tracked],
    reach: &Reach,
    kernarg_address: u64,
    directory: &Path,
) -> Vec<Region> {
    let kernarg_range = reach.range_of(kernarg_address);
    let mut done = BTreeSet::new();
    let mut regions = Vec::new();
    while let Some(number) = reach.next(&done) {
        done.insert(number);
        let Some(range) = ranges.get(number) else { continue };
        regions.push(region(recorder, range, reach, kernarg_range == Some(number), directory));
    }
    regions.sort_by_key(|region| region.base);
    regions
}

fn region(recorder: &Recorder, range: &Tracked, reach: &Reach, contains_kernarg: bool, directory: &Path) -> Region {
    let (handle, access) = match range.origin {
        Origin::Pool(handle) | Origin::Region(handle) => (handle, 0),
        Origin::Virtual { handle, access } => (handle, u64::from(access)),
    };
    let mut region = Region {
        base: range.base,
        size: range.size,
        is_pool: matches!(range.origin, Origin::Pool(_)),
        is_vmem: matches!(range.origin, Origin::Virtual { .. }),
        contains_kernarg,
        handle,
        access,
        blob: None,
        error: None,
    };
    if range.size > MOST_REGION {
        region.error = Some("it is larger than 1 TiB".to_owned());
        return region;
    }
    let copy = |offset: u64, target: &mut [u8]| {
        let address = range.base + offset;
        calls::copy_out(&recorder.originals, address, target)?;
        if recorder.settings.reachable_only {
            reach.scan(address, target);
        }
        Ok(())
    };
    match write_blob(directory, range.base, range.size, recorder.settings.blobs, &copy) {
        Ok(blob) => region.blob = Some(blob),
        Err(CaptureError::Memory { reason, .. }) => region.error = Some(reason),
        Err(CaptureError::Io { error, .. }) => region.error = Some(format!("it cannot be written: {error}")),
        Err(error) => region.error = Some(error.to_string()),
    }
    region
}
