//! Packets on their way to the GPU. A wanted dispatch waits until all queues are idle and it is written.
//!
//! Runtimes up to ROCm 6 hand over one packet at a time, and let a handler write only once. Later runtimes hand over several packets, and
//! let it write any number of times. So a barrier, which shows when a queue is idle, follows the packets of every call in the same write.
//! Only calls with several packets write several times.

use std::cell::Cell;
use std::ffi::c_void;
use std::time::{Duration, Instant};

use wavesieve_captures::hsa::*;

use crate::events::Event;
use crate::guard::caught;
use crate::kernels::Counted;
use crate::recorder::{Recorder, recorder};
use crate::snapshot;

/// Time between checks whether queues are idle.
const LOOK_EVERY: Duration = Duration::from_micros(100);

thread_local! {
    static IS_CAPTURING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread writes a capture. Runtime calls for the capture must not wait for its end.
pub(crate) fn is_capturing() -> bool {
    IS_CAPTURING.get()
}

#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Packet([u8; 64]);

/// Handles packets that the runtime hands over, and passes them on.
pub(crate) unsafe extern "C" fn handle(
    packets: *const c_void,
    count: u64,
    _first: u64,
    queue: *mut c_void,
    writer: PacketWriter,
) {
    let written = Cell::new(0);
    caught((), || {
        if let Some(recorder) = recorder() {
            // SAFETY: the runtime passes as many packets as it states.
            unsafe { look(recorder, packets, count, queue as u64, writer, &written) };
        }
    });
    let rest = count.saturating_sub(written.get());
    if rest > 0 {
        // The program continues after any failure.
        // SAFETY: these are packets of the runtime that were not written yet.
        unsafe { writer(packets.cast::<Packet>().wrapping_add(written.get() as usize).cast(), rest) };
    }
}

/// Captures the wanted dispatches among packets, and writes the packets.
///
/// # Safety
/// `packets` points to `count` packets.
unsafe fn look(
    recorder: &Recorder,
    packets: *const c_void,
    count: u64,
    queue: u64,
    writer: PacketWriter,
    written: &Cell<u64>,
) {
    for index in 0..count {
        // SAFETY: the packet is one of those that were given.
        let packet = unsafe { packets.cast::<KernelDispatchPacket>().add(index as usize).read_unaligned() };
        if packet_kind(packet.header) != PACKET_KERNEL_DISPATCH {
            continue;
        }
        let Some(counted) = count_dispatch(recorder, &packet) else { continue };
        if written.get() < index {
            // SAFETY: these packets were not written yet.
            unsafe { write(recorder, packets, written, index, queue, writer, true) };
        }
        capture(recorder, &packet, &counted);
    }
    // Packets are passed on only while no capture is being written.
    let _quiet = recorder.quiet.read();
    let is_armed = recorder.kernels.lock().are_waited_for(recorder.settings.limit);
    // SAFETY: these packets were not written yet.
    unsafe { write(recorder, packets, written, count, queue, writer, is_armed) };
}

/// Writes packets up to `end`, with a barrier behind them, if more captures are allowed.
///
/// # Safety
/// `packets` points to at least `end` packets.
unsafe fn write(
    recorder: &Recorder,
    packets: *const c_void,
    written: &Cell<u64>,
    end: u64,
    queue: u64,
    writer: PacketWriter,
    is_armed: bool,
) {
    let begin = written.get();
    let signal = recorder.queues.lock().get(&queue).copied();
    let (Some(signal), Some(add), true) = (signal, recorder.originals.hsa_signal_add_relaxed, is_armed) else { return };
    let own = packets.cast::<Packet>().wrapping_add(begin as usize);
    // SAFETY: these packets are among those that were given.
    let mut all: Vec<Packet> =
        (begin..end).map(|at| unsafe { own.add((at - begin) as usize).read_unaligned() }).collect();
    // SAFETY: both types have the same size and alignment.
    all.push(unsafe { std::mem::transmute::<BarrierPacket, Packet>(BarrierPacket::after_all(signal)) });
    written.set(end);
    // SAFETY: the signal belongs to the queue; the packets live until the call returns.
    unsafe {
        add(signal, 1);
        writer(all.as_ptr().cast(), all.len() as u64);
    }
}

/// Counts a dispatch. Returns it if it must be captured.
fn count_dispatch(recorder: &Recorder, packet: &KernelDispatchPacket) -> Option<Counted> {
    let settings = &recorder.settings;
    let mut kernels = recorder.kernels.lock();
    let Some(counted) = kernels.count(packet.kernel_object, &settings.kernel) else {
        if kernels.is_new_stranger(packet.kernel_object) {
            let reason = format!("the kernel at {:#x} is not known; its code came by an old way", packet.kernel_object);
            recorder.events.add(Event::Note { reason });
        }
        return None;
    };
    if counted.index == 0 {
        recorder.events.add(Event::Kernel {
            name: counted.shown_name().to_owned(),
            symbol: counted.kernel.symbol.clone(),
            is_wanted: counted.is_wanted,
        });
    }
    let is_wanted = counted.is_wanted && settings.indices.contains(counted.index);
    if !is_wanted || kernels.take_capture(settings.limit) {
        return is_wanted.then_some(counted);
    }
    if kernels.cut_off(&counted.kernel.symbol) {
        recorder.events.add(Event::LimitReached {
            name: counted.shown_name().to_owned(),
            dispatch_index: counted.index,
            limit: settings.limit,
        });
    }
    None
}

fn capture(recorder: &Recorder, packet: &KernelDispatchPacket, counted: &Counted) {
    let begin = Instant::now();
    // First wait without blocking other threads, whose work may be needed. Then wait again, when no other work can start.
    wait_for_idle(recorder, recorder.settings.patience);
    let _quiet = recorder.quiet.write();
    let is_quiescent = wait_for_idle(recorder, Duration::from_secs(1));
    let name = counted.shown_name().to_owned();
    IS_CAPTURING.set(true);
    let written = caught(Err("the library panicked".to_owned()), || snapshot::write(recorder, packet, counted));
    IS_CAPTURING.set(false);
    recorder.kernels.lock().end_capture();
    let event = match written {
        Ok(written) => Event::Captured {
            name,
            directory: written.directory,
            dispatch_index: counted.index,
            regions: written.regions,
            failed_regions: written.failed_regions,
            bytes: written.bytes,
            stored_bytes: written.stored_bytes,
            seconds: begin.elapsed().as_secs_f64(),
            is_quiescent,
            reason: written.reason,
        },
        Err(reason) => Event::Failed { name, dispatch_index: counted.index, reason },
    };
    recorder.events.add(event);
}

/// Waits until no packet of any queue is left. Returns whether this happened in time.
fn wait_for_idle(recorder: &Recorder, patience: Duration) -> bool {
    let Some(load) = recorder.originals.hsa_signal_load_scacquire else { return false };
    let begin = Instant::now();
    loop {
        // The lock is held, so that no signal is destroyed meanwhile.
        // SAFETY: signals live until their queues are removed.
        let is_idle = recorder.queues.lock().values().all(|signal| unsafe { load(*signal) } <= 0);
        if is_idle || begin.elapsed() >= patience {
            return is_idle;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
