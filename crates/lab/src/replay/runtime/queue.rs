//! Launches a kernel and waits for it.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use super::agents::Gpu;
use super::code::KernelSymbol;
use super::error::RuntimeError;
use super::library::Hsa;
use super::memory::{Memory, allocate_kernarg};
use wavesieve_captures::hsa::{self, *};

const SIZE: u32 = 128;
/// Checks per second whether the queue reported an error.
const LOOKS: u64 = 10;

/// The error of this process's queue.
static REPORTED: AtomicU32 = AtomicU32::new(SUCCESS);

unsafe extern "C" fn report(status: Status, _queue: *mut hsa::Queue, _data: *mut c_void) {
    REPORTED.store(status, Ordering::Relaxed);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Launch {
    pub kernel: KernelSymbol,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// LDS of a workgroup, including the dynamic part.
    pub group: u32,
    pub private: u32,
}

/// A queue of a GPU, with the arguments of its only kernel.
pub(in super::super) struct Queue<'a> {
    hsa: &'a Hsa,
    agent: Agent,
    queue: *mut hsa::Queue,
    signal: Signal,
    kernarg: *mut c_void,
    launch: Launch,
    ticks_per_second: u64,
}

impl<'a> Queue<'a> {
    /// Creates a queue that measures its dispatches.
    pub(in super::super) fn new(hsa: &'a Hsa, gpu: &Gpu, launch: Launch, kernarg: &[u8]) -> Result<Self, RuntimeError> {
        let calls = &hsa.calls;
        let kernarg = allocate_kernarg(hsa, gpu, kernarg, launch.kernel.kernarg as usize)?;
        let mut queue: *mut hsa::Queue = std::ptr::null_mut();
        let (nothing, by_runtime) = (std::ptr::null_mut(), u32::MAX);
        let create = calls.hsa_queue_create;
        // SAFETY: there is room for the address, and the callback takes no data.
        let status = unsafe {
            create(gpu.agent, SIZE, QUEUE_SINGLE, Some(report), nothing, by_runtime, by_runtime, &raw mut queue)
        };
        hsa.check("hsa_queue_create", status)?;
        // SAFETY: the queue was just made.
        let status = unsafe { (calls.hsa_amd_profiling_set_profiler_enabled)(queue, 1) };
        hsa.check("hsa_amd_profiling_set_profiler_enabled", status)?;
        let mut signal = Signal::default();
        // SAFETY: no consumers are named, and there is room for the handle.
        let status = unsafe { (calls.hsa_signal_create)(1, 0, std::ptr::null(), &raw mut signal) };
        hsa.check("hsa_signal_create", status)?;
        let ticks_per_second = hsa.ticks_per_second();
        Ok(Self { hsa, agent: gpu.agent, queue, signal, kernarg, launch, ticks_per_second })
    }

    /// Runs the kernel once; returns its time in microseconds. The memory is borrowed so that no other code accesses it
    /// meanwhile.
    pub(in super::super) fn dispatch(&mut self, _memory: &mut Memory<'_>) -> Result<f64, RuntimeError> {
        let calls = &self.hsa.calls;
        // SAFETY: the signal belongs to this runtime.
        unsafe { (calls.hsa_signal_store_screlease)(self.signal, 1) };
        // SAFETY: the queue belongs to this runtime; it holds one packet at a time, so there is room.
        let index = unsafe { (calls.hsa_queue_add_write_index_screlease)(self.queue, 1) };
        // SAFETY: the queue belongs to this runtime, which uses this layout.
        let visible = unsafe { *self.queue };
        let number = usize::try_from(index & u64::from(visible.size.saturating_sub(1))).unwrap_or_default();
        let slot = visible.base_address.cast::<KernelDispatchPacket>().wrapping_add(number);
        let header = u32::from(packet_header(PACKET_KERNEL_DISPATCH, true)) | 3 << 16;
        // SAFETY: the slot is within the ring of the queue and belongs to this packet. The header is written last and
        // at once: the GPU takes the packet as soon as it is valid.
        unsafe {
            slot.write(self.packet());
            AtomicU32::from_ptr(slot.cast()).store(header, Ordering::Release);
        }
        let doorbell = i64::try_from(index).unwrap_or_default();
        // SAFETY: the doorbell is a signal of this runtime.
        unsafe { (calls.hsa_signal_store_screlease)(visible.doorbell_signal, doorbell) };
        self.wait()?;
        self.microseconds()
    }

    fn packet(&self) -> KernelDispatchPacket {
        let [block_x, block_y, block_z] = self.launch.block.map(|size| u16::try_from(size).unwrap_or(u16::MAX));
        let [grid_x, grid_y, grid_z] = self.launch.grid;
        KernelDispatchPacket {
            header: PACKET_INVALID,
            setup: 3,
            workgroup_size_x: block_x,
            workgroup_size_y: block_y,
            workgroup_size_z: block_z,
            reserved0: 0,
            grid_size_x: grid_x,
            grid_size_y: grid_y,
            grid_size_z: grid_z,
            private_segment_size: self.launch.private,
            group_segment_size: self.launch.group,
            kernel_object: self.launch.kernel.object,
            kernarg_address: self.kernarg,
            reserved2: 0,
            completion_signal: self.signal,
        }
    }

    /// Waits without a limit while the queue works: the process that started this one limits its time.
    fn wait(&self) -> Result<(), RuntimeError> {
        let ticks = self.ticks_per_second / LOOKS;
        loop {
            let wait = self.hsa.calls.hsa_signal_wait_scacquire;
            // SAFETY: the signal belongs to this runtime.
            if unsafe { wait(self.signal, CONDITION_LT, 1, ticks, WAIT_BLOCKED) } < 1 {
                return Ok(());
            }
            let reported = REPORTED.load(Ordering::Relaxed);
            if reported != SUCCESS {
                return Err(RuntimeError::Queue(self.hsa.status_name(reported)));
            }
        }
    }

    fn microseconds(&self) -> Result<f64, RuntimeError> {
        let mut time = DispatchTime::default();
        let get = self.hsa.calls.hsa_amd_profiling_get_dispatch_time;
        // SAFETY: the signal belongs to the dispatch, and there is room for both times.
        let status = unsafe { get(self.agent, self.signal, &raw mut time) };
        self.hsa.check("hsa_amd_profiling_get_dispatch_time", status)?;
        Ok(time.end.saturating_sub(time.start) as f64 * 1e6 / self.ticks_per_second as f64)
    }

    pub(in super::super) fn destroy(self) {
        // SAFETY: the queue belongs to this runtime, is idle, and is not used afterwards.
        unsafe { (self.hsa.calls.hsa_queue_destroy)(self.queue) };
    }
}
