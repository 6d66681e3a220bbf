//! Compares regions in chunks, in parallel.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::result::{Comparison, Mismatch, RegionComparison, VariableComparison};
use super::tolerance::{Tolerance, Tolerances};
use super::variables::{FoundVariable, compare_variables};
use wavesieve_captures::captures::{Capture, CaptureError, Check, Region, StoredBlob, Variable, restore_by};

/// Maximum number of mismatches that are listed for a region.
const NAMED: usize = 8;
/// Bytes that are shown together if they have no type.
const WORD: usize = 4;

/// Copies bytes of a region of the replay, from an offset.
type ReadFound<'a> = dyn Fn(usize, u64, &mut [u8]) -> Result<(), CaptureError> + Sync + 'a;

pub(in super::super) struct Expected {
    directory: PathBuf,
    regions: Vec<Region>,
    blobs: Vec<Option<StoredBlob>>,
    pub(super) variables: Vec<(Variable, Vec<u8>)>,
}

impl Expected {
    /// Opens the files of a capture, or of saved memory.
    pub(in super::super) fn open(directory: &Path) -> Result<Self, CaptureError> {
        let regions = Capture::read_regions(directory)?.regions;
        let mut blobs = Vec::new();
        for region in &regions {
            // A region that could not be captured has no bytes to compare with.
            blobs.push(if region.error.is_some() { None } else { Some(StoredBlob::open(directory, region)?) });
        }
        let mut variables = Vec::new();
        for variable in Capture::read_variables(directory)? {
            let bytes = Capture::read_variable_of(directory, &variable)?;
            variables.push((variable, bytes));
        }
        Ok(Self { directory: directory.to_owned(), regions, blobs, variables })
    }
}

pub(in super::super) fn compare(
    expected: &Expected,
    found: &[Region],
    found_variables: &[FoundVariable],
    tolerances: &Tolerances,
    threads: usize,
    read: &ReadFound<'_>,
) -> Result<Comparison, CaptureError> {
    let mut not_compared = Vec::new();
    let mut pairs = Vec::new();
    for (region, blob) in expected.regions.iter().zip(&expected.blobs) {
        let place = found.binary_search_by_key(&region.base, |found| found.base).ok();
        let other = place.and_then(|place| found.get(place).map(|found| (place, found)));
        match (other, blob) {
            (None, _) => not_compared.push(format!("the region at {:#x} is not in the capture", region.base)),
            (_, None) => not_compared.push(format!("the region at {:#x} has no expected bytes", region.base)),
            (Some((_, other)), _) if other.size != region.size => not_compared.push(format!(
                "the region at {:#x} has {} bytes, and {} are expected",
                region.base, other.size, region.size
            )),
            (Some((place, _)), Some(blob)) => pairs.push((place, region, blob)),
        }
    }
    for region in found {
        if expected.regions.binary_search_by_key(&region.base, |expected| expected.base).is_err() {
            not_compared.push(format!("the region at {:#x} is not among what is expected", region.base));
        }
    }
    let variables = compare_variables(&expected.variables, found_variables, tolerances, &mut not_compared);
    let in_variable = |address: u64| {
        let of_variable = |variable: &VariableComparison| (variable.bytes.base, variable.bytes.size);
        variables.iter().map(of_variable).any(|(base, size)| address.checked_sub(base).is_some_and(|at| at < size))
    };
    let is_in = |address: u64| pairs.iter().any(|(_, region, _)| region.contains(address)) || in_variable(address);
    for address in tolerances.unmatched(is_in) {
        not_compared.push(format!("the tolerance for {address:#x} fits no region that is compared"));
    }
    let results: Vec<Mutex<RegionComparison>> = pairs
        .iter()
        .map(|(_, region, _)| {
            let tolerance = tolerances.of_region(region.base, region.size);
            Mutex::new(RegionComparison::new(region.base, region.size, tolerance))
        })
        .collect();
    let buffers: Mutex<Vec<Vec<u8>>> = Mutex::default();
    let blobs: Vec<&StoredBlob> = pairs.iter().map(|(_, _, blob)| *blob).collect();
    restore_by(&blobs, Check::Hashes, threads, &|number, offset, expected| {
        let mut buffer = buffers.lock().ok().and_then(|mut buffers| buffers.pop()).unwrap_or_default();
        buffer.resize(expected.len(), 0);
        let place = pairs.get(number).map(|(place, ..)| *place).unwrap_or_default();
        read(place, offset, &mut buffer)?;
        if expected != buffer.as_slice()
            && let Some(result) = results.get(number)
        {
            let tolerance = result.lock().ok().and_then(|result| result.tolerance);
            let chunk = Differences::find(expected, &buffer, offset, tolerance);
            if let Ok(mut result) = result.lock() {
                chunk.add_to(&mut result);
            }
        }
        if let Ok(mut buffers) = buffers.lock() {
            buffers.push(buffer);
        }
        Ok(())
    })?;
    let regions: Vec<RegionComparison> = results.into_iter().filter_map(|result| result.into_inner().ok()).collect();
    let all = regions.iter().chain(variables.iter().map(|variable| &variable.bytes));
    let equal = all.into_iter().all(|compared| compared.mismatched == 0);
    Ok(Comparison { expected: expected.directory.clone(), equal, regions, variables, not_compared })
}

