//! Queues: packets are taken when the doorbell rings, go through the handlers of tools, and run in a thread of the queue.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use wavesieve_captures::hsa::*;

use crate::{agents, kernels, settings, signals, system};

const PACKET_BYTES: usize = 64;

/// A packet of any kind.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Packet([u8; PACKET_BYTES]);

impl Packet {
    fn header(&self) -> u16 {
        u16::from_le_bytes([self.0[0], self.0[1]])
    }
}

/// A queue; the part that programs see is first, so that both have one address.
#[repr(C)]
struct FakeQueue {
    visible: Queue,
    read: AtomicU64,
    write: AtomicU64,
    is_intercepted: bool,
    handlers: Mutex<Vec<(InterceptHandler, u64)>>,
    /// Packets are taken by one thread at a time.
    taking: Mutex<()>,
    packets: Mutex<Option<Sender<Packet>>>,
    worker: Mutex<Option<std::thread::JoinHandle<()>>>,
    _ring: Vec<Packet>,
}

thread_local! {
    /// The queue whose handler runs, and how many handlers are left to call.
    static CURSOR: RefCell<Option<(u64, usize, u64)>> = const { RefCell::new(None) };
}

fn of_address<'a>(queue: u64) -> &'a FakeQueue {
    // SAFETY: addresses of queues come from `new_queue`, and queues are never freed.
    unsafe { &*(queue as *const FakeQueue) }
}

