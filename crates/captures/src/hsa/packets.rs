//! Packets of a queue: 64 bytes each.

use std::ffi::c_void;

use super::constants::{FENCE_SCOPE_SYSTEM, PACKET_BARRIER_AND};
use super::types::Signal;

/// `hsa_kernel_dispatch_packet_t`.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct KernelDispatchPacket {
    pub header: u16,
    /// The number of dimensions.
    pub setup: u16,
    pub workgroup_size_x: u16,
    pub workgroup_size_y: u16,
    pub workgroup_size_z: u16,
    pub reserved0: u16,
    pub grid_size_x: u32,
    pub grid_size_y: u32,
    pub grid_size_z: u32,
    pub private_segment_size: u32,
    /// With the dynamic part of the launch.
    pub group_segment_size: u32,
    pub kernel_object: u64,
    pub kernarg_address: *mut c_void,
    pub reserved2: u64,
    pub completion_signal: Signal,
}

/// `hsa_barrier_and_packet_t`.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct BarrierPacket {
    pub header: u16,
    pub reserved0: u16,
    pub reserved1: u32,
    pub dep_signal: [Signal; 5],
    pub reserved2: u64,
    pub completion_signal: Signal,
}

impl BarrierPacket {
    /// A packet that completes when all packets before it have completed.
    #[must_use]
    pub fn after_all(completion_signal: Signal) -> Self {
        Self {
            header: packet_header(PACKET_BARRIER_AND, true),
            reserved0: 0,
            reserved1: 0,
            dep_signal: [Signal::default(); 5],
            reserved2: 0,
            completion_signal,
        }
    }
}

/// A header with the fences of the whole system.
#[must_use]
pub const fn packet_header(kind: u16, waits_for_packets_before: bool) -> u16 {
    kind | (waits_for_packets_before as u16) << 8 | FENCE_SCOPE_SYSTEM << 9 | FENCE_SCOPE_SYSTEM << 11
}

/// The type of a packet: one of `PACKET_…`.
#[must_use]
pub const fn packet_kind(header: u16) -> u16 {
    header & 0xff
}