#[derive(Default)]
pub(super) struct Differences {
    different: u64,
    mismatched: u64,
    max_absolute: Option<f64>,
    max_relative: Option<f64>,
    mismatches: Vec<Mismatch>,
}

impl Differences {
    pub(super) fn find(expected: &[u8], found: &[u8], begin: u64, tolerance: Option<Tolerance>) -> Self {
        let mut differences = Self::default();
        let step = tolerance.map_or(WORD, |tolerance| tolerance.element.bytes());
        let mut offset = begin;
        for (expected, found) in expected.chunks(step).zip(found.chunks(step)) {
            if expected != found {
                match tolerance.filter(|_| expected.len() == step) {
                    Some(tolerance) => differences.add_elements(expected, found, offset, &tolerance),
                    None => differences.add_bytes(expected, found, offset),
                }
            }
            offset += step as u64;
        }
        differences
    }

    fn add_elements(&mut self, expected: &[u8], found: &[u8], offset: u64, tolerance: &Tolerance) {
        self.different += 1;
        let (expected, found) = (tolerance.element.value(expected), tolerance.element.value(found));
        let absolute = expected.distance(found);
        let relative = absolute / expected.as_float().abs();
        self.max_absolute = larger(self.max_absolute, absolute);
        self.max_relative = larger(self.max_relative, relative);
        if !tolerance.allows(expected, found) {
            self.mismatched += 1;
            self.name(offset, || (expected.shown(), found.shown()));
        }
    }

    fn add_bytes(&mut self, expected: &[u8], found: &[u8], offset: u64) {
        let different = expected.iter().zip(found).filter(|(expected, found)| expected != found).count() as u64;
        self.different += different;
        self.mismatched += different;
        self.name(offset, || (hexadecimal(expected), hexadecimal(found)));
    }

    fn name(&mut self, offset: u64, values: impl FnOnce() -> (String, String)) {
        if self.mismatches.len() < NAMED {
            let (expected, found) = values();
            self.mismatches.push(Mismatch { offset, expected, found });
        }
    }

    pub(super) fn add_to(self, region: &mut RegionComparison) {
        region.different += self.different;
        region.mismatched += self.mismatched;
        for (all, own) in [(&mut region.max_absolute, self.max_absolute), (&mut region.max_relative, self.max_relative)]
        {
            if let Some(own) = own {
                *all = larger(*all, own);
            }
        }
        // Chunks finish in any order.
        region.mismatches.extend(self.mismatches);
        region.mismatches.sort_by_key(|mismatch| mismatch.offset);
        region.mismatches.truncate(NAMED);
    }
}

fn larger(known: Option<f64>, value: f64) -> Option<f64> {
    if !value.is_finite() {
        return known;
    }
    Some(known.map_or(value, |known| known.max(value)))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}
