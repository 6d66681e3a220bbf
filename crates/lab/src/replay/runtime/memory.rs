//! Memory at its captured addresses.

use std::ffi::c_void;
use std::path::Path;

use super::agents::Gpu;
use super::error::RuntimeError;
use super::library::Hsa;
use wavesieve_captures::captures::{CaptureError, Check, Region, Span, StoredBlob, restore, restore_by};
use wavesieve_captures::hsa::*;

/// Addresses of this process that are kept free: the starting runtime places its own memory elsewhere.
pub(in super::super) struct HeldAddresses {
    ranges: Vec<(*mut c_void, usize)>,
}

impl HeldAddresses {
    /// Reserves the free pages of these spans.
    pub(in super::super) fn take(spans: &[Span]) -> Self {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        let mut ranges = Vec::new();
        for span in spans {
            let (Ok(address), Ok(bytes)) = (usize::try_from(span.base), usize::try_from(span.size)) else { continue };
            let place = std::ptr::without_provenance_mut(address);
            // SAFETY: no existing mapping is replaced, and the pages cannot be accessed.
            let got = unsafe { libc::mmap(place, bytes, libc::PROT_NONE, flags, -1, 0) };
            if got == libc::MAP_FAILED {
                continue;
            }
            ranges.push((got, bytes));
        }
        Self { ranges }
    }
}

impl Drop for HeldAddresses {
    fn drop(&mut self) {
        for (place, bytes) in &self.ranges {
            // SAFETY: the pages were mapped here, and are empty.
            unsafe { libc::munmap(*place, *bytes) };
        }
    }
}

/// The addresses that the runtime reserved for a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Reserved {
    Exact,
    Elsewhere(u64),
    Failed(String),
}

/// Reserved addresses, and memory at them.
pub(in super::super) struct Memory<'a> {
    hsa: &'a Hsa,
    /// Base and size of each reserved span.
    spans: Vec<(u64, u64)>,
    /// Base and size of each region.
    regions: Vec<(u64, u64)>,
    /// Whether this process can access the memory.
    is_direct: bool,
}

impl<'a> Memory<'a> {
    /// Reserves the address of each span; memory at any other address is freed.
    pub(in super::super) fn reserve(hsa: &'a Hsa, spans: &[Span], regions: &[Region]) -> (Self, Vec<Reserved>) {
        let mut memory = Self {
            hsa,
            spans: Vec::new(),
            regions: regions.iter().map(|region| (region.base, region.size)).collect(),
            is_direct: false,
        };
        let states = spans.iter().map(|span| {
            let bytes = usize::try_from(span.size).unwrap_or(usize::MAX);
            let mut got: *mut c_void = std::ptr::null_mut();
            // SAFETY: there is room for the address.
            let status = unsafe { (hsa.calls.hsa_amd_vmem_address_reserve)(&raw mut got, bytes, span.base, 0) };
            match got.addr() as u64 {
                _ if status != SUCCESS => Reserved::Failed(hsa.status_name(status)),
                address if address == span.base => {
                    memory.spans.push((span.base, span.size));
                    Reserved::Exact
                }
                address => {
                    // SAFETY: the range was just reserved, and is not in use.
                    unsafe { (hsa.calls.hsa_amd_vmem_address_free)(got, bytes) };
                    Reserved::Elsewhere(address)
                }
            }
        });
        let states = states.collect();
        (memory, states)
    }

    /// Frees the addresses; nothing may be mapped there.
    pub(in super::super) fn give_back(self) {
        for (base, size) in self.spans {
            // SAFETY: the range was reserved here.
            unsafe { (self.hsa.calls.hsa_amd_vmem_address_free)(at(base), usize::try_from(size).unwrap_or_default()) };
        }
    }

    /// Maps GPU memory at all reserved addresses.
    pub(in super::super) fn map(&mut self, gpu: &Gpu) -> Result<(), RuntimeError> {
        let calls = &self.hsa.calls;
        self.is_direct = true;
        for (base, size) in &self.spans {
            let (place, bytes) = (at(*base), usize::try_from(*size).unwrap_or(usize::MAX));
            let mut handle = VmemHandle::default();
            // SAFETY: there is room for the handle, and the pool belongs to the GPU.
            let status =
                unsafe { (calls.hsa_amd_vmem_handle_create)(gpu.pool, bytes, MEMORY_TYPE_NONE, 0, &raw mut handle) };
            self.hsa.check("hsa_amd_vmem_handle_create", status)?;
            // SAFETY: the range is reserved, and the handle has as many bytes.
            let status = unsafe { (calls.hsa_amd_vmem_map)(place, bytes, 0, handle, 0) };
            self.hsa.check("hsa_amd_vmem_map", status)?;
            let access = [gpu.agent, gpu.host].map(|agent| MemoryAccess { permissions: ACCESS_READ_WRITE, agent });
            // SAFETY: the range is mapped, and the count is that of the descriptions.
            let status = unsafe { (calls.hsa_amd_vmem_set_access)(place, bytes, access.as_ptr(), access.len()) };
            if status != SUCCESS {
                // The host cannot access all memory of GPUs.
                self.is_direct = false;
                // SAFETY: see above.
                let status = unsafe { (calls.hsa_amd_vmem_set_access)(place, bytes, access.as_ptr(), 1) };
                self.hsa.check("hsa_amd_vmem_set_access", status)?;
            }
        }
        Ok(())
    }