fn new_queue(agent: Agent, size: u32, kind: u32, is_intercepted: bool, queue: *mut *mut Queue) -> Status {
    if agent != agents::GPU {
        return ERROR_INVALID_AGENT;
    }
    if !size.is_power_of_two() {
        return ERROR_INVALID_ARGUMENT;
    }
    let mut invalid = Packet([0; PACKET_BYTES]);
    invalid.0[0] = PACKET_INVALID as u8;
    let mut ring = vec![invalid; size as usize];
    let (sender, receiver) = channel::<Packet>();
    let worker = std::thread::spawn(move || receiver.iter().for_each(run));
    let visible = Queue {
        kind,
        features: QUEUE_FEATURE_KERNEL_DISPATCH,
        base_address: ring.as_mut_ptr().cast(),
        doorbell_signal: Signal::default(),
        size,
        reserved1: 0,
        id: 0,
    };
    let made = Box::into_raw(Box::new(FakeQueue {
        visible,
        read: AtomicU64::new(0),
        write: AtomicU64::new(0),
        is_intercepted,
        handlers: Mutex::new(Vec::new()),
        taking: Mutex::new(()),
        packets: Mutex::new(Some(sender)),
        worker: Mutex::new(Some(worker)),
        _ring: ring,
    }));
    // SAFETY: the queue was just made, and no other thread knows it; the caller gives room for its address.
    unsafe {
        (*made).visible.doorbell_signal = signals::new_signal(-1, made as u64);
        queue.write(made.cast());
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn create(
    agent: Agent,
    size: u32,
    kind: u32,
    _callback: Option<QueueCallback>,
    _data: *mut c_void,
    _private: u32,
    _group: u32,
    queue: *mut *mut Queue,
) -> Status {
    new_queue(agent, size, kind, false, queue)
}

pub(crate) unsafe extern "C" fn intercept_create(
    agent: Agent,
    size: u32,
    kind: u32,
    _callback: Option<QueueCallback>,
    _data: *mut c_void,
    _private: u32,
    _group: u32,
    queue: *mut *mut Queue,
) -> Status {
    new_queue(agent, size, kind, true, queue)
}

pub(crate) unsafe extern "C" fn intercept_register(
    queue: *mut Queue,
    handler: InterceptHandler,
    data: *mut c_void,
) -> Status {
    let queue = of_address(queue as u64);
    if !queue.is_intercepted {
        return ERROR_INVALID_QUEUE;
    }
    queue.handlers.lock().unwrap().push((handler, data as u64));
    SUCCESS
}

pub(crate) unsafe extern "C" fn destroy(queue: *mut Queue) -> Status {
    let queue = of_address(queue as u64);
    drop(queue.packets.lock().unwrap().take());
    if let Some(worker) = queue.worker.lock().unwrap().take() {
        let _ = worker.join();
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn set_profiling(_queue: *mut Queue, _enable: c_int) -> Status {
    SUCCESS
}

pub(crate) unsafe extern "C" fn load_read_index(queue: *const Queue) -> u64 {
    of_address(queue as u64).read.load(Ordering::SeqCst)
}

pub(crate) unsafe extern "C" fn load_write_index(queue: *const Queue) -> u64 {
    of_address(queue as u64).write.load(Ordering::SeqCst)
}

pub(crate) unsafe extern "C" fn store_write_index(queue: *const Queue, value: u64) {
    of_address(queue as u64).write.store(value, Ordering::SeqCst);
}

pub(crate) unsafe extern "C" fn add_write_index(queue: *const Queue, value: u64) -> u64 {
    of_address(queue as u64).write.fetch_add(value, Ordering::SeqCst)
}

/// The doorbell of a queue rang.
pub(crate) fn ring(address: u64) {
    let queue = of_address(address);
    let _taking = queue.taking.lock().unwrap();
    let first = queue.read.load(Ordering::SeqCst);
    let mut packets = Vec::new();
    while first + (packets.len() as u64) < queue.write.load(Ordering::SeqCst) {
        let index = (first + packets.len() as u64) & u64::from(queue.visible.size - 1);
        let place = queue.visible.base_address.cast::<Packet>().wrapping_add(index as usize);
        // SAFETY: the index is within the ring. Its owner wrote the header last, or it is still invalid.
        let packet = unsafe { place.read_volatile() };
        if packet_kind(packet.header()) == PACKET_INVALID {
            break;
        }
        packets.push(packet);
        // SAFETY: the packet was taken, and its place is free for the next.
        unsafe { place.cast::<u16>().write_volatile(PACKET_INVALID) };
    }
    if packets.is_empty() {
        return;
    }
    queue.read.fetch_add(packets.len() as u64, Ordering::SeqCst);
    let handlers = queue.handlers.lock().unwrap().len();
    let at_once = if is_old() { 1 } else { packets.len() };
    for (part, at) in packets.chunks(at_once).zip((first..).step_by(at_once)) {
        CURSOR.with_borrow_mut(|cursor| *cursor = Some((address, handlers, at)));
        // SAFETY: the packets are whole.
        unsafe { write_packets(part.as_ptr().cast(), part.len() as u64) };
    }
    CURSOR.with_borrow_mut(|cursor| *cursor = None);
}

/// Whether handlers get one packet at a time and may write once, as up to ROCm 6.
fn is_old() -> bool {
    settings::text("FAKE_HSA_OLD_QUEUES").is_some()
}

/// Hands packets to the next handler, and after the last to the thread of the queue.
unsafe extern "C" fn write_packets(packets: *const c_void, count: u64) {
    let Some((address, handlers, first)) = CURSOR.with_borrow(|cursor| *cursor) else { return };
    let queue = of_address(address);
    let next = handlers.checked_sub(1).and_then(|index| queue.handlers.lock().unwrap().get(index).copied());
    if let Some((handler, data)) = next {
        CURSOR.with_borrow_mut(|cursor| *cursor = Some((address, handlers - 1, first)));
        // SAFETY: the handler was registered for this queue; the packets are the caller's.
        unsafe { handler(packets, count, first, data as *mut c_void, write_packets) };
        if is_old() {
            return;
        }
        CURSOR.with_borrow_mut(|cursor| *cursor = Some((address, handlers, first)));
        return;
    }
    if is_old() && handlers == 0 {
        // Nothing is behind the last handler; a second write of a handler would have no place to go.
        CURSOR.with_borrow_mut(|cursor| *cursor = Some((address, usize::MAX, first)));
    } else if handlers == usize::MAX {
        eprintln!("fake hsa: a handler wrote twice");
        std::process::abort();
    }
    for index in 0..count as usize {
        // SAFETY: the caller gives as many packets as it says.
        let packet = unsafe { packets.cast::<Packet>().add(index).read_unaligned() };
        if let Some(sender) = queue.packets.lock().unwrap().as_ref() {
            let _ = sender.send(packet);
        }
    }
}

/// Runs a packet.
fn run(packet: Packet) {
    let start = system::ticks();
    match packet_kind(packet.header()) {
        PACKET_KERNEL_DISPATCH => {
            // SAFETY: a packet of this kind has this layout, and both have one size and alignment.
            let dispatch = unsafe { std::mem::transmute::<Packet, KernelDispatchPacket>(packet) };
            if let Some(delay) = settings::number("FAKE_HSA_DELAY_MS") {
                std::thread::sleep(Duration::from_millis(delay));
            }
            kernels::run(&dispatch);
            signals::complete(dispatch.completion_signal, start, system::ticks());
        }
        PACKET_BARRIER_AND => {
            // SAFETY: see above.
            let barrier = unsafe { std::mem::transmute::<Packet, BarrierPacket>(packet) };
            for signal in barrier.dep_signal.into_iter().filter(|signal| signal.handle != 0) {
                // SAFETY: the signal is the program's.
                unsafe { signals::wait(signal, CONDITION_EQ, 0, u64::MAX, WAIT_BLOCKED) };
            }
            signals::complete(barrier.completion_signal, start, system::ticks());
        }
        _ => {}
    }
}