    pub(in super::super) fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Fills captured regions with their bytes, and the others with zeros.
    pub(in super::super) fn restore(
        &mut self,
        blobs: &[Option<StoredBlob>],
        check: Check,
        threads: usize,
    ) -> Result<(), CaptureError> {
        if self.is_direct {
            let mut targets = Vec::new();
            for (blob, bytes) in blobs.iter().zip(self.bytes()) {
                match blob {
                    Some(blob) => targets.push((blob, bytes)),
                    None => bytes.fill(0),
                }
            }
            return restore(targets, check, threads);
        }
        let zeros = vec![0; 1 << 20];
        let mut known = Vec::new();
        for (blob, (base, size)) in blobs.iter().zip(&self.regions) {
            match blob {
                Some(blob) => known.push((*base, blob)),
                None => {
                    let mut offset = 0;
                    while offset < *size {
                        let bytes = usize::try_from((*size - offset).min(1 << 20)).unwrap_or_default();
                        self.write(*base + offset, zeros.get(..bytes).unwrap_or_default())?;
                        offset += 1 << 20;
                    }
                }
            }
        }
        let (bases, known): (Vec<u64>, Vec<&StoredBlob>) = known.into_iter().unzip();
        let memory = &*self;
        restore_by(&known, check, threads, &|number, offset, bytes| {
            memory.write(bases.get(number).copied().unwrap_or_default() + offset, bytes)
        })
    }

    fn bytes(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.regions.iter().map(|(base, size)| {
            let bytes = usize::try_from(*size).unwrap_or_default();
            // SAFETY: the regions are within the spans, which are mapped for this process to read and write, and do not
            // overlap. No dispatch is running: each is awaited before this can be called again.
            unsafe { std::slice::from_raw_parts_mut(at(*base).cast::<u8>(), bytes) }
        })
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), CaptureError> {
        // SAFETY: the caller writes within a region, which is mapped for the GPU.
        let status = unsafe { (self.hsa.calls.hsa_memory_copy)(at(address), bytes.as_ptr().cast(), bytes.len()) };
        self.hsa.check("hsa_memory_copy", status).map_err(|error| of_region(address, &error))
    }

    pub(in super::super) fn read(&self, region: usize, offset: u64, target: &mut [u8]) -> Result<(), CaptureError> {
        let (base, size) = self.regions.get(region).copied().unwrap_or_default();
        if offset.checked_add(target.len() as u64).is_none_or(|end| end > size) {
            return Err(of_region(base, &RuntimeError::Lacking("so many bytes in the region")));
        }
        let place = at(base + offset);
        // SAFETY: the bytes are within a region, as checked above, and the target has the same size.
        let status = unsafe { (self.hsa.calls.hsa_memory_copy)(target.as_mut_ptr().cast(), place, target.len()) };
        self.hsa.check("hsa_memory_copy", status).map_err(|error| of_region(base, &error))
    }
}

pub(super) fn allocate_kernarg(
    hsa: &Hsa,
    gpu: &Gpu,
    kernarg: &[u8],
    bytes: usize,
) -> Result<*mut c_void, RuntimeError> {
    let bytes = bytes.max(kernarg.len()).max(16);
    let mut place: *mut c_void = std::ptr::null_mut();
    // SAFETY: there is room for the address.
    let status = unsafe { (hsa.calls.hsa_amd_memory_pool_allocate)(gpu.kernarg_pool, bytes, 0, &raw mut place) };
    hsa.check("hsa_amd_memory_pool_allocate", status)?;
    // SAFETY: there is one agent, and the address was just allocated.
    let status = unsafe { (hsa.calls.hsa_amd_agents_allow_access)(1, &raw const gpu.agent, std::ptr::null(), place) };
    hsa.check("hsa_amd_agents_allow_access", status)?;
    // SAFETY: the host can write memory for arguments, and there are enough bytes.
    unsafe {
        place.cast::<u8>().write_bytes(0, bytes);
        place.cast::<u8>().copy_from_nonoverlapping(kernarg.as_ptr(), kernarg.len());
    }
    Ok(place)
}

pub(super) fn at(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or_default())
}

fn of_region(address: u64, error: &RuntimeError) -> CaptureError {
    CaptureError::Memory { path: Path::new(&format!("memory at {address:#x}")).to_owned(), reason: error.to_string() }
}
